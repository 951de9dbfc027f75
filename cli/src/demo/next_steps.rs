//! The end of the demo: commands to go on with.

use serde_json::{Value, json};

use super::environment::{Environment, ORGANIZATION, TOOL, USER};
use super::place::Place;
use super::report::DemoReport;
use crate::programs;

pub fn show(environment: &Environment, report: &DemoReport, place: &Place) -> anyhow::Result<()> {
    let screen = report.screen();
    if screen.is_json() {
        return screen.print_document(&build_document(environment, report, place)?).map(drop);
    }
    let lathe = programs::find_own_command();
    screen.print_line(match place {
        Place::Existing(_) => render_commands(&lathe),
        Place::Temporary => render_ended(&lathe),
        Place::Kept => render_kept(environment, &lathe)?,
    })
}

fn build_document(environment: &Environment, report: &DemoReport, place: &Place) -> anyhow::Result<Value> {
    let credentials = environment.client()?.credentials();
    let kept = matches!(place, Place::Kept).then(|| {
        json!({
            "url": credentials.url,
            "organization": credentials.organization,
            "user_id": credentials.user_id,
            "api_key_id": credentials.api_key_id,
            "api_key": credentials.api_key.reveal(),
            "config_directory": environment.home_directory(),
        })
    });
    Ok(json!({"steps": report.steps(), "server": kept}))
}

fn render_kept(environment: &Environment, lathe: &str) -> anyhow::Result<String> {
    let credentials = environment.client()?.credentials();
    Ok(format!(
        "\nThe server runs until Ctrl-C. Then everything is removed.\n  \
         url           {}\n  organization  {ORGANIZATION}\n  user          {USER}\n  api_key_id    {}\n  api_key       {}\n\n\
         To go on in another terminal:\n  \
         export LATHE_CONFIG_DIR={}{}",
        credentials.url,
        credentials.api_key_id,
        credentials.api_key.reveal(),
        environment.home_directory().display(),
        render_commands(lathe),
    ))
}

/// Commands that use the demo's tool.
fn render_commands(lathe: &str) -> String {
    format!(
        "\n  {lathe} tool versions {TOOL}\n  \
         {lathe} tool invoke {TOOL} --input '{{\"name\": \"Lin\", \"language\": \"de\"}}'\n  \
         {lathe} history list --failed\n  \
         {lathe} history search Bonjour"
    )
}

fn render_ended(lathe: &str) -> String {
    format!(
        "\nThe demo's server and files are removed. To go on:\n  \
         {lathe} demo --keep                      # the same, and the server keeps running\n  \
         {lathe} serve                            # a server of your own, with its data in ./lathe-data\n  \
         {lathe} org create acme --user you       # prints an API key\n  \
         {lathe} login --org acme --user you --api-key-id ID"
    )
}
