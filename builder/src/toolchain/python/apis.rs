//! The modules that the builder adds to a Python tool with APIs: one that dispatches calls, and one that reports the functions
//! and schemas at the build.

use std::collections::BTreeMap;

use runner::{Project, SourceFile};
use serde::Deserialize;
use serde_json::json;

use crate::error::{Error, Location};
use crate::steps::manifest::Manifest;

/// The directory of a project's modules, beside its root.
pub const SOURCE_ROOT: &str = "src/";
/// The module that dispatches calls. It is part of the bundle.
const DISPATCH: &str = "lathe_apis";
/// The module that reports. It is part of no version.
const REPORT: &str = "lathe_api_report";

/// The project with the module that dispatches calls as its entry point.
///
/// # Errors
/// When the project has a module of the same name.
pub fn add_dispatch(manifest: &Manifest, project: Project) -> Result<Project, Error> {
    add_module(project, DISPATCH, &add_functions(include_str!("apis/dispatch.py"), manifest))
}

/// The project with the module that reports as its entry point. `None` for a tool of one function.
///
/// # Errors
/// When the project has a module of the same name.
pub fn add_report(manifest: &Manifest, project: &Project) -> Result<Option<Project>, Error> {
    if manifest.apis.is_empty() {
        return Ok(None);
    }
    let described = manifest.apis.iter().filter(|(_, api)| api.input_schema.is_some()).map(|(name, _)| name);
    let described: Vec<_> = described.collect();
    let report = add_functions(include_str!("apis/report.py"), manifest);
    let report = report.replace("_DESCRIBED = []", &format!("_DESCRIBED = {}", json!(described)));
    add_module(project.clone(), REPORT, &report).map(Some)
}

/// The report in a derived schema.
///
/// # Errors
/// When the schema is malformed.
pub fn report(schema: Option<String>) -> Result<Option<String>, Error> {
    // The author's code ran in the same process, and may have changed the text.
    let malformed = |error| Error::failed("compile", "apis", format!("the code does not tell its functions: {error}"));
    let schema: Described = serde_json::from_str(&schema.unwrap_or_default()).map_err(malformed)?;
    Ok(Some(schema.description))
}

/// A schema whose description is the report.
#[derive(Deserialize)]
struct Described {
    description: String,
}

/// A module with the module and the function of each API, in a text that is JSON and Python.
fn add_functions(text: &str, manifest: &Manifest) -> String {
    let functions = manifest.apis.iter().map(|(name, api)| (name, (&api.function.module, &api.function.name)));
    let functions = json!(functions.collect::<BTreeMap<_, _>>());
    text.replace("_FUNCTIONS = {}", &format!("_FUNCTIONS = {functions}"))
}

fn add_module(mut project: Project, module: &str, text: &str) -> Result<Project, Error> {
    let path = format!("{module}.py");
    let is_same = |file: &&SourceFile| {
        let own = file.path.strip_prefix(SOURCE_ROOT).unwrap_or(&file.path);
        own == path || own.split('/').next() == Some(module)
    };
    if let Some(file) = project.files.iter().find(is_same) {
        let message = format!("the builder adds a module {module} to a tool with APIs; choose another name");
        return Err(Error::failed("compile", "module-name", message).at(Location::file(&file.path)));
    }
    project.dependencies.push(SourceFile { path, contents: text.as_bytes().to_vec() });
    project.entry_point = format!("{module}:run_tool");
    Ok(project)
}
