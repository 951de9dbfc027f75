//! Output for users: lines, tables, progress, results.
//!
//! `anstream` removes colours if the output is not a terminal or `NO_COLOR` is set. With `--json`, stdout is one JSON
//! document; progress and messages go to stderr.

mod build;
mod progress;
mod results;
mod screen;
mod table;
mod text;

pub use build::BuildDisplay;
pub use progress::Spinner;
pub use results::{RunDisplay, is_all_succeeded, show_outcomes, show_results};
pub use screen::{Screen, print_bytes, print_verbatim};
pub use table::render_table;
pub use text::{DIM, GREEN, RED, RESET, clip, cut_to_second, escape_hidden, render_duration};
