//! A new tool project from a template.

use crate::embedded::{rendered, template};
use crate::{Error, File, ProjectName, javascript, rust};

/// A kind of project that an author can start from.
#[derive(Debug)]
pub struct Template {
    /// The name of the template on the command line.
    pub name: &'static str,
    /// The file to edit first, relative to the project's directory.
    pub entry: &'static str,
    files: fn(&ProjectName) -> Result<Vec<File>, Error>,
}

/// The templates, the default one first.
pub static TEMPLATES: [Template; 4] = [
    Template { name: "python", entry: "tool.py", files: |name| Ok(python(name)) },
    Template {
        name: "typescript",
        entry: "index.ts",
        files: |name| Ok(javascript::project(name, javascript::TYPESCRIPT)),
    },
    Template {
        name: "javascript",
        entry: "index.js",
        files: |name| Ok(javascript::project(name, javascript::JAVASCRIPT)),
    },
    Template { name: "rust", entry: "src/lib.rs", files: rust::project },
];

impl Template {
    /// Returns the template of that name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        TEMPLATES.iter().find(|template| template.name == name)
    }

    /// Returns the files of a working project, with paths relative to the project's own directory (`tool.py`).
    ///
    /// # Errors
    /// When the language reserves the name.
    pub fn project(&self, name: &ProjectName) -> Result<Vec<File>, Error> {
        (self.files)(name)
    }
}

pub(crate) fn python(name: &ProjectName) -> Vec<File> {
    template().into_iter().map(|file| File { bytes: rendered(&file.bytes, name.as_str()), path: file.path }).collect()
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

    #[test]
    fn every_template_has_its_entry_file() {
        let name = ProjectName::parse("look_up_order").expect("a good name");
        for template in &TEMPLATES {
            let files = template.project(&name).expect("a project");
            assert!(files.iter().any(|file| file.path == template.entry), "{}", template.name);
            assert!(std::ptr::eq(Template::find(template.name).expect("found"), template));
        }
    }
}
