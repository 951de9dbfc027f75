//! The crate index of cargo: crates.io, or the sparse index that replaces it.

use std::path::PathBuf;

use toml::{Table, Value};

use super::host::Host;
use super::registry::Registry;

pub const PUBLIC: &str = "crates.io";
/// The scheme of cargo's sparse indices. Other indices are git repositories, which builds do not read.
const SPARSE: &str = "sparse+";

pub fn find_index(host: &Host) -> Registry {
    let home = host.read_variable("CARGO_HOME").map(PathBuf::from).or_else(|| host.find_in_home(".cargo"));
    let files = ["config.toml", "config"].map(|name| home.as_ref().map(|home| home.join(name)));
    let found = find_in_variables(host).or_else(|| host.find_configured(files, find_in_file));
    found.filter(|found| found.url.starts_with(SPARSE)).unwrap_or_else(|| Registry::public(PUBLIC))
}

fn find_in_variables(host: &Host) -> Option<Registry> {
    let name = host.read_variable("CARGO_SOURCE_CRATES_IO_REPLACE_WITH")?.to_uppercase().replace('-', "_");
    host.find_named(&[&format!("CARGO_SOURCE_{name}_REGISTRY"), &format!("CARGO_REGISTRIES_{name}_INDEX")])
}

fn find_in_file(text: &str) -> Option<String> {
    let file: Table = text.parse().ok()?;
    let text = |path: [&str; 3]| file.get(path[0])?.get(path[1])?.get(path[2]).and_then(Value::as_str);
    let name = text(["source", "crates-io", "replace-with"])?;
    text(["source", name, "registry"]).or_else(|| text(["registries", name, "index"])).map(str::to_owned)
}
