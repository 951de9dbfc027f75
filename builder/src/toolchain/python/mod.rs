//! Python: a bundle of code objects for the language's image, or for a snapshot of it with the project's packages.

mod apis;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use registry::Language;
use runner::{Bundle, NativeCode, Project as Sources, SourceFile};

use super::project::{Project, ToolchainOutput};
use super::shared::ToolchainParts;
use crate::component::BuiltArtifact;
use crate::config::Config;
use crate::conventions::{PYTHON, PYTHON_IMAGE};
use crate::error::Error;
use crate::images::{Images, ReadyImage};
use crate::progress::BuildProgress;
use crate::snapshots::{SnapshotInputs, Snapshots};
use crate::steps::bundle::packages::{PYTHON_MODULES, Packages};
use crate::steps::bundle::{self, BundledProject};
use crate::steps::dependencies::{Fetched, Packages as PythonPackages};
use crate::steps::documents::Documents;
use crate::steps::foreign_locks::explain_python;
use crate::steps::lock;
use crate::steps::manifest::{Manifest, Value};
use crate::text::show;

/// Extras and groups that the log names.
const OPTIONAL_NAMED_MAX: usize = 10;

/// The toolchain of Python.
#[derive(Clone)]
pub struct Python {
    images: Images,
    snapshots: Snapshots,
    packages: PythonPackages,
    bundler: Arc<[String]>,
}

impl Python {
    /// # Errors
    /// When the system's certificates cannot be used.
    pub fn new(config: &Config, shared: &ToolchainParts) -> Result<Self, Error> {
        let packages = PythonPackages::new(config.python_index.as_deref(), &config.cache_dir, &config.parser)?;
        let ToolchainParts { images, snapshots, .. } = shared.clone();
        Ok(Self { images, snapshots, packages, bundler: config.bundler.as_slice().into() })
    }

    /// # Errors
    /// When a package cannot be fetched, or the code does not compile or import.
    pub async fn make(&self, project: Project<'_>, progress: &BuildProgress) -> Result<ToolchainOutput, Error> {
        let Project { manifest, documents, files, derive_schema, .. } = project;
        if let Some(line) = find_optional(documents) {
            progress.line(line);
        }
        let ReadyImage { image, code } =
            progress.run_step("image", self.images.prepare_with_progress(Language::Python, progress)).await?;
        let fetch = self.packages.fetch(manifest, &files, progress);
        let fetched = progress.run_step("dependencies", fetch).await?;
        let snapshot = match separate_packages(&files, &fetched) {
            Some(packages) => {
                let component = PYTHON_IMAGE.unpack;
                let of = SnapshotInputs { image: &image, code: &code, component, packages };
                progress.run_step("snapshot", self.snapshots.get(of, progress)).await?
            }
            None => None,
        };
        let foreign = if files.contains_key(lock::FILE) { None } else { explain_python(&files) };
        let files = files.into_iter().map(|(path, contents)| SourceFile { path, contents }).collect();
        let dependencies = if snapshot.is_some() { Vec::new() } else { fetched.files };
        let project = Sources { entry_point: manifest.entry_point.clone(), files, dependencies };
        let code = snapshot.as_ref().map_or(&code, |snapshot| &snapshot.code);
        let made = self.build_bundle(code, manifest, BundledProject { project, derive_schema });
        let made =
            async { made.await.map_err(|error| explain_error(error, &fetched.without_native, foreign.as_deref())) };
        let made = progress.run_step("compile", made).await?;
        let artifact = match &snapshot {
            Some(snapshot) => BuiltArtifact::of_snapshot(snapshot, made.bytes),
            None => BuiltArtifact::of_image(&image, made.bytes),
        };
        Ok(ToolchainOutput { artifact, packages: fetched.packages, input_schema: made.input_schema })
    }
}

impl Python {
    /// Compiles a project. With APIs, the schema is a report about them, which another bundle makes.
    async fn build_bundle(
        &self,
        code: &NativeCode,
        manifest: &Manifest,
        source: BundledProject,
    ) -> Result<Bundle, Error> {
        let BundledProject { project, derive_schema } = source;
        let bundle =
            |project, derive_schema| bundle::bundle(code, &self.bundler, BundledProject { project, derive_schema });
        match apis::add_report(manifest, &project)? {
            None => bundle(project, derive_schema).await,
            Some(reporting) => {
                let input_schema = bundle(reporting, true).await?.input_schema;
                let dispatching = bundle(apis::add_dispatch(manifest, project)?, false).await?;
                Ok(Bundle { input_schema: apis::report(input_schema)?, ..dispatching })
            }
        }
    }
}

