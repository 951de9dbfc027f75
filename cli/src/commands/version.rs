//! `lathe version`: the version of this program.

use serde_json::json;

use crate::failure::Outcome;
use crate::output::Screen;

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub fn run(screen: Screen) -> anyhow::Result<Outcome> {
    screen.answer(&json!({ "version": VERSION }), || format!("lathe {VERSION}"))
}
