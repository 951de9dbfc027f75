//! `lathe tool new`: creates a project from a template.

mod next_steps;

use std::path::{Path, PathBuf};

use clap::Args;
use scaffold::{ProjectName, TEMPLATES, Template};
use serde_json::json;

use next_steps::NewProject;

use super::checkout::run_git;
use crate::failure::{Failure, Outcome};
use crate::home::Home;
use crate::output::Screen;
use crate::projects::{build_template_parser, write_project};

#[derive(Debug, Args)]
pub struct NewArguments {
    /// Name of the tool: lower-case letters, digits and _
    name: String,
    /// Programming language
    #[arg(long, value_parser = build_template_parser(), default_value = TEMPLATES[0].name)]
    language: &'static Template,
    /// Directory of the project [default: tools/NAME at the top of the clone, the default of `lathe tool publish`]
    #[arg(long, value_name = "DIRECTORY")]
    path: Option<PathBuf>,
}

pub fn run(arguments: &NewArguments, home: &Home, screen: Screen) -> anyhow::Result<Outcome> {
    let name = ProjectName::parse(&arguments.name)
        .map_err(|error| Failure::usage(error.to_string(), "give a name such as look_up_order"))?;
    let directory = arguments.path.clone().unwrap_or_else(|| choose_directory(&name));
    let files = write_project(&name, arguments.language, &directory)?;
    let document = json!({"name": name.as_str(), "directory": directory, "files": files});
    let project = NewProject { name: &name, template: arguments.language, directory: &directory };
    screen.answer(&document, || project.render(home))
}

/// Chooses `tools/NAME` at the top of the clone around the current directory, where `lathe tool publish` looks for it. Without a clone,
/// it is below the current directory, unless that is `tools` itself.
fn choose_directory(name: &ProjectName) -> PathBuf {
    let here = Path::new(".");
    let in_tools = PathBuf::from(name.as_str());
    match run_git(here, &["rev-parse", "--show-prefix"]) {
        Some(prefix) if prefix == "tools/" => in_tools,
        Some(_) => {
            let top = run_git(here, &["rev-parse", "--show-cdup"]).unwrap_or_default();
            PathBuf::from(top).join(name.project_path())
        }
        None if std::env::current_dir().is_ok_and(|directory| directory.ends_with("tools")) => in_tools,
        None => PathBuf::from(name.project_path()),
    }
}
