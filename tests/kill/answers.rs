//! Compares what the server says about the last actions with the ledger.

use super::action::{Outcome, RunEnd, What};
use super::database::VersionRow;
use super::findings::Findings;
use super::ledger::Entries;
use crate::harness::Team;

/// Compares the records of the last acknowledged runs, and the last deprecations.
pub fn compare(team: &Team, entries: &Entries, findings: &mut Findings) {
    for (number, entry) in entries.selected(false) {
        match (&entry.action.what, &entry.outcome) {
            (What::Invoke { .. }, Some(Outcome::Acknowledged { runs, .. })) => {
                let lost = runs.iter().filter_map(|run| lost_run(team, run));
                findings.lost.extend(lost.map(|what| format!("call {number}: {what}")));
            }
            (What::Deprecate { version }, Some(Outcome::Acknowledged { .. })) => {
                let path = format!("/tool/{}/version/{version}", entry.action.tool);
                let answer = team.request("GET", &path).send();
                if answer.json()["deprecated"] != true {
                    findings.lost.push(format!("deprecation {number}: {answer}"));
                }
            }
            _ => {}
        }
    }
}

/// Asserts that the parts of a version can be read.
pub fn compare_version(team: &Team, row: &VersionRow, findings: &mut Findings) {
    let path = format!("/tool/{}/version/{}", row.tool, row.version);
    for part in ["", "/provenance", "/sbom"] {
        let answer = team.request("GET", &format!("{path}{part}")).send();
        let has_log = !part.is_empty() || answer.json()["build_log"].as_str().is_some_and(|log| !log.is_empty());
        if answer.status != 200 || !has_log {
            findings.half_published.push(format!("{path}{part}: {answer}"));
        }
    }
}

fn lost_run(team: &Team, run: &RunEnd) -> Option<String> {
    let answer = team.request("GET", &format!("/tool/invocation/{}", run.id)).send();
    let status = answer.json()["invocation_status"].take();
    let (name, text) = match &run.end {
        Ok(output) => ("output", output),
        Err(kind) => ("exception_type", kind),
    };
    (status[name] != text.as_str()).then(|| format!("{run:?} got {answer}"))
}
