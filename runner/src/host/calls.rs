//! Functions that tools import, by interface.

mod clocks;
mod http;
mod poll;
mod random;
mod status;
