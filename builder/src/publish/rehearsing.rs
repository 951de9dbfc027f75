//! The promotion gate: recorded runs of the version in use have to be answered as they were.

use registry::{Constraint, Principal, ToolId, ToolVersion};
use runner::{Candidate, Difference, Rehearsal, Rehearsed, What};

use super::Builder;
use crate::error::{Error, Place};
use crate::progress::Progress;

pub const STAGE: &str = "replay";
/// Differing runs in a refusal; the log of the build has more.
const RUNS_SHOWN_MAX: usize = 3;
/// Of one text of a difference.
const TEXT_CHARACTERS_MAX: usize = 200;

/// What a candidate has to hold against recorded runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayGate {
    /// The last so many that have a tape.
    pub runs_max: u32,
    /// Of the runs that ran again, at most so many may do something else.
    pub different_percent_max: u32,
    /// All runs together may compute so much longer, if that matters.
    pub slower_percent_max: Option<u32>,
}

impl Builder {
    /// Has the candidate answer the last runs of the highest live version over their tapes. Without a version, or
    /// without a run, there is nothing to hold it against.
    ///
    /// # Errors
    /// When it does too many of them otherwise, or takes too long.
    pub(super) async fn rehearse(
        &self,
        principal: &Principal,
        tool: &ToolId,
        candidate: &Candidate,
        gate: ReplayGate,
        progress: &Progress,
    ) -> Result<(), Error> {
        let highest = self.store.resolve_version(&principal.organization, tool, &Constraint::any()).await?;
        let Some(version) = highest else {
            progress.line("no version is live: there are no runs to repeat");
            return Ok(());
        };
        let rehearsal = self.invoker.rehearse(principal, &version, candidate, gate.runs_max).await?;
        for line in report(&version, &rehearsal) {
            progress.line(line);
        }
        gate.verdict(&version, &rehearsal)
            .map_or(Ok(()), |(check, message)| Err(Error::failed(STAGE, check, message, Place::default())))
    }
}

impl ReplayGate {
    /// Which threshold is passed, and how.
    fn verdict(&self, version: &ToolVersion, found: &Rehearsal) -> Option<(&'static str, String)> {
        let of = version.version;
        let Rehearsal { runs, different, .. } = found;
        if different * 100 > self.different_percent_max as usize * runs {
            let shown: Vec<_> = found.told.iter().take(RUNS_SHOWN_MAX).map(told).collect();
            let message = format!(
                "{different} of {runs} recorded runs of {of} go otherwise, and at most {} % may: {}. The log of the build has more",
                self.different_percent_max,
                shown.join("; ")
            );
            return Some(("different", message));
        }
        let slower = self.slower_percent_max.filter(|max| slower_percent(found) > i128::from(*max))?;
        let message = format!(
            "{runs} recorded runs of {of} compute {} % longer, and at most {slower} % are allowed",
            slower_percent(found)
        );
        Some(("slower", message))
    }
}

/// For the log of the build.
fn report(version: &ToolVersion, found: &Rehearsal) -> Vec<String> {
    let Rehearsal { runs, different, skipped, recorded_us, replayed_us, .. } = found;
    let milliseconds = |microseconds: &u64| format!("{}.{:01} ms", microseconds / 1_000, microseconds % 1_000 / 100);
    let mut lines =
        vec![format!("{runs} runs of {} again: {different} different, {skipped} without a tape", version.version)];
    if *runs > 0 {
        lines.push(format!(
            "computing: {} then, {} now ({:+} %)",
            milliseconds(recorded_us),
            milliseconds(replayed_us),
            slower_percent(found)
        ));
    }
    lines.extend(found.told.iter().map(told));
    lines
}

fn slower_percent(found: &Rehearsal) -> i128 {
    let (then, now) = (i128::from(found.recorded_us), i128::from(found.replayed_us));
    if then == 0 { 0 } else { (now - then) * 100 / then }
}

/// One run in one line.
fn told(run: &Rehearsed) -> String {
    let what = match &run.refusal {
        Some(reason) => cut(reason),
        None => run.differences.iter().map(difference).collect::<Vec<_>>().join(", "),
    };
    format!("run {}: {what}", run.invocation)
}

fn difference(found: &Difference) -> String {
    let what = match found.what {
        What::Outcome => "outcome",
        What::Logs => "logs",
        What::Effect => "effect",
        What::Count => "count",
    };
    let position = found.position.map(|position| format!(" {position}")).unwrap_or_default();
    let text = |side: &Option<String>| side.as_deref().map_or_else(|| "nothing".into(), cut);
    format!("{what}{position} was {} and is {}", text(&found.recorded), text(&found.replayed))
}

/// On one line, and short.
fn cut(text: &str) -> String {
    let line: String =
        text.chars().take(TEXT_CHARACTERS_MAX).map(|each| if each.is_control() { ' ' } else { each }).collect();
    if text.chars().nth(TEXT_CHARACTERS_MAX).is_some() { format!("{line}…") } else { line }
}
