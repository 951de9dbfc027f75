//! The sandbox's self-test: a job that tries to reach what it must not, and reports each success.

use std::path::Path;

use super::identity::Identities;
use super::{Bounds, Failure, Job, Missing, ReadOnlyMount, Sandbox};
use crate::progress::BuildProgress;

const SHELL: &str = "/bin/sh";
const REPORT: &str = "/build/report";
/// Writes one line for each successful attempt, then [`COMPLETE`].
const SCRIPT: &str = include_str!("probe.sh");
const COMPLETE: &str = "self-test complete";
/// A directory that the job is shown, to test that it cannot change it.
const SHOWN: &str = "/shown";

impl Sandbox {
    /// Tests whether this machine confines jobs, by running the self-test.
    ///
    /// `program` is bubblewrap, if it is installed; `private` is a path that no job may see.
    ///
    /// # Errors
    /// The missing part, and the command that adds it.
    pub async fn probe(program: Option<&Path>, private: &Path) -> Result<Self, Missing> {
        let program = program.filter(|program| program.is_file()).ok_or_else(Missing::bubblewrap)?;
        let identities = Identities::of_this_process().map_err(Missing::identity)?;
        let sandbox = Self { program: program.into(), identities };
        sandbox.test(private).await?;
        Ok(sandbox)
    }

    async fn test(&self, private: &Path) -> Result<(), Missing> {
        let progress = BuildProgress::none();
        let finished = match self.run(build_job(private), &progress).await {
            Ok(finished) => finished,
            Err(Failure::Sandbox { problem }) => return Err(Missing::refused(&problem)),
            Err(failure) => return Err(Missing::unusable(&self.program, format!("{failure}: {}", progress.log()))),
        };
        let report = finished.output.unwrap_or_default();
        let report = String::from_utf8_lossy(&report);
        let Some(found) = report.trim_end().strip_suffix(COMPLETE) else {
            return Err(Missing::unusable(&self.program, "its self-test did not finish"));
        };
        let found: Vec<String> = found.lines().map(str::to_owned).collect();
        if found.is_empty() { Ok(()) } else { Err(Missing::open(&found)) }
    }
}

fn build_job(private: &Path) -> Job {
    Job {
        arguments: vec!["-c".into(), SCRIPT.into()],
        environment: vec![("PRIVATE".into(), private.to_string_lossy().into_owned())],
        // Every system has this directory.
        read_only: vec![ReadOnlyMount::new("/usr", SHOWN)],
        output: Some(REPORT.into()),
        bounds: Bounds::PROBE,
        ..Job::new(SHELL)
    }
}
