//! Projects of tools, made from templates.

use std::path::Path;

use anyhow::Context;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use scaffold::{ProjectName, TEMPLATES, Template};

use crate::failure::Failure;

/// Reads the name of a template. Help texts and completions list all of them.
pub fn build_template_parser() -> impl TypedValueParser<Value = &'static Template> {
    PossibleValuesParser::new(TEMPLATES.iter().map(|template| template.name))
        .try_map(|name| Template::find(&name).ok_or("no template has this name"))
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