/// A line of the log about extras and groups. The command that makes the lock file decides about them.
fn find_optional(documents: &Documents) -> Option<String> {
    const TABLES: [(&str, &[&str]); 2] =
        [("extras", &["project", "optional-dependencies"]), ("groups", &["dependency-groups"])];
    let file = PYTHON.file;
    let document = documents.get(file, "dependencies").ok()??;
    let listed = |(kind, path): (&str, &[&str])| {
        let Value::Table(table) = &document.find(path)?.value else { return None };
        let names: Vec<_> = table.keys().take(OPTIONAL_NAMED_MAX).map(|name| show(name)).collect();
        (!names.is_empty()).then(|| format!("{kind} ({})", names.join(", ")))
    };
    let listed: Vec<_> = TABLES.into_iter().filter_map(listed).collect();
    (!listed.is_empty())
        .then(|| format!("{file}: {} are used only as far as {} has their packages", listed.join(" and "), lock::FILE))
}

/// Names the packages whose native files are left out in the refusal of an import, which may need them, and a lock file of another tool,
/// whose packages are not there.
fn explain_error(error: Error, without_native: &[String], foreign: Option<&str>) -> Error {
    match error {
        Error::Failed { stage, check, message, location } if check == "import" && foreign.is_some() => {
            let message = format!("{message}; {}", foreign.unwrap_or_default());
            Error::Failed { stage, check, message, location }
        }
        Error::Failed { stage, check, message, location } if check == "import" && !without_native.is_empty() => {
            let message = format!(
                "{message}; a tool loads no native code, which these packages have: {}",
                without_native.join(", ")
            );
            Error::Failed { stage, check, message, location }
        }
        other => other,
    }
}

/// The packages that a snapshot loads, if the project has any and shadows none of them.
fn separate_packages(files: &BTreeMap<String, Vec<u8>>, fetched: &Fetched) -> Option<Packages> {
    if fetched.files.is_empty() || shadows(files, &fetched.files) {
        return None;
    }
    let (files, imports) = (fetched.files.clone(), fetched.imports.clone());
    Some(Packages { language: Language::Python, files, imports })
}

/// Whether a module of the project has the name of a package's module. Imports then mean the project's module, which a
/// snapshot with the packages already imported could not provide.
fn shadows(files: &BTreeMap<String, Vec<u8>>, packages: &[SourceFile]) -> bool {
    let first = |path: &str| path.split('/').next().unwrap_or_default().trim_end_matches(".py").to_owned();
    let mut taken: BTreeSet<_> = packages.iter().map(|file| first(&file.path)).collect();
    taken.extend(PYTHON_MODULES.map(String::from));
    files.keys().any(|path| taken.contains(&first(path.strip_prefix(apis::SOURCE_ROOT).unwrap_or(path))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extras_and_groups_are_named_in_the_log() {
        let line = |more: &str| {
            let text = format!("[project]\nname = \"x\"\n{more}");
            let files = BTreeMap::from([("pyproject.toml".to_owned(), text.into_bytes())]);
            find_optional(&Documents::parse_here(&files).unwrap())
        };
        let both =
            "[project.optional-dependencies]\npdf = [\"a\"]\nall = [\"b\"]\n[dependency-groups]\ndev = [\"c\"]\n";
        let expected = "pyproject.toml: extras (all, pdf) and groups (dev) are used only as far as requirements.lock has their packages";
        assert_eq!(line(both).as_deref(), Some(expected));
        assert_eq!(line(""), None);
    }

    #[test]
    fn a_module_of_the_project_shadows_a_package_of_the_same_name() {
        let shadows = |file: &str| {
            let file_of = |path: &str| SourceFile { path: path.into(), contents: Vec::new() };
            let packages = ["requests/__init__.py", "six.py"].map(file_of);
            super::shadows(&BTreeMap::from([(file.to_owned(), Vec::new())]), &packages)
        };
        for file in ["six.py", "src/six.py", "requests.py", "requests/more.py", "six/__init__.py", "lathe_preload.py"] {
            assert!(shadows(file), "{file}");
        }
        for file in ["main.py", "tool/six.py", "tool/requests/x.py", "sixteen.py", "pyproject.toml"] {
            assert!(!shadows(file), "{file}");
        }
    }
}
