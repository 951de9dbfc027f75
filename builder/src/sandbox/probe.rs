//! The sandbox's test of itself: a job that tries to get at things, and says what it got at.

use std::path::Path;

use super::{Bounds, Failure, Job, Missing, Sandbox, Shown};
use crate::progress::Progress;

const SHELL: &str = "/bin/sh";
const REPORT: &str = "/build/report";
/// Says what it could do, one line each, and that it came to its end.
const SCRIPT: &str = include_str!("probe.sh");
const WHOLE: &str = "came to its end";
/// What it is shown, to see whether it can change it.
const SHOWN: &str = "/shown";

pub async fn probe(sandbox: &Sandbox, private: &Path) -> Result<(), Missing> {
    if !sandbox.program.is_file() {
        return Err(Missing::bubblewrap());
    }
    let progress = Progress::none();
    let finished = match sandbox.run(job(private), &progress).await {
        Ok(finished) => finished,
        Err(Failure::Sandbox { problem }) => return Err(Missing::refused(&problem)),
        Err(failure) => return Err(Missing::unusable(&sandbox.program, format!("{failure}: {}", progress.log()))),
    };
    let report = finished.output.unwrap_or_default();
    let report = String::from_utf8_lossy(&report);
    let Some(found) = report.trim_end().strip_suffix(WHOLE) else {
        return Err(Missing::unusable(&sandbox.program, "its test of itself did not come to its end"));
    };
    let found: Vec<String> = found.lines().map(str::to_owned).collect();
    if found.is_empty() { Ok(()) } else { Err(Missing::open(&found)) }
}

fn job(private: &Path) -> Job {
    Job {
        arguments: vec!["-c".into(), SCRIPT.into()],
        environment: vec![("PRIVATE".into(), private.to_string_lossy().into_owned())],
        // Something that everybody has.
        read_only: vec![Shown::new("/usr", SHOWN)],
        output: Some(REPORT.into()),
        bounds: Bounds::PROBE,
        ..Job::new(SHELL)
    }
}
