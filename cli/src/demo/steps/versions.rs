//! The tool and its versions: create, publish, deprecate.

use anyhow::ensure;
use serde_json::{Map, Value};

use crate::client::{Bump, PublishRequest, VersionFilter, read_version};
use crate::demo::report::Told;
use crate::demo::stage::{Stage, TOOL, branch, project_path};
use crate::output::BuildDisplay;

pub async fn create_tool(stage: &Stage) -> anyhow::Result<Told<String>> {
    let tags: Map<String, Value> = [("team".to_owned(), Value::from("reception"))].into_iter().collect();
    let id = stage.client()?.create_tool(TOOL, "Greets guests by name", &tags).await?;
    Ok(Told::new(id.clone(), format!("{TOOL} is {id}")))
}

pub async fn publish_first(stage: &Stage, tool_id: &str) -> anyhow::Result<Told<()>> {
    // A first version is 1.0.0, whatever grows.
    publish(stage, tool_id, Bump::Major, "1.0.0").await
}

pub async fn publish_second(stage: &Stage, tool_id: &str) -> anyhow::Result<Told<()>> {
    publish(stage, tool_id, Bump::Minor, "1.1.0").await
}

async fn publish(stage: &Stage, tool_id: &str, bump: Bump, expected: &str) -> anyhow::Result<Told<()>> {
    let request =
        PublishRequest { project_path: project_path(), bump_type: bump, commit_branch: Some(branch()), gate: None };
    let display = BuildDisplay::start("building");
    let answer = stage.client()?.publish(tool_id, &request, |event| display.show(event)).await?;
    drop(display);
    let version = answer.body.new_version;
    ensure!(version == expected, "the version is {version} and should be {expected}");
    Ok(Told::new((), format!("{TOOL} {version}, a WebAssembly component")))
}

pub async fn deprecate_first(stage: &Stage, tool_id: &str) -> anyhow::Result<Told<()>> {
    let client = stage.client()?;
    client.deprecate_versions(tool_id, "==1.0.0").await?;
    let filter = VersionFilter { deprecated: Some(false), ..VersionFilter::default() };
    let live = client.list_versions(tool_id, &filter).await?;
    let live: Vec<String> =
        live.iter().map(|version| Ok(read_version(version)?.version.to_string())).collect::<anyhow::Result<_>>()?;
    ensure!(live == ["1.1.0"], "live versions are {live:?} and should be 1.1.0 alone");
    Ok(Told::new((), "1.1.0 stays live, the history stays whole"))
}
