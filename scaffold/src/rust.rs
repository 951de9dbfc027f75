//! A new project in Rust: the template, and the package for tools as a directory of it. So a commit contains all of its
//! sources except public crates, and builds the same with a later release.

use std::borrow::Cow;

use crate::embedded::rendered;
use crate::{Error, File, ProjectName};

/// The directory of the package in a project.
const PACKAGE_DIRECTORY: &str = "lathe";
const LOCK_FILE: &str = "Cargo.lock";
const PACKAGE_HEAD: &str = "[[package]]\n";

macro_rules! embedded {
    ($root:literal, $($path:literal),+ $(,)?) => {
        &[$(($path, include_bytes!(concat!("../rust/", $root, "/", $path)).as_slice())),+]
    };
}

const TEMPLATE: &[(&str, &[u8])] =
    embedded!["template", ".gitignore", "Cargo.lock", "Cargo.toml", "README.md", "checks/example.json", "src/lib.rs"];

const PACKAGE: &[(&str, &[u8])] = embedded![
    "sdk",
    "Cargo.toml",
    "src/apis.rs",
    "src/bindings.rs",
    "src/content.rs",
    "src/context.rs",
    "src/entry_point.rs",
    "src/error.rs",
    "src/host.rs",
    "src/http.rs",
    "src/interaction.rs",
    "src/json.rs",
    "src/json/names.rs",
    "src/json/unserialisable.rs",
    "src/lib.rs",
    "src/log.rs",
    "src/runtime.rs",
    "src/status.rs",
    "src/testing.rs",
    "src/tools.rs",
];

/// The files of a working project, with paths relative to the project's own directory.
pub(crate) fn project(name: &ProjectName) -> Result<Vec<File>, Error> {
    let name = crate_name(name)?;
    let from_template = |(path, bytes): &(&str, &'static [u8])| {
        let text = rendered(bytes, name);
        File { path: (*path).to_owned(), bytes: if *path == LOCK_FILE { sorted(&text) } else { text } }
    };
    let of_package = |(path, bytes): &(&str, &'static [u8])| {
        File { path: (*path).to_owned(), bytes: Cow::Borrowed(*bytes) }.below(PACKAGE_DIRECTORY)
    };
    Ok(TEMPLATE.iter().map(from_template).chain(PACKAGE.iter().map(of_package)).collect())
}

/// Checks the rules of Cargo for names. A project cannot contain two crates with the same name.
fn crate_name(name: &ProjectName) -> Result<&str, Error> {
    let refuse = |reason| Err(Error::BadProjectName { name: name.to_string(), reason });
    let lock = TEMPLATE.iter().find(|(path, _)| *path == LOCK_FILE).map_or(&[][..], |(_, bytes)| *bytes);
    let taken = format!("name = \"{name}\"\n");
    if !name.as_str().starts_with(|first: char| first.is_ascii_lowercase()) {
        return refuse("a crate's name begins with a letter");
    }
    if String::from_utf8_lossy(lock).contains(&taken) {
        return refuse("a crate that the project uses has this name");
    }
    Ok(name.as_str())
}

/// Sorts the packages of a lock file by name. Cargo treats a lock file with another order as changed.
fn sorted(lock: &[u8]) -> Cow<'static, [u8]> {
    let text = String::from_utf8_lossy(lock).into_owned();
    let mut parts = text.split(PACKAGE_HEAD);
    let head = parts.next().unwrap_or_default();
    let mut packages: Vec<&str> = parts.map(str::trim_end).collect();
    packages.sort_unstable_by_key(|package| package.lines().next());
    let packages: Vec<String> = packages.into_iter().map(|package| format!("{PACKAGE_HEAD}{package}\n")).collect();
    format!("{head}{}", packages.join("\n")).into_bytes().into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    fn named(name: &str) -> Result<Vec<File>, Error> {
        project(&ProjectName::parse(name).expect("a name"))
    }

    fn on_disk(directory: &Path, prefix: &str, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(directory).expect("a directory") {
            let entry = entry.expect("an entry");
            let name = entry.file_name().into_string().expect("UTF-8");
            match entry.file_type().expect("a type").is_dir() {
                true if name == "target" => {}
                true => on_disk(&entry.path(), &format!("{prefix}{name}/"), found),
                false => drop(found.insert(format!("{prefix}{name}"))),
            }
        }
    }

    #[test]
    fn no_file_is_forgotten() {
        for (directory, table) in [("template", TEMPLATE), ("sdk", PACKAGE)] {
            let mut expected = BTreeSet::new();
            on_disk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("rust").join(directory), "", &mut expected);
            // A local cargo command may have created it.
            expected.retain(|path| directory != "sdk" || path != LOCK_FILE);
            assert_eq!(table.iter().map(|(path, _)| (*path).to_owned()).collect::<BTreeSet<_>>(), expected);
        }
    }

    #[test]
    fn a_new_project_is_named_throughout_and_its_lock_file_stays_sorted() {
        for name in ["a", "look_up_order", "zz"] {
            let files = named(name).expect("a project");
            let text = |path: &str| {
                let file = files.iter().find(|file| file.path == path).expect(path);
                String::from_utf8(file.bytes.to_vec()).expect("text")
            };
            assert!(text("Cargo.toml").contains(&format!("name = \"{name}\"")));
            assert!(files.iter().all(|file| !text(&file.path).contains("{{tool_name}}")));
            let lock = text("Cargo.lock");
            let names: Vec<&str> = lock.lines().filter_map(|line| line.strip_prefix("name = ")).collect();
            assert!(names.is_sorted() && names.contains(&&*format!("\"{name}\"")), "{names:?}");
            assert!(lock.ends_with("]\n") || lock.ends_with("\"\n"), "{lock}");
        }
    }

    #[test]
    fn names_that_cargo_does_not_take_are_refused() {
        for (name, reason) in [("2nd", "begins with a letter"), ("serde", "has this name"), ("lathe", "has this name")]
        {
            let error = named(name).expect_err(name).to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn the_package_has_the_version_of_the_workspace() {
        let (_, manifest) = PACKAGE[0];
        let expected = format!("\nversion = \"{}\"\n", crate::VERSION);
        assert!(String::from_utf8_lossy(manifest).contains(&expected));
    }
}
