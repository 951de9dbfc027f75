//! `lathe tool new`: creates a project from a template.

mod next_steps;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use scaffold::{ProjectName, TEMPLATES, Template};
use serde_json::json;

use next_steps::NewProject;

use super::checkout::git;
use crate::failure::{Failure, Outcome};
use crate::home::Home;
use crate::output::Screen;

#[derive(Debug, Args)]
pub struct NewArguments {
    /// Name of the tool: lower-case letters, digits and _
    name: String,
    /// Programming language
    #[arg(long, value_parser = template_parser(), default_value = TEMPLATES[0].name)]
    language: &'static Template,
    /// Directory of the project [default: tools/NAME at the top of the clone, the default of `lathe tool publish`]
    #[arg(long, value_name = "DIRECTORY")]
    path: Option<PathBuf>,
}

/// Reads the name of a template. Help texts and completions list all of them.
pub fn template_parser() -> impl TypedValueParser<Value = &'static Template> {
    PossibleValuesParser::new(TEMPLATES.iter().map(|template| template.name))
        .try_map(|name| Template::find(&name).ok_or("no template has this name"))
}

pub fn run(arguments: &NewArguments, home: &Home, screen: Screen) -> anyhow::Result<Outcome> {
    let name = ProjectName::parse(&arguments.name)
        .map_err(|error| Failure::usage(error.to_string(), "give a name such as look_up_order"))?;
    let directory = arguments.path.clone().unwrap_or_else(|| choose_directory(&name));
    let files = write_project(&name, arguments.language, &directory)?;
    let document = json!({"name": name.as_str(), "directory": directory, "files": files});
    let project = NewProject { name: &name, template: arguments.language, directory: &directory };
    screen.answer(&document, || project.text(home))
}

/// Chooses `tools/NAME` at the top of the clone around the current directory, where `lathe tool publish` looks for it. Without a clone,
/// it is below the current directory, unless that is `tools` itself.
fn choose_directory(name: &ProjectName) -> PathBuf {
    let here = Path::new(".");
    let in_tools = PathBuf::from(name.as_str());
    match git(here, &["rev-parse", "--show-prefix"]) {
        Some(prefix) if prefix == "tools/" => in_tools,
        Some(_) => {
            let top = git(here, &["rev-parse", "--show-cdup"]).unwrap_or_default();
            PathBuf::from(top).join(name.project_path())
        }
        None if std::env::current_dir().is_ok_and(|directory| directory.ends_with("tools")) => in_tools,
        None => PathBuf::from(name.project_path()),
    }
}

/// Writes the template to a new or empty directory and returns the names of its files.
pub fn write_project(name: &ProjectName, template: &Template, directory: &Path) -> anyhow::Result<Vec<String>> {
    if std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        let message = format!("{} is not empty", directory.display());
        return Err(Failure::refused(message, "choose another directory with --path"));
    }
    let files = template
        .project(name)
        .map_err(|error| Failure::usage(error.to_string(), "give a name such as look_up_order"))?;
    for file in &files {
        let path = directory.join(&file.path);
        write_file(&path, &file.bytes).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(files.into_iter().map(|file| file.path).collect())
}

fn write_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_written_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let name = ProjectName::parse("look_up_order").expect("a name");
        let files = write_project(&name, &TEMPLATES[0], directory.path()).expect("written");
        assert!(files.iter().any(|file| file == "tool.py"));
        assert!(directory.path().join("pyproject.toml").is_file());
        assert!(write_project(&name, &TEMPLATES[0], directory.path()).is_err(), "existing files are not overwritten");
    }
}
