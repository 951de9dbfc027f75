//! Steps of the tool's author: a clone, a tool from the template, a change, pushes.

use anyhow::Context;
use scaffold::ProjectName;

use crate::demo::environment::{Environment, TOOL, branch, project_path};
use crate::demo::report::StepResult;
use crate::demo::steps::second_version;
use crate::projects::write_project;

pub async fn clone(environment: &Environment) -> anyhow::Result<StepResult<()>> {
    let url = environment.client()?.credentials().build_git_url()?;
    let repository = environment.repository();
    let directory = repository.to_string_lossy();
    environment.find_git()?.run(environment.root(), &["clone", "--quiet", &url, &directory]).await?;
    let tip = environment.find_git()?.run(&repository, &["log", "-1", "--format=%h %s"]).await?;
    Ok(StepResult::new((), format!("main is at {tip}")))
}

pub async fn make_tool(environment: &Environment) -> anyhow::Result<StepResult<()>> {
    let files = write_project(&ProjectName::parse(TOOL)?, environment.template(), &environment.project())?;
    Ok(StepResult::new((), format!("{} with {} files", project_path(), files.len())))
}

pub async fn push_first(environment: &Environment) -> anyhow::Result<StepResult<()>> {
    push(environment, "Greet guests").await
}

pub async fn push_second(environment: &Environment) -> anyhow::Result<StepResult<()>> {
    let (entry, version) = (environment.template().entry, second_version::of(environment.template())?);
    std::fs::write(environment.project().join(entry), version.code).with_context(|| format!("changing {entry}"))?;
    push(environment, "Choose the language, refuse strangers").await
}

async fn push(environment: &Environment, message: &str) -> anyhow::Result<StepResult<()>> {
    let git = environment.find_git()?;
    let repository = environment.repository();
    let commit = git.commit_all(&repository, message).await?;
    let target = format!("HEAD:{}", branch());
    git.run(&repository, &["push", "--quiet", "origin", &target]).await?;
    Ok(StepResult::new((), format!("git push of {commit} to {}", branch())))
}
