//! The Python projects of the tools in the clone around the current directory.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use crate::commands::prompt;
use crate::commands::tool::run_git;
use crate::failure::Failure;

/// The folder of the tools, and the manifest of a Python project.
const TOOLS: &str = "tools";
const MANIFEST: &str = "pyproject.toml";
const ALL: &str = "all";

pub struct Project {
    pub name: String,
    pub directory: PathBuf,
}

/// Chooses the named project, all, the one around the current directory, or those that the user names.
pub fn choose(tool: Option<&str>, is_all: bool) -> anyhow::Result<Vec<Project>> {
    let top = run_git(Path::new("."), &["rev-parse", "--show-toplevel"])
        .map_or_else(std::env::current_dir, |top| Ok(top.into()))?;
    let found = find_projects(&top);
    if let Some(name) = tool {
        return pick(found, name).map(|project| vec![project]);
    }
    if is_all {
        return if found.is_empty() { Err(refuse_no_projects(&top)) } else { Ok(found) };
    }
    if let Some(project) = find_project_around(&std::env::current_dir()?, &top) {
        return Ok(vec![project]);
    }
    if found.is_empty() {
        return Err(refuse_no_projects(&top));
    }
    let names = found.iter().map(|project| project.name.as_str()).collect::<Vec<_>>().join(", ");
    if !std::io::stdin().is_terminal() {
        let message = format!("several tools could be meant: {names}");
        return Err(Failure::usage(message, "name one with --tool, or add --all"));
    }
    match prompt::ask(&format!("Install for which tool ({names}, or {ALL})? "))?.trim() {
        ALL => Ok(found),
        name => pick(found, name).map(|project| vec![project]),
    }
}

/// The projects below `tools`, by name.
fn find_projects(top: &Path) -> Vec<Project> {
    let entries = std::fs::read_dir(top.join(TOOLS)).into_iter().flatten().flatten();
    let mut found: Vec<Project> = entries
        .filter(|entry| entry.path().join(MANIFEST).is_file())
        .map(|entry| Project { name: entry.file_name().to_string_lossy().into_owned(), directory: entry.path() })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The project that has a directory, not above `top`.
fn find_project_around(directory: &Path, top: &Path) -> Option<Project> {
    let within = directory.ancestors().take_while(|ancestor| ancestor.starts_with(top));
    let found = within.into_iter().find(|ancestor| ancestor.join(MANIFEST).is_file())?;
    let name = found.file_name()?.to_string_lossy().into_owned();
    Some(Project { name, directory: found.to_owned() })
}

fn pick(found: Vec<Project>, name: &str) -> anyhow::Result<Project> {
    let names = found.iter().map(|project| project.name.as_str()).collect::<Vec<_>>().join(", ");
    let picked = found.into_iter().find(|project| project.name == name);
    picked.ok_or_else(|| {
        let message = format!("there is no Python project {TOOLS}/{name}");
        let hint =
            if names.is_empty() { format!("`lathe tool new {name}` makes one") } else { format!("there are: {names}") };
        Failure::coded("not_found", message, hint)
    })
}

fn refuse_no_projects(top: &Path) -> anyhow::Error {
    let message = format!("{} has no Python projects", top.join(TOOLS).display());
    Failure::coded(
        "not_found",
        message,
        "run this in a clone of the organisation's repository; `lathe tool new` makes a project",
    )
}
