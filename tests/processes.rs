//! Runner processes.

mod compiling;
mod confinement;
mod deaths;
mod leftovers;
