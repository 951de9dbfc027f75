//! Everything that people read: lines, tables, progress, results. Colour only where the reader is a terminal and `NO_COLOR` is unset
//! (anstream strips it elsewhere). With `--json` stdout carries one JSON document and nothing else; progress and messages go to stderr.

mod build;
mod results;
mod screen;
mod table;
mod text;

pub use build::BuildDisplay;
pub use results::{RunDisplay, is_all_succeeded, show_results};
pub use screen::Screen;
pub use table::{read_all, table};
pub use text::{DIM, GREEN, RED, RESET, clipped, duration, printable, to_the_second};
