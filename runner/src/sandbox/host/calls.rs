//! Functions that tools import, by interface.

mod clocks;
mod content;
mod http;
mod interaction;
mod log;
mod poll;
mod random;
mod status;
mod tools;
