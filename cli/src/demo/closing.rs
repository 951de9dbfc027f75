//! The end of the walk: how to go on by hand.

use serde_json::json;

use super::report::Report;
use super::stage::{ORGANIZATION, Stage, TOOL, USER};
use crate::commands;
use crate::output::Screen;

pub fn show(stage: &Stage, report: &Report, is_kept: bool, screen: Screen) -> anyhow::Result<()> {
    if screen.is_json() {
        return document(stage, report, is_kept, screen);
    }
    let lathe = commands::program_name();
    screen.line(if is_kept { kept_text(stage, &lathe)? } else { ended_text(&lathe) })
}

fn document(stage: &Stage, report: &Report, is_kept: bool, screen: Screen) -> anyhow::Result<()> {
    let credentials = stage.client()?.credentials();
    let kept = is_kept.then(|| {
        json!({
            "url": credentials.url,
            "organization": credentials.organization,
            "user_id": credentials.user_id,
            "api_key_id": credentials.api_key_id,
            "api_key": credentials.api_key.reveal(),
            "config_directory": stage.home_directory(),
        })
    });
    screen.document(&json!({"steps": report.steps(), "server": kept}))
}

fn kept_text(stage: &Stage, lathe: &str) -> anyhow::Result<String> {
    let credentials = stage.client()?.credentials();
    Ok(format!(
        "\nThe server runs until Ctrl-C, which removes everything:\n  \
         url           {}\n  organization  {ORGANIZATION}\n  user          {USER}\n  api_key_id    {}\n  api_key       {}\n\n\
         Go on by hand, in another terminal:\n  \
         export LATHE_CONFIG_DIR={}\n  \
         {lathe} tool versions {TOOL}\n  \
         {lathe} tool invoke {TOOL} --input '{{\"name\": \"Lin\", \"language\": \"de\"}}'\n  \
         {lathe} history list --failed\n  \
         {lathe} history search Bonjour",
        credentials.url,
        credentials.api_key_id,
        credentials.api_key.reveal(),
        stage.home_directory().display(),
    ))
}

fn ended_text(lathe: &str) -> String {
    format!(
        "\nThe demo's server and files are gone. Go on by hand:\n  \
         {lathe} demo --keep                      # the same, and the server stays\n  \
         {lathe} serve                            # your own, in ./lathe-data\n  \
         {lathe} org create acme --user you       # prints a key\n  \
         {lathe} login --org acme --user you --api-key-id ID"
    )
}
