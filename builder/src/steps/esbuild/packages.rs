//! The author's code without its packages, and the packages without it.
//!
//! The first asks for the second by name (`require`), and gets what its imports would have got: which form of a package they
//! get and what its default is depends on who imports it, so a file that stands where the author's do imports each package
//! for it. Whatever is unusual about a project makes it one script of everything instead.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

use runner::SourceFile;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{APART, Esbuild, PACKAGES, SCRIPT, Site, Sources, blocking, run, taken};
use crate::error::Error;
use crate::sandbox::ScratchDirectory;

const PROJECT_FILE: &str = "package.json";
const META: &str = ".lathe-meta.json";
/// A static import: what it gets is the same wherever it stands.
const STATIC: &str = "import-statement";
/// Files of these are importers of a kind of their own, wherever they lie.
const OTHER_KINDS: [&str; 4] = [".mjs", ".mts", ".cjs", ".cts"];
const ENTRY: &str = ".lathe-packages.js";

/// An author's code.
pub struct Apart {
    pub script: Vec<SourceFile>,
    /// What it imports of packages.
    pub imports: Vec<String>,
    /// Of which kind its files are, as importers.
    pub importer: String,
}

/// What esbuild tells of what it read.
#[derive(Deserialize)]
struct Meta {
    inputs: BTreeMap<String, Input>,
}

#[derive(Deserialize)]
struct Input {
    imports: Vec<Import>,
}

#[derive(Deserialize)]
struct Import {
    path: String,
    kind: String,
    #[serde(default)]
    external: bool,
}

/// The author's code alone; nothing when it has to be one script with its packages, or when there is something wrong with
/// it, which is then found there.
///
/// # Errors
/// When the machine fails.
pub async fn apart(esbuild: &Esbuild, site: Site<'_>, sources: &Sources<'_>) -> Result<Option<Apart>, Error> {
    // What is in the packages does not matter yet.
    let mut sources = Sources { entry_point: sources.entry_point, files: sources.files.clone(), packages: Vec::new() };
    let Some(importer) = made_plain(&mut sources.files) else { return Ok(None) };
    let meta = format!("--metafile={META}");
    let Ok(scratch) = run(esbuild, site, sources, &[APART.as_slice(), &[&meta]].concat()).await else {
        return Ok(None);
    };
    blocking(move || read(&scratch, importer)).await
}

/// All that is imported of the packages, in one script that loads each when it is asked for by name.
///
/// # Errors
/// When a package cannot be bundled, or is not there.
pub async fn alone(
    esbuild: &Esbuild,
    site: Site<'_>,
    sources: &Sources<'_>,
    imports: &[String],
) -> Result<SourceFile, Error> {
    let mut files: Vec<_> = sources.files.iter().filter(|file| file.path == PROJECT_FILE).cloned().collect();
    let mut loaders = Vec::new();
    for (index, name) in imports.iter().enumerate() {
        let name = Value::from(name.as_str());
        let text = format!("import * as all from {name};\nexport {{ all }};\n");
        files.push(SourceFile { path: format!(".lathe-package-{index}.js"), contents: text.into_bytes() });
        loaders.push(format!("[{name}, () => require('./.lathe-package-{index}.js').all]"));
    }
    let entry = include_str!("packages.js").replace("[/* loaders */]", &format!("[{}]", loaders.join(",")));
    files.push(SourceFile { path: ENTRY.into(), contents: entry.into_bytes() });
    let sources = Sources { entry_point: ENTRY, files, packages: sources.packages.clone() };
    let scratch = run(esbuild, site, sources, &[]).await?;
    let made = blocking(move || taken(&scratch)).await?;
    made.into_iter().find(|file| file.path == SCRIPT).ok_or_else(|| Error::internal("esbuild made no script"))
}

/// Makes all files importers of one kind, if they are: what they get of a package is settled elsewhere. Which kind that
/// was is the answer.
fn made_plain(files: &mut [SourceFile]) -> Option<String> {
    let is_other = |path: &str| OTHER_KINDS.iter().any(|kind| path.ends_with(kind)) || path.ends_with("/package.json");
    if files.iter().any(|file| is_other(&file.path)) {
        return None;
    }
    let file = files.iter_mut().find(|file| file.path == PROJECT_FILE)?;
    let mut fields: Map<String, Value> = serde_json::from_slice(&file.contents).ok()?;
    let kind = fields.remove("type").unwrap_or_default();
    file.contents = Value::Object(fields).to_string().into_bytes();
    Some(kind.to_string())
}

fn read(scratch: &ScratchDirectory, importer: String) -> io::Result<Option<Apart>> {
    let meta: Meta = serde_json::from_slice(&fs::read(scratch.path().join(META))?).map_err(io::Error::other)?;
    if meta.inputs.keys().any(|path| path.starts_with(PACKAGES)) {
        return Ok(None); // what the author committed there
    }
    let imports = meta.inputs.into_values().flat_map(|input| input.imports).filter(|import| import.external);
    let (mut names, mut is_static) = (BTreeSet::new(), true);
    for import in imports {
        is_static &= import.kind == STATIC;
        names.insert(import.path);
    }
    if names.is_empty() || !is_static {
        return Ok(None);
    }
    Ok(Some(Apart { script: taken(scratch)?, imports: names.into_iter().collect(), importer }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_projects_of_one_kind_of_importer_are_taken_apart() {
        let file = |path: &str, text: &str| SourceFile { path: path.into(), contents: text.into() };
        let project = file("package.json", r#"{"type": "module", "name": "x"}"#);
        let mut files = [project.clone(), file("index.ts", "")];
        assert_eq!(made_plain(&mut files).as_deref(), Some("\"module\""));
        assert_eq!(files[0].contents, br#"{"name":"x"}"#);
        for other in ["index.mts", "lib/a.cjs", "lib/package.json"] {
            assert!(made_plain(&mut [project.clone(), file(other, "{}")]).is_none(), "{other}");
        }
        assert!(made_plain(&mut [file("package.json", "no JSON")]).is_none());
    }
}
