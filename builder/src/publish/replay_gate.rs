//! The replay gate: a candidate must answer recorded runs of the live version as that version did.

use registry::{Constraint, Principal, ToolId, ToolVersion, visible};
use runner::{Candidate, Difference, DifferenceKind, DifferingRun, LastRuns, ReplayReport};
use serde::Serialize;

use super::builder::Builder;
use crate::error::Error;
use crate::progress::BuildProgress;

pub const STAGE: &str = "replay";
/// Differing runs in a refusal. The build log has more.
const RUNS_SHOWN_MAX: usize = 3;
/// Characters of each text in a difference.
const TEXT_CHARACTERS_MAX: usize = 200;

/// The thresholds for the replay of recorded runs against a candidate, in the format of the HTTP API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ReplayGate {
    /// Number of runs to replay: the most recent ones that have a tape.
    #[serde(rename = "replay")]
    pub runs_max: u32,
    /// Maximum percentage of replayed runs whose result differs.
    pub different_percent_max: u32,
    /// Maximum percentage by which the computing time of all replayed runs together may grow. `None` for no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slower_percent_max: Option<u32>,
}

/// A candidate and the gate that it must pass.
pub(super) struct ReplayCandidate<'a> {
    pub principal: &'a Principal,
    pub tool: &'a ToolId,
    pub candidate: &'a Candidate,
    pub gate: ReplayGate,
}

impl Builder {
    /// Replays the last runs of the highest live version against the candidate. The candidate passes when there is no
    /// live version or no run.
    ///
    /// # Errors
    /// When too many results differ, or the computing time grows too much.
    pub(super) async fn pass_replay_gate(
        &self,
        of: ReplayCandidate<'_>,
        progress: &BuildProgress,
    ) -> Result<(), Error> {
        let ReplayCandidate { principal, tool, candidate, gate } = of;
        let highest = self.store.versions().resolve_version(&principal.organization, tool, &Constraint::any()).await?;
        let Some(version) = highest else {
            progress.line("no version is live, so there are no runs to replay");
            return Ok(());
        };
        let replay = self
            .invoker
            .replay_last_runs(principal, LastRuns { version: &version, runs_max: gate.runs_max }, candidate)
            .await?;
        for line in report(&version, &replay) {
            progress.line(line);
        }
        gate.find_exceeded(&version, &replay)
            .map_or(Ok(()), |(check, message)| Err(Error::failed(STAGE, check, message)))
    }
}

impl ReplayGate {
    /// The exceeded threshold and the message about it. `None` when the candidate passes.
    fn find_exceeded(&self, version: &ToolVersion, found: &ReplayReport) -> Option<(&'static str, String)> {
        let of = version.version;
        let ReplayReport { runs, different, .. } = found;
        if different * 100 > self.different_percent_max as usize * runs {
            let shown: Vec<_> = found.listed.iter().take(RUNS_SHOWN_MAX).map(describe_run).collect();
            let message = format!(
                "{different} of {runs} recorded runs of {of} differ, and at most {} % may differ: {}. The build log has more",
                self.different_percent_max,
                shown.join("; ")
            );
            return Some(("different", message));
        }
        let slower = self.slower_percent_max.filter(|max| compute_slower_percent(found) > i128::from(*max))?;
        let message = format!(
            "{runs} recorded runs of {of} compute {} % longer, and at most {slower} % are allowed",
            compute_slower_percent(found)
        );
        Some(("slower", message))
    }
}

/// The lines about a replay in the build log.
fn report(version: &ToolVersion, found: &ReplayReport) -> Vec<String> {
    let ReplayReport { runs, different, skipped, recorded_us, replayed_us, .. } = found;
    let milliseconds = |microseconds: &u64| format!("{}.{:01} ms", microseconds / 1_000, microseconds % 1_000 / 100);
    let mut lines =
        vec![format!("{runs} runs of {} replayed: {different} different, {skipped} without a tape", version.version)];
    if *runs > 0 {
        lines.push(format!(
            "computing: {} then, {} now ({:+} %)",
            milliseconds(recorded_us),
            milliseconds(replayed_us),
            compute_slower_percent(found)
        ));
    }
    lines.extend(found.listed.iter().map(describe_run));
    lines
}

fn compute_slower_percent(found: &ReplayReport) -> i128 {
    let (then, now) = (i128::from(found.recorded_us), i128::from(found.replayed_us));
    if then == 0 { 0 } else { (now - then) * 100 / then }
}

/// A differing run in one line.
fn describe_run(run: &DifferingRun) -> String {
    let what = match &run.refusal {
        Some(reason) => cut(reason),
        None => run.differences.iter().map(show_difference).collect::<Vec<_>>().join(", "),
    };
    format!("run {}: {what}", run.invocation)
}

fn show_difference(found: &Difference) -> String {
    let what = match found.what {
        DifferenceKind::Outcome => "outcome",
        DifferenceKind::Logs => "logs",
        DifferenceKind::Effect => "effect",
        DifferenceKind::Count => "count",
    };
    let position = found.position.map(|position| format!(" {position}")).unwrap_or_default();
    let text = |side: &Option<String>| side.as_deref().map_or_else(|| "nothing".into(), cut);
    format!("{what}{position} was {} and is {}", text(&found.recorded), text(&found.replayed))
}

/// A text on one line, truncated.
fn cut(text: &str) -> String {
    let line = visible(&text.chars().take(TEXT_CHARACTERS_MAX).collect::<String>());
    if text.chars().nth(TEXT_CHARACTERS_MAX).is_some() { format!("{line}…") } else { line }
}
