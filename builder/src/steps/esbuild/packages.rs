//! Bundles the author's code and its packages into two separate scripts.
//!
//! The author's script loads packages by name (`require`) and gets the same modules as with imports. The build of a
//! package that an import gets, and its default export, depend on the importing file, so a generated file beside the
//! author's files imports each package. An unusual project is bundled into a single script instead.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

use runner::SourceFile;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{APART, Bundler, PACKAGES, REQUIRE, SCRIPT, Sources, run, take_outputs};
use crate::blocking::blocking;
use crate::decoded_text::decode_text;
use crate::error::Error;
use crate::sandbox::ScratchDirectory;

const PROJECT_FILE: &str = "package.json";
const META: &str = ".lathe-meta.json";
/// The kind of static imports, whose result does not depend on their position.
const STATIC: &str = "import-statement";
/// Extensions of files that have their own kind of importer, whatever their directory.
const OTHER_KINDS: [&str; 4] = [".mjs", ".mts", ".cjs", ".cts"];
const ENTRY: &str = ".lathe-packages.js";

/// The author's code without its packages.
pub struct SeparateBundle {
    pub script: Vec<SourceFile>,
    /// The package modules that the code imports.
    pub imports: Vec<String>,
    /// The kind of importer of the project's files: the `type` in package.json.
    importer: Importer,
}

/// The two kinds of importing modules. A package may have a different build for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Importer {
    Module,
    CommonJs,
}

impl Importer {
    /// A package.json that contains only the kind of importer.
    const fn project_file(self) -> &'static str {
        match self {
            Self::Module => r#"{"type":"module"}"#,
            Self::CommonJs => "{}",
        }
    }
}

/// Esbuild's metafile about its inputs.
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

/// Bundles the author's code alone. `None` when it must be bundled together with its packages, or when esbuild refuses
/// it; the joint bundling then reports the error.
///
/// # Errors
/// When the output of esbuild cannot be read.
pub async fn bundle_project(bundler: Bundler<'_>, sources: &Sources<'_>) -> Result<Option<SeparateBundle>, Error> {
    // The contents of the packages are not needed yet.
    let (mut files, entry_point) = (sources.files.clone(), sources.entry_point);
    let (importer, files) = blocking(move || (take_importer_kind(&mut files), files)).await?;
    let Some(importer) = importer else { return Ok(None) };
    let sources = Sources { entry_point, files, packages: Vec::new() };
    let meta = format!("--metafile={META}");
    let Ok(scratch) = run(bundler, sources, &[APART.as_slice(), &[&meta]].concat()).await else {
        return Ok(None);
    };
    blocking(move || read(&scratch, importer)).await?.map_err(Error::internal)
}

/// Bundles all imported package modules into one script that loads each by name on demand. The script depends only on
/// the imported names and the kind of importer: with its own package.json, or any other file, a project could change
/// the contents of the packages.
///
/// # Errors
/// When a package cannot be bundled, or is missing.
pub async fn bundle_packages(
    bundler: Bundler<'_>,
    sources: &Sources<'_>,
    apart: &SeparateBundle,
) -> Result<SourceFile, Error> {
    let mut files = vec![SourceFile { path: PROJECT_FILE.into(), contents: apart.importer.project_file().into() }];
    let mut loaders = Vec::new();
    for (index, name) in apart.imports.iter().enumerate() {
        let name = Value::from(name.as_str());
        let text = format!("import * as all from {name};\nexport {{ all }};\n");
        files.push(SourceFile { path: format!(".lathe-package-{index}.js"), contents: text.into_bytes() });
        loaders.push(format!("[{name}, () => require('./.lathe-package-{index}.js').all]"));
    }
    let entry = include_str!("packages.js").replace("[/* loaders */]", &format!("[{}]", loaders.join(",")));
    files.push(SourceFile { path: ENTRY.into(), contents: entry.into_bytes() });
    let sources = Sources { entry_point: ENTRY, files, packages: sources.packages.clone() };
    let scratch = run(bundler, sources, &[REQUIRE]).await?;
    let made = blocking(move || take_outputs(&scratch)).await?.map_err(Error::internal)?;
    made.into_iter().find(|file| file.path == SCRIPT).ok_or_else(|| Error::internal("esbuild made no script"))
}

/// Removes the kind of importer from package.json and returns it. `None` when files have their own kind, or
/// package.json is missing or malformed.
fn take_importer_kind(files: &mut [SourceFile]) -> Option<Importer> {
    let is_other = |path: &str| OTHER_KINDS.iter().any(|kind| path.ends_with(kind)) || path.ends_with("/package.json");
    if files.iter().any(|file| is_other(&file.path)) {
        return None;
    }
    let file = files.iter_mut().find(|file| file.path == PROJECT_FILE)?;
    let mut fields: Map<String, Value> = serde_json::from_str(decode_text(&file.contents).ok()?).ok()?;
    let kind = fields.remove("type");
    file.contents = Value::Object(fields).to_string().into_bytes();
    Some(if kind.is_some_and(|kind| kind == "module") { Importer::Module } else { Importer::CommonJs })
}

fn read(scratch: &ScratchDirectory, importer: Importer) -> io::Result<Option<SeparateBundle>> {
    match read_imports(&fs::read(scratch.path().join(META))?)? {
        Some(imports) => Ok(Some(SeparateBundle { script: take_outputs(scratch)?, imports, importer })),
        None => Ok(None),
    }
}

/// The package modules that a metafile lists. `None` when the project must be bundled as a whole.
pub fn read_imports(meta: &[u8]) -> io::Result<Option<Vec<String>>> {
    let meta: Meta = serde_json::from_slice(meta).map_err(io::Error::other)?;
    if meta.inputs.keys().any(|path| path.starts_with(PACKAGES)) {
        return Ok(None); // The author committed files to `node_modules/`.
    }
    let imports = meta.inputs.into_values().flat_map(|input| input.imports).filter(|import| import.external);
    let (mut names, mut is_static) = (BTreeSet::new(), true);
    for import in imports {
        is_static &= import.kind == STATIC;
        names.insert(import.path);
    }
    Ok((!names.is_empty() && is_static).then(|| names.into_iter().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_projects_of_one_kind_of_importer_are_taken_apart() {
        let file = |path: &str, text: &str| SourceFile { path: path.into(), contents: text.into() };
        let project = file("package.json", r#"{"type": "module", "name": "x"}"#);
        let mut files = [project.clone(), file("index.ts", "")];
        assert_eq!(take_importer_kind(&mut files), Some(Importer::Module));
        assert_eq!(files[0].contents, br#"{"name":"x"}"#);
        for other in ["index.mts", "lib/a.cjs", "lib/package.json"] {
            assert!(take_importer_kind(&mut [project.clone(), file(other, "{}")]).is_none(), "{other}");
        }
        assert!(take_importer_kind(&mut [file("package.json", "no JSON")]).is_none());
    }
}
