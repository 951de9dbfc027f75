//! Steps that create the tool, and publish and deprecate its versions.

use anyhow::ensure;
use api::wire::{Bump, PublishToolVersion, ToolVersion};
use serde_json::{Map, Value};

use crate::client::{VersionFilter, read_all};
use crate::demo::environment::{Environment, TOOL, branch, project_path};
use crate::demo::report::StepResult;
use crate::output::BuildDisplay;

pub async fn create_tool(environment: &Environment) -> anyhow::Result<StepResult<String>> {
    let tags: Map<String, Value> = [("team".to_owned(), Value::from("reception"))].into_iter().collect();
    let id = environment.client()?.create_tool(TOOL, "Greets guests by name", &tags).await?;
    Ok(StepResult::new(id.clone(), format!("{TOOL} is {id}")))
}

pub async fn publish_first(environment: &Environment, tool_id: &str) -> anyhow::Result<StepResult<()>> {
    // A first version is 1.0.0, whatever the bump.
    check_published(&publish(environment, tool_id, Bump::Major).await?, "1.0.0")
}

pub async fn publish_second(environment: &Environment, tool_id: &str) -> anyhow::Result<StepResult<()>> {
    check_published(&publish(environment, tool_id, Bump::Minor).await?, "1.1.0")
}

async fn publish(environment: &Environment, tool_id: &str, bump: Bump) -> anyhow::Result<String> {
    let (project_path, commit_branch) = (project_path().parse()?, Some(branch().parse()?));
    let request = PublishToolVersion { project_path, bump_type: bump, commit_branch, gate: None };
    let display = BuildDisplay::start("building");
    let answer = environment.client()?.publish(tool_id, &request, |event| display.show(event)).await?;
    drop(display);
    Ok(answer.body.new_version)
}

fn check_published(version: &str, expected: &str) -> anyhow::Result<StepResult<()>> {
    ensure!(version == expected, "expected version {expected}, got {version}");
    Ok(StepResult::new((), format!("{TOOL} {version}, a WebAssembly component")))
}

pub async fn deprecate_first(environment: &Environment, tool_id: &str) -> anyhow::Result<StepResult<()>> {
    let client = environment.client()?;
    client.deprecate_versions(tool_id, "==1.0.0").await?;
    let filter = VersionFilter { deprecated: Some(false), ..VersionFilter::default() };
    let live: Vec<ToolVersion> = read_all(&client.list_versions(tool_id, &filter).await?)?;
    let live: Vec<String> = live.iter().map(|version| version.version.to_string()).collect();
    ensure!(live == ["1.1.0"], "expected 1.1.0 as the only live version, got {live:?}");
    Ok(StepResult::new((), "1.1.0 stays live, and all records stay in the history"))
}
