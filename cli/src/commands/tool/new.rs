//! `lathe tool new`

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use scaffold::{ProjectName, TemplateLanguage};
use serde_json::json;

use crate::failure::{Failure, Outcome};
use crate::output::Screen;

#[derive(Debug, Args)]
pub struct NewArguments {
    /// The tool's name: lower-case letters, digits and _
    name: String,
    /// What to write it in
    #[arg(long, value_enum, default_value_t)]
    language: Language,
    /// Where to write it [default: tools/NAME, which is where `lathe tool publish` looks]
    #[arg(long, value_name = "DIRECTORY")]
    path: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Language {
    #[default]
    Python,
    Typescript,
    Javascript,
    Rust,
}

impl Language {
    const fn template(self) -> TemplateLanguage {
        match self {
            Self::Python => TemplateLanguage::Python,
            Self::Typescript => TemplateLanguage::TypeScript,
            Self::Javascript => TemplateLanguage::JavaScript,
            Self::Rust => TemplateLanguage::Rust,
        }
    }

    /// The file to begin with.
    pub const fn entry(self) -> &'static str {
        match self {
            Self::Python => "tool.py",
            Self::Typescript => "index.ts",
            Self::Javascript => "index.js",
            Self::Rust => "src/lib.rs",
        }
    }
}

pub fn run(arguments: &NewArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let name = ProjectName::parse(&arguments.name)
        .map_err(|error| Failure::usage(error.to_string(), "a name such as look_up_order"))?;
    let directory = arguments.path.clone().unwrap_or_else(|| PathBuf::from(name.project_path()));
    let files = write_project(&name, arguments.language, &directory)?;
    let document = json!({"name": name.as_str(), "directory": directory, "files": files});
    screen.answer(&document, || people_text(&name, arguments.language, &directory))?;
    Ok(Outcome::Done)
}

/// Writes the template into a directory that is new or empty, and names its files.
pub fn write_project(name: &ProjectName, language: Language, directory: &Path) -> anyhow::Result<Vec<String>> {
    if std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        let message = format!("{} is not empty", directory.display());
        return Err(Failure::refused(message, "choose another directory with --path"));
    }
    let files = scaffold::new_project(name, language.template())
        .map_err(|error| Failure::usage(error.to_string(), "a name such as look_up_order"))?;
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

fn people_text(name: &ProjectName, language: Language, directory: &Path) -> String {
    let (directory, entry) = (directory.display(), language.entry());
    format!(
        "wrote {directory}\n\nNext: edit {directory}/{entry}; `lathe tool test {directory} --watch` builds it and runs its checks \
         whenever a file changes. Commit it, then\n  \
         git push lathe HEAD:releases/ORG\n  \
         lathe tool create {name} --description 'what it does'\n  \
         lathe tool test {directory} --branch releases/ORG --input '{{\"name\": \"Ada\"}}'\n  \
         lathe tool publish {name} --bump minor"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_written_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let name = ProjectName::parse("look_up_order").expect("a name");
        let files = write_project(&name, Language::Python, directory.path()).expect("written");
        assert!(files.iter().any(|file| file == "tool.py"));
        assert!(directory.path().join("pyproject.toml").is_file());
        assert!(write_project(&name, Language::Python, directory.path()).is_err(), "what is there is not overwritten");
    }

    #[test]
    fn every_language_has_the_file_where_its_author_goes_on() {
        let name = ProjectName::parse("look_up_order").expect("a name");
        for language in Language::value_variants() {
            let directory = tempfile::tempdir().expect("a directory");
            let files = write_project(&name, *language, directory.path()).expect("written");
            assert!(files.iter().any(|file| file == language.entry()), "{language:?}: {files:?}");
        }
    }
}
