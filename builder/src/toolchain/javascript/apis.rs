//! The entry file that the builder adds to a JavaScript tool with APIs. It dispatches calls, and reports the functions and the
//! schemas at the build.

use runner::SourceFile;
use serde_json::json;

use crate::error::{Error, Location};
use crate::steps::manifest::Manifest;

const ENTRY: &str = ".lathe-apis.js";

/// Adds the entry file, and returns the name of the file to bundle. A tool of one function has its own.
///
/// # Errors
/// When the author's entry file is missing.
pub fn add_entry_file(manifest: &Manifest, files: &mut Vec<SourceFile>) -> Result<String, Error> {
    let own = &manifest.entry_point;
    if manifest.apis.is_empty() {
        return Ok(own.clone());
    }
    if !files.iter().any(|file| file.path == *own) {
        let message = "the file is missing: set `entry_point` to the one that exports the functions of the APIs";
        return Err(Error::failed("bundle", "entry-point", message).at(Location::file(own)));
    }
    let names: Vec<_> = manifest.apis.keys().collect();
    let described = manifest.apis.iter().filter(|(_, api)| api.input_schema.is_some()).map(|(name, _)| name);
    let described: Vec<_> = described.collect();
    let text = include_str!("apis/entry.js")
        .replace("'the entry file'", &json!(own).to_string())
        .replace("'./the entry file'", &json!(format!("./{own}")).to_string())
        .replace("[/* names */]", &json!(names).to_string())
        .replace("[/* described */]", &json!(described).to_string());
    if files.iter().any(|file| file.path == ENTRY) {
        let message = "the builder adds this file to a tool with APIs; choose another name";
        return Err(Error::failed("bundle", "entry-point", message).at(Location::file(ENTRY)));
    }
    files.push(SourceFile { path: ENTRY.into(), contents: text.into_bytes() });
    Ok(ENTRY.to_owned())
}
