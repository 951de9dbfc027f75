//! The refusal of a run that does not exist.

use crate::commands::not_found;

const RUNS_HINT: &str = "`lathe run list` lists the runs that you see";

/// Names the run that a 404 is about.
pub fn name_missing<T>(answer: anyhow::Result<T>, id: &str) -> anyhow::Result<T> {
    not_found::name_missing(answer, &format!("run `{id}`"), RUNS_HINT)
}
