//! A new tool project from a template.

use std::borrow::Cow;

use crate::embedded::template;
use crate::{Error, File, ProjectName, javascript, rust};

const NAME_MARKER: &str = "{{tool_name}}";

/// What a new project is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TemplateLanguage {
    #[default]
    Python,
    TypeScript,
    JavaScript,
    Rust,
}

/// The files of a working project, with paths relative to the project's own directory (`tool.py`).
///
/// # Errors
/// When the language takes no project of that name.
pub fn new_project(name: &ProjectName, language: TemplateLanguage) -> Result<Vec<File>, Error> {
    match language {
        TemplateLanguage::Python => Ok(python(name)),
        TemplateLanguage::TypeScript => Ok(javascript::project(name, javascript::TYPESCRIPT)),
        TemplateLanguage::JavaScript => Ok(javascript::project(name, javascript::JAVASCRIPT)),
        TemplateLanguage::Rust => rust::project(name),
    }
}

pub(crate) fn python(name: &ProjectName) -> Vec<File> {
    template().into_iter().map(|file| File { bytes: rendered(&file.bytes, name.as_str()), path: file.path }).collect()
}

pub(crate) fn rendered(bytes: &[u8], name: &str) -> Cow<'static, [u8]> {
    String::from_utf8_lossy(bytes).replace(NAME_MARKER, name).into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(files: &[File], path: &str) -> String {
        let file = files.iter().find(|file| file.path == path).expect(path);
        String::from_utf8(file.bytes.to_vec()).expect("text")
    }

    #[test]
    fn a_new_project_is_named_throughout() {
        let files = python(&ProjectName::parse("look_up_order").expect("a good name"));
        assert!(text_of(&files, "pyproject.toml").contains("name = \"look_up_order\""));
        assert!(text_of(&files, "tool.py").starts_with("\"\"\"look_up_order: "));
        assert!(text_of(&files, "README.md").starts_with("# look_up_order\n"));
        for file in &files {
            assert!(!text_of(&files, &file.path).contains("{{"), "{} has a placeholder left", file.path);
        }
    }

    #[test]
    fn a_new_project_has_what_an_author_needs() {
        let files = python(&ProjectName::parse("a").expect("a good name"));
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(
            paths,
            [
                ".gitignore",
                "README.md",
                "checks/example.json",
                "checks/more.json",
                "pyproject.toml",
                "tests/test_tool.py",
                "tool.py"
            ]
        );
    }
}
