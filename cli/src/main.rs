//! The one binary. `main` parses the command line, hands it to its command and turns the answer into an exit code.
//!
//! | part | what is in it |
//! |---|---|
//! | `arguments` | the command line, and the small values that several commands read from it |
//! | `commands` | one file per command |
//! | `client` | the HTTP client that every command and the demo use |
//! | `home` | what is kept in the user's configuration directory |
//! | `server` | the settings of `serve`, and the one function that assembles a server |
//! | `demo` | the guided walk, one function per step |
//! | `output` | tables, progress, results: everything that people read |
//! | `programs` | programs on this machine |
//! | `failure` | what can go wrong, its hint and its exit code |

mod arguments;
mod client;
mod commands;
mod demo;
mod failure;
mod home;
mod output;
mod programs;
mod server;

use std::process::ExitCode;

use clap::Parser;

use arguments::Arguments;

/// A call takes and gives back some hundred pieces of memory, many of them on another thread.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    failure::exit_code(commands::run(Arguments::parse()))
}
