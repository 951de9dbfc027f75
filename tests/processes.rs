//! The processes that run tools.

mod confinement;
mod deaths;
