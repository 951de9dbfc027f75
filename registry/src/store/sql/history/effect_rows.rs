//! The effects of runs as rows.

use serde::Serialize;

use crate::error::Result;
use crate::history::Effect;
use crate::kit::ids::RunId;
use crate::store::sql::kit::row::to_json;

/// Inserts effects of runs that have started. The start of a run may be written again.
pub(super) const INSERT_EFFECTS: &str = "INSERT INTO inv_effects (organization, kind, name, started_at, invocation)
    SELECT s.organization, e.kind, e.name, s.started_at, s.invocation
    FROM {records $1 invocation TEXT, kind TEXT, name TEXT} e CROSS JOIN inv_started s
    WHERE s.invocation = e.invocation
    ON CONFLICT DO NOTHING";

#[derive(Serialize)]
struct Columns<'a> {
    invocation: &'a str,
    kind: &'static str,
    name: &'a str,
}

/// Returns the rows of a run's effects, encoded.
pub(super) fn build_effect_rows(run: &RunId, effects: impl IntoIterator<Item = Effect>) -> Result<Vec<String>> {
    let encoded = |Effect { kind, name }: Effect| {
        to_json(&Columns { invocation: run.as_str(), kind: kind.as_str(), name: &name })
    };
    effects.into_iter().map(encoded).collect()
}
