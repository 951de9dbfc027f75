//! Python: a bundle of code objects for the image, or for one that has the packages in it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use registry::Language;
use runner::{NativeCode, Project as Sources, SourceFile};

use super::{Made, Project};
use crate::component::Artefact;
use crate::error::Error;
use crate::progress::Progress;
use crate::snapshots::{Ingredients, Snapshot};
use crate::steps::bundle::{self, packages::PYTHON_MODULES};
use crate::steps::dependencies::Fetched;
use crate::workbench::Workbench;

/// Where a project keeps its modules, besides its root.
const SOURCE_ROOT: &str = "src/";

/// # Errors
/// When a package cannot be had, or the code does not compile or import.
pub async fn make(project: Project<'_>, workbench: &Workbench, progress: &Progress) -> Result<Made, Error> {
    let Project { manifest, files, derive_schema } = project;
    let code = progress.step("image", workbench.images.python_code()).await?;
    let fetch = workbench.packages.fetch(manifest, &files, progress);
    let fetched = progress.step("dependencies", fetch).await?;
    let snapshot = snapshot(&files, &code, &fetched, workbench, progress).await?;
    let files = files.into_iter().map(|(path, contents)| SourceFile { path, contents }).collect();
    let dependencies = if snapshot.is_some() { Vec::new() } else { fetched.files };
    let sources = Sources { entry_point: manifest.entry_point.clone(), files, dependencies };
    let code = snapshot.as_ref().map_or(&code, |snapshot| &snapshot.code);
    let bundle = bundle::bundle(code, &workbench.config.bundler, sources, derive_schema);
    let made = progress.step("compile", bundle).await?;
    let artefact = match &snapshot {
        Some(snapshot) => Artefact::of_snapshot(snapshot, made.bytes),
        None => Artefact::of_image(workbench.images.python(), made.bytes),
    };
    Ok(Made { artefact, packages: fetched.packages, input_schema: made.input_schema })
}

/// The image with the project's packages in it, if there are any.
async fn snapshot(
    files: &BTreeMap<String, Vec<u8>>,
    code: &Arc<NativeCode>,
    fetched: &Fetched,
    workbench: &Workbench,
    progress: &Progress,
) -> Result<Option<Snapshot>, Error> {
    if fetched.files.is_empty() || meet(files, &fetched.files) {
        return Ok(None);
    }
    let ingredients = Ingredients {
        language: Language::Python,
        image: workbench.images.python(),
        code,
        component: python_image::component,
        packages: &fetched.packages,
        imports: fetched.imports.clone(),
        importer: "",
    };
    let files = async || Some(fetched.files.clone());
    progress.step("snapshot", workbench.snapshots.get(ingredients, files, progress)).await
}

/// Whether a module of the project has the name of a package's: the project's is meant then, and it comes too late for
/// packages that are imported before.
fn meet(files: &BTreeMap<String, Vec<u8>>, packages: &[SourceFile]) -> bool {
    let first = |path: &str| path.split('/').next().unwrap_or_default().trim_end_matches(".py").to_owned();
    let mut taken: BTreeSet<_> = packages.iter().map(|file| first(&file.path)).collect();
    taken.extend(PYTHON_MODULES.map(String::from));
    files.keys().any(|path| taken.contains(&first(path.strip_prefix(SOURCE_ROOT).unwrap_or(path))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_of_the_project_that_is_called_like_a_package_is_noticed() {
        let meet = |file: &str| {
            let file_of = |path: &str| SourceFile { path: path.into(), contents: Vec::new() };
            let packages = ["requests/__init__.py", "six.py"].map(file_of);
            super::meet(&BTreeMap::from([(file.to_owned(), Vec::new())]), &packages)
        };
        for file in ["six.py", "src/six.py", "requests.py", "requests/more.py", "six/__init__.py", "lathe_preload.py"] {
            assert!(meet(file), "{file}");
        }
        for file in ["main.py", "tool/six.py", "tool/requests/x.py", "sixteen.py", "pyproject.toml"] {
            assert!(!meet(file), "{file}");
        }
    }
}
