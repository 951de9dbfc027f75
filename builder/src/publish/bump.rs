//! The bump of a publication: the requested one, if it is large enough for the changes.

use registry::{BumpKind, SchemaText, ToolVersion};

use super::publish_context::PublishContext;
use crate::blocking::blocking;
use crate::built::Built;
use crate::error::Error;
use crate::gate::{self, CallerInterface, Change};

/// Reasons in a refusal. The build log has all of them.
const REASONS_MAX: usize = 5;

impl PublishContext<'_> {
    /// Compares the built tool with the highest version, whose number the new version follows.
    ///
    /// # Errors
    /// When the requested bump is smaller than the changes require.
    pub(super) async fn choose_bump(
        &self,
        asked: Option<BumpKind>,
        built: &Built,
        highest: Option<&ToolVersion>,
    ) -> Result<BumpKind, Error> {
        let progress = self.progress;
        let Some(highest) = highest else { return Ok(asked.unwrap_or(BumpKind::Major)) };
        let version = highest.version;
        if is_unchanged(highest, built) {
            progress.warn(format!(
                "nothing has changed since {version}: the new version has the same code and the same declarations. If you expected a \
                change, commit and push it, and publish again"
            ));
        }
        let changes = find_changes(highest.clone(), built).await?;
        for change in &changes {
            progress.line(format!("since {version}, {change}"));
        }
        let needed = gate::find_needed_bump(&changes);
        match asked {
            Some(asked) if !gate::suffices(asked, needed) => {
                Err(Error::failed("gate", "bump", explain_refusal(asked, needed, &changes)))
            }
            Some(asked) => Ok(asked),
            None => {
                progress.line(format!("since {version}, a {} bump is enough", needed.as_str()));
                Ok(needed)
            }
        }
    }
}

/// Whether a build has nothing that its highest version, which callers can use, does not have.
fn is_unchanged(highest: &ToolVersion, built: &Built) -> bool {
    let Built { manifest, settings, input_schema, artifact, .. } = built;
    !highest.deprecated
        && highest.component_digest == artifact.component_digest()
        && highest.settings == *settings
        && highest.input_schema.value() == *input_schema
        && highest.required_envvars == manifest.required_envvars
        && highest.required_secret_envvars == manifest.required_secret_envvars
}

/// Compares on a thread for blocking work, since large schemas take long.
async fn find_changes(old: ToolVersion, built: &Built) -> Result<Vec<Change>, Error> {
    let (manifest, input_schema, settings) =
        (&built.manifest, SchemaText::of(&built.input_schema), built.settings.clone());
    let (envvars, secrets) = (manifest.required_envvars.clone(), manifest.required_secret_envvars.clone());
    blocking(move || {
        let new =
            CallerInterface { input_schema: &input_schema, envvars: &envvars, secrets: &secrets, settings: &settings };
        gate::changes(CallerInterface::from(&old), new)
    })
    .await
}

fn explain_refusal(asked: BumpKind, needed: BumpKind, changes: &[Change]) -> String {
    let uncovered = changes.iter().filter(|change| !gate::suffices(asked, change.bump));
    let reasons: Vec<&str> = uncovered.map(|change| change.reason.as_str()).collect();
    let shown = reasons.iter().take(REASONS_MAX).copied().collect::<Vec<_>>().join("; ");
    let more = reasons.len().saturating_sub(REASONS_MAX);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let (asked, needed) = (asked.as_str(), needed.as_str());
    format!("a {asked} bump is too small for these changes: {shown}{more}. Publish it as {needed}, or with bump auto")
}
