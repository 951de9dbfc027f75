//! A new project in TypeScript or JavaScript: the shared files, and those of each language.

use crate::embedded::rendered;
use crate::{File, ProjectName};

macro_rules! embedded {
    ($root:literal, $($path:literal),+ $(,)?) => {
        &[$(($path, include_bytes!(concat!("../javascript/", $root, "/", $path)).as_slice())),+]
    };
}

type Embedded = &'static [(&'static str, &'static [u8])];

const SHARED: Embedded = embedded!["shared", ".gitignore", "checks/example.json", "checks/more.json", "lathe.d.ts"];
pub(crate) const TYPESCRIPT: Embedded =
    embedded!["typescript", "README.md", "index.ts", "package.json", "tsconfig.json"];
pub(crate) const JAVASCRIPT: Embedded =
    embedded!["javascript", "README.md", "index.js", "package.json", "tsconfig.json"];

/// The files of a working project, sorted, with paths relative to the project's own directory.
pub(crate) fn project(name: &ProjectName, own: Embedded) -> Vec<File> {
    let file = |(path, bytes): &(&str, &[u8])| File { path: (*path).to_owned(), bytes: rendered(bytes, name.as_str()) };
    let mut files: Vec<_> = SHARED.iter().chain(own).map(file).collect();
    files.sort_by(|left, right| left.path.cmp(&right.path));
    files
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    fn on_disk(directory: &Path, below: &str, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(directory).expect("the directory is in the repository") {
            let entry = entry.expect("readable");
            let path = format!("{below}{}", entry.file_name().to_str().expect("UTF-8"));
            match entry.path().is_dir() {
                true => on_disk(&entry.path(), &format!("{path}/"), found),
                false => drop(found.insert(path)),
            }
        }
    }

    #[test]
    fn no_file_is_forgotten() {
        for (directory, table) in [("shared", SHARED), ("typescript", TYPESCRIPT), ("javascript", JAVASCRIPT)] {
            let mut expected = BTreeSet::new();
            let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("javascript").join(directory);
            on_disk(&directory, "", &mut expected);
            assert_eq!(table.iter().map(|(path, _)| (*path).to_owned()).collect::<BTreeSet<_>>(), expected);
        }
    }

    #[test]
    fn a_new_project_is_named_throughout() {
        let name = ProjectName::parse("look_up_order").expect("a good name");
        for (own, entry) in [(TYPESCRIPT, "index.ts"), (JAVASCRIPT, "index.js")] {
            let files = project(&name, own);
            let text = |path: &str| {
                let file = files.iter().find(|file| file.path == path).expect(path);
                String::from_utf8(file.bytes.to_vec()).expect("text")
            };
            assert!(text("package.json").contains("\"name\": \"look_up_order\""));
            assert!(text(entry).starts_with("// look_up_order: "));
            for file in &files {
                assert!(!text(&file.path).contains("{{"), "{} has a placeholder left", file.path);
            }
        }
    }
}
