//! The author's side: a clone, a tool from the scaffold, a change, real pushes.

use anyhow::Context;
use scaffold::ProjectName;

use crate::commands::tool::{Language, write_project};
use crate::demo::report::Told;
use crate::demo::stage::{Stage, TOOL, branch, project_path};

/// The second version: a language to choose, and a guest list that may refuse.
const fn second_version(language: Language) -> &'static str {
    match language {
        Language::Python => include_str!("second_version/tool.py"),
        Language::Typescript => include_str!("second_version/index.ts"),
        Language::Javascript => include_str!("second_version/index.js"),
        Language::Rust => include_str!("second_version/lib.rs"),
    }
}

pub async fn clone(stage: &Stage) -> anyhow::Result<Told<()>> {
    let url = stage.client()?.credentials().git_url()?;
    let repository = stage.repository();
    let directory = repository.to_string_lossy();
    stage.git()?.run(stage.root(), &["clone", "--quiet", &url, &directory]).await?;
    let tip = stage.git()?.run(&repository, &["log", "-1", "--format=%h %s"]).await?;
    Ok(Told::new((), format!("main is at {tip}")))
}

pub async fn make_tool(stage: &Stage) -> anyhow::Result<Told<()>> {
    let files = write_project(&ProjectName::parse(TOOL)?, stage.language(), &stage.project())?;
    Ok(Told::new((), format!("{} with {} files", project_path(), files.len())))
}

pub async fn push_first(stage: &Stage) -> anyhow::Result<Told<()>> {
    push(stage, "Greet guests").await
}

pub async fn push_second(stage: &Stage) -> anyhow::Result<Told<()>> {
    let entry = stage.language().entry();
    std::fs::write(stage.project().join(entry), second_version(stage.language()))
        .with_context(|| format!("changing {entry}"))?;
    push(stage, "Choose the language, refuse strangers").await
}

async fn push(stage: &Stage, message: &str) -> anyhow::Result<Told<()>> {
    let git = stage.git()?;
    let repository = stage.repository();
    let commit = git.commit_all(&repository, message).await?;
    let target = format!("HEAD:{}", branch());
    git.run(&repository, &["push", "--quiet", "origin", &target]).await?;
    Ok(Told::new((), format!("git push of {commit} to {}", branch())))
}
