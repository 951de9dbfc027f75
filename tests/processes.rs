//! Runner processes.

mod confinement;
mod deaths;
mod leftovers;
