//! `lathe gc`: deletes old failed builds and unused artifacts from a data directory, with or without a running server.

use std::time::Duration;

use clap::Args;
use registry::{Artifacts, Clock, DataDir, OldBuilds, Timestamp, UnusedArtifact};
use serde_json::{Value, json};

use super::times::parse_duration;
use crate::failure::Outcome;
use crate::output::Screen;
use crate::server::{self, DataArguments};

const KIBIBYTE: u64 = 1 << 10;

#[derive(Debug, Args)]
pub struct GcArguments {
    /// Show what would be deleted, and delete nothing
    #[arg(long)]
    dry_run: bool,
    /// Age of what is deleted: a number with s, m, h, d or w. Artefacts are at least a day old
    #[arg(long, value_name = "DURATION", default_value = "30d", value_parser = parse_duration)]
    older_than: Duration,
    #[command(flatten)]
    data: DataArguments,
}

/// Failed builds and artifacts that no version refers to.
struct Garbage {
    builds: OldBuilds,
    artifacts: Vec<UnusedArtifact>,
}

pub async fn run(arguments: &GcArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let location = arguments.data.find_location()?;
    let store = server::open_existing_store(&location).await?;
    location.announce(screen);
    let artifacts = server::open_artifacts(&DataDir::open(&location.directory)?).await?;
    let (age, now) = (arguments.older_than, Clock::system().now());
    let (of_builds, of_artifacts) = (subtract_age(now, age), subtract_age(now, age.max(Artifacts::AGE_MIN)));
    let mut garbage = Garbage {
        builds: store.versions().count_old_builds(of_builds).await?,
        artifacts: artifacts.find_unused(store.versions().artifacts_in_use().await?, of_artifacts).await?,
    };
    if !arguments.dry_run {
        garbage.builds.count = store.versions().delete_old_builds(of_builds).await?;
        garbage.artifacts = delete_unused(&artifacts, garbage.artifacts, of_artifacts).await?;
    }
    screen.answer(&garbage.build_document(arguments.dry_run), || garbage.render(arguments.dry_run))
}

fn subtract_age(now: Timestamp, age: Duration) -> Timestamp {
    let milliseconds = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_milliseconds(now.as_milliseconds().saturating_sub(milliseconds))
}

/// Deletes artifacts. Returns those that no publication used meanwhile.
async fn delete_unused(
    artifacts: &Artifacts,
    unused: Vec<UnusedArtifact>,
    before: Timestamp,
) -> anyhow::Result<Vec<UnusedArtifact>> {
    let mut deleted = Vec::new();
    for artifact in unused {
        if artifacts.delete_unused(&artifact.digest, before).await? {
            deleted.push(artifact);
        }
    }
    Ok(deleted)
}

impl Garbage {
    fn artifact_bytes(&self) -> u64 {
        self.artifacts.iter().map(|artifact| artifact.bytes).sum()
    }

    /// Scripts rely on the keys.
    fn build_document(&self, is_dry_run: bool) -> Value {
        json!({
            "dry_run": is_dry_run,
            "failed_builds": {"count": self.builds.count, "bytes": self.builds.bytes},
            "artifacts": {"count": self.artifacts.len(), "bytes": self.artifact_bytes()},
        })
    }

    fn render(&self, is_dry_run: bool) -> String {
        let verb = if is_dry_run { "would be deleted" } else { "deleted" };
        format!(
            "failed builds {verb}: {} with logs of {} KiB\nunused artifacts {verb}: {} of {} KiB",
            self.builds.count,
            self.builds.bytes.div_ceil(KIBIBYTE),
            self.artifacts.len(),
            self.artifact_bytes().div_ceil(KIBIBYTE)
        )
    }
}
