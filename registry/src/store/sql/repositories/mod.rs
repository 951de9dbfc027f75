//! Statements about shared git repositories.

mod repository;
