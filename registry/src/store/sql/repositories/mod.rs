//! Statements about shared git repositories.

mod handle;
mod repository;

pub use handle::Repositories;
