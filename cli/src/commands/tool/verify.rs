//! `lathe tool verify`: rebuilds a version and compares.

use api::wire::Verification;
use clap::Args;

use super::version_arguments::{VersionArguments, name_missing};
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::{BuildDisplay, Screen, clip, escape_hidden};

/// Maximum length of a value in a difference.
const TEXT_CHARACTERS_MAX: usize = 500;

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the same bytes; 1 a difference, or the build was refused; 2 invalid command line."
)]
pub struct VerifyArguments {
    #[command(flatten)]
    version: VersionArguments,
}

pub async fn run(client: &Client, arguments: &VerifyArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let (tool, version) = arguments.version.find(client).await?;
    let display = BuildDisplay::start(&format!("building {} {version} again", tool.name));
    let answer = client.verify_version(&tool.id, &version, |event| display.show(event)).await;
    drop(display);
    let answer = name_missing(answer, &tool, &version)?;
    screen.answer(&answer.document, || render_text(&answer.body))?;
    let is_right = answer.body.identical && answer.body.signed;
    Ok(if is_right { Outcome::Done } else { Outcome::Failed })
}

fn render_text(found: &Verification) -> String {
    let mut lines = vec![if found.identical { "identical" } else { "different" }.to_owned()];
    for difference in &found.differences {
        lines.push(difference.what.clone());
        lines.push(format!("  published  {}", clip(&difference.published, TEXT_CHARACTERS_MAX)));
        lines.push(format!("  rebuilt    {}", clip(&difference.rebuilt, TEXT_CHARACTERS_MAX)));
    }
    let signature = if found.signed { "valid" } else { "INVALID" };
    lines.push(format!("the signature of the provenance is {signature}"));
    escape_hidden(&lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences_are_listed() {
        let shown = |value| render_text(&serde_json::from_value(value).expect("a verification"));
        let same = json!({"identical": true, "differences": [], "signed": true});
        assert_eq!(shown(same), "identical\nthe signature of the provenance is valid");
        let difference = json!({"what": "bundle_digest", "published": "a", "rebuilt": "b"});
        let other = shown(json!({"identical": false, "differences": [difference], "signed": false}));
        assert!(other.starts_with("different\nbundle_digest\n  published  a\n  rebuilt    b\n"), "{other}");
        assert!(other.ends_with("INVALID"), "{other}");
    }
}
