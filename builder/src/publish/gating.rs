//! The bump of a publication: what was asked for, when it tells of all that changed.

use registry::{BumpKind, Lease, ToolVersion};

use super::{Builder, blocking};
use crate::build::Built;
use crate::error::{Error, Place};
use crate::gate::{self, Change, Surface};
use crate::progress::Progress;

/// Reasons in a refusal; the log of the build has all.
const REASONS_MAX: usize = 5;

impl Builder {
    /// Compares what was built with the highest version, whose number the next one follows.
    ///
    /// # Errors
    /// When the bump is smaller than the changes need.
    pub(super) async fn bump(
        &self,
        lease: &Lease,
        asked: Option<BumpKind>,
        built: &Built,
        progress: &Progress,
    ) -> Result<BumpKind, Error> {
        let Some(highest) = self.store.highest_version(&lease.organization, &lease.tool).await? else {
            return Ok(asked.unwrap_or(BumpKind::Major));
        };
        let version = highest.version;
        let changes = changes(highest, built).await?;
        for change in &changes {
            progress.line(format!("since {version}, {change}"));
        }
        let needed = gate::needed(&changes);
        match asked {
            Some(asked) if !gate::suffices(asked, needed) => {
                Err(Error::failed("gate", "bump", refusal(asked, needed, &changes), Place::default()))
            }
            Some(asked) => Ok(asked),
            None => {
                progress.line(format!("since {version}, a {} bump is enough", needed.as_str()));
                Ok(needed)
            }
        }
    }
}

/// Apart, since large schemas take their time.
async fn changes(old: ToolVersion, built: &Built) -> Result<Vec<Change>, Error> {
    let (manifest, input_schema, settings) = (&built.manifest, built.input_schema.clone(), built.settings.clone());
    let (envvars, secrets) = (manifest.required_envvars.clone(), manifest.required_secret_envvars.clone());
    blocking(move || {
        let new = Surface { input_schema: &input_schema, envvars: &envvars, secrets: &secrets, settings: &settings };
        Ok(gate::changes(Surface::from(&old), new))
    })
    .await
}

fn refusal(asked: BumpKind, needed: BumpKind, changes: &[Change]) -> String {
    let telling = changes.iter().filter(|change| !gate::suffices(asked, change.bump));
    let reasons: Vec<&str> = telling.map(|change| change.reason.as_str()).collect();
    let shown = reasons.iter().take(REASONS_MAX).copied().collect::<Vec<_>>().join("; ");
    let more = reasons.len().saturating_sub(REASONS_MAX);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let (asked, needed) = (asked.as_str(), needed.as_str());
    format!(
        "a {asked} bump promises more than this change keeps: {shown}{more}. Publish it as {needed}, or with bump auto"
    )
}
