//! The `lathe` program. `main` parses the command line, runs the command and turns its outcome into an exit code.
//!
//! | module | contents |
//! |---|---|
//! | `arguments` | the command line |
//! | `commands` | one file per command |
//! | `dispatch` | runs the command of a command line |
//! | `backup` | the format of backups |
//! | `client` | the HTTP client of the commands and the demo |
//! | `home` | the user's configuration directory |
//! | `server` | settings and assembly of `lathe serve` and `lathe worker` |
//! | `demo` | `lathe demo`, one function per step |
//! | `output` | tables, progress and results |
//! | `private_file` | files that only their owner can read |
//! | `programs` | programs in `PATH` |
//! | `projects` | projects of tools, made from templates |
//! | `runtime` | Tokio runtimes and the TLS provider |
//! | `failure` | errors with their hints and exit codes |
//! | `error_report` | the report of an error |

#![forbid(unsafe_code)]

mod arguments;
mod backup;
mod client;
mod commands;
mod demo;
mod dispatch;
mod error_report;
mod failure;
mod home;
mod output;
mod private_file;
mod programs;
mod projects;
mod registries;
mod runtime;
mod server;
mod text_input;

use std::process::ExitCode;

use runner::WipingAllocator;
use tikv_jemallocator::Jemalloc;

use arguments::Arguments;
use error_report::ErrorReport;

/// jemalloc: a request makes some hundred allocations and frees many of them on another thread. Servers and runners
/// overwrite freed memory.
#[global_allocator]
static ALLOCATOR: WipingAllocator<Jemalloc> = WipingAllocator::over(Jemalloc);

fn main() -> ExitCode {
    if dispatch::complete_words() {
        return ExitCode::SUCCESS;
    }
    let arguments = match Arguments::read(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let report = ErrorReport { is_json: arguments.json, is_verbose: arguments.verbose };
    error_report::report_end(dispatch::run_command(arguments), report)
}
