//! The files under `python/`, as they are in the binary. A test compares the tables with the directories.

use std::borrow::Cow;

/// A file: its relative path, separated by `/`, and its contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub path: String,
    pub bytes: Cow<'static, [u8]>,
}

impl File {
    pub(crate) fn below(self, directory: &str) -> Self {
        Self { path: format!("{directory}/{}", self.path), ..self }
    }
}

const NAME_MARKER: &str = "{{tool_name}}";

type Embedded = (&'static str, &'static [u8]);

macro_rules! embedded {
    ($root:literal, $($path:literal),+ $(,)?) => {
        &[$(($path, include_bytes!(concat!("../python/", $root, $path)).as_slice())),+]
    };
}

const PACKAGE: &[Embedded] = embedded![
    "",
    "amigo_tool_scaffold/__init__.py",
    "amigo_tool_scaffold/config.py",
    "amigo_tool_scaffold/content.py",
    "amigo_tool_scaffold/conversation.py",
    "amigo_tool_scaffold/convert.py",
    "amigo_tool_scaffold/entry_point.py",
    "amigo_tool_scaffold/http.py",
    "amigo_tool_scaffold/interaction.py",
    "amigo_tool_scaffold/log.py",
    "amigo_tool_scaffold/metadata.py",
    "amigo_tool_scaffold/py.typed",
    "amigo_tool_scaffold/result.py",
    "amigo_tool_scaffold/schema.py",
    "amigo_tool_scaffold/shapes.py",
    "amigo_tool_scaffold/status.py",
    "amigo_tool_scaffold/testing.py",
    "amigo_tool_scaffold/tools.py",
    "amigo_tool_scaffold/user_variables.py",
];

const DISTRIBUTION: &[Embedded] = embedded!["", "README.md", "pyproject.toml", "wheel_backend.py"];

const TEMPLATE: &[Embedded] = embedded![
    "template/",
    ".gitignore",
    "README.md",
    "checks/example.json",
    "checks/more.json",
    "pyproject.toml",
    "tests/test_tool.py",
    "tool.py",
];

const MAIN_BRANCH: &[Embedded] = embedded!["main_branch/", ".gitignore", "README.md"];

/// The modules of `amigo_tool_scaffold`, with paths such as `amigo_tool_scaffold/status.py`, sorted.
pub fn python_package() -> Vec<File> {
    files(PACKAGE)
}

/// The package with its build files: the contents of its source archive without `PKG-INFO`.
pub(crate) fn distribution() -> Vec<File> {
    files(DISTRIBUTION).into_iter().chain(python_package()).collect()
}

/// The project template, with its placeholders.
pub(crate) fn template() -> Vec<File> {
    files(TEMPLATE)
}

/// Files of `main` besides the scaffold and the example.
pub(crate) fn main_branch_pages() -> Vec<File> {
    files(MAIN_BRANCH)
}

/// Replaces the placeholder for the tool's name in a template's file.
pub(crate) fn rendered(bytes: &[u8], name: &str) -> Cow<'static, [u8]> {
    String::from_utf8_lossy(bytes).replace(NAME_MARKER, name).into_bytes().into()
}

fn files(table: &[Embedded]) -> Vec<File> {
    table.iter().map(|(path, bytes)| File { path: (*path).to_owned(), bytes: Cow::Borrowed(*bytes) }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    fn on_disk(root: &Path, directory: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(directory).expect("the directory is in the repository") {
            let path = entry.expect("readable").path();
            let name = path.file_name().expect("named").to_string_lossy().into_owned();
            if path.is_dir() && !name.ends_with("cache") && !name.starts_with("__pycache") {
                on_disk(root, &path, found);
            } else if path.is_file() {
                found.insert(path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned());
            }
        }
    }

    fn check(root: &str, below: &str, table: Vec<File>) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("python").join(root);
        let mut expected = BTreeSet::new();
        on_disk(&root, &root.join(below), &mut expected);
        let embedded: BTreeSet<String> = table.into_iter().map(|file| file.path).collect();
        assert_eq!(embedded, expected);
    }

    #[test]
    fn no_file_is_forgotten() {
        check("", "amigo_tool_scaffold", python_package());
        check("template", "", template());
        check("main_branch", "", main_branch_pages());
    }

    #[test]
    fn the_python_package_has_the_version_of_the_workspace() {
        let project = distribution().into_iter().find(|file| file.path == "pyproject.toml").expect("embedded");
        let text = String::from_utf8(project.bytes.into_owned()).expect("text");
        assert!(text.contains(&format!("\nversion = \"{}\"\n", crate::VERSION)), "{text}");
    }
}
