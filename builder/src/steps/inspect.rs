//! Compares a component's imports and exports with those that the platform grants.

mod signature;
mod tool;
mod world;

use wasmparser::types::Types;
use wasmparser::{Encoding, Parser, Payload, Validator, WasmFeatures};
use wit_component::DecodedWasm;

use crate::error::Error;

pub use tool::inspect_tool;
pub use world::read_world;

const STAGE: &str = "inspect";
/// The function that the host calls.
const ENTRY_POINT: &str = "run-tool";

/// The interfaces that a language's image may import. The file system is linked and empty, and the host refuses every
/// operation on sockets. Language runtimes import both at startup.
const GRANTED_TO_IMAGES: [&str; 15] = [
    "lathe:tool/bundle",
    "lathe:tool/compiler",
    "lathe:tool/content",
    "lathe:tool/http",
    "lathe:tool/interaction",
    "lathe:tool/log",
    "lathe:tool/status",
    "lathe:tool/tools",
    "lathe:tool/types",
    "wasi:cli/",
    "wasi:clocks/",
    "wasi:filesystem/",
    "wasi:io/",
    "wasi:random/",
    "wasi:sockets/",
];

/// Checks an image's imports and exports. The runner's linker checks the type of the export before the first run.
///
/// # Errors
/// When imports are not granted, with all their names, or when an export is missing.
pub fn inspect_image(component: &[u8]) -> Result<(), Error> {
    require_component(component)?;
    validate(component)?;
    let decoded = wit_component::decode(component).map_err(|error| refuse("world", format!("{error:#}")))?;
    let DecodedWasm::Component(resolve, world) = decoded else {
        return Err(refuse("component", "a WIT package is not a component"));
    };
    let world = &resolve.worlds[world];
    let names = world.imports.keys().map(|key| resolve.name_world_key(key));
    let refused: Vec<_> = names.filter(|name| !is_granted(name)).collect();
    if !refused.is_empty() {
        let message = format!("the component imports what the platform does not grant: {}", refused.join(", "));
        return Err(refuse("imports", message));
    }
    let exported = world.exports.keys().any(|key| resolve.name_world_key(key) == ENTRY_POINT);
    if exported { Ok(()) } else { Err(no_entry_point()) }
}

/// Requires a component, rather than a module or another result of a build.
fn require_component(bytes: &[u8]) -> Result<(), Error> {
    let first = Parser::new(0).parse_all(bytes).next();
    let problem = match first {
        Some(Ok(Payload::Version { encoding: Encoding::Component, .. })) => return Ok(()),
        Some(Ok(Payload::Version { .. })) => "the build made a WebAssembly module, which is not a component",
        _ => "the build made no WebAssembly component",
    };
    Err(refuse("component", problem))
}

fn validate(component: &[u8]) -> Result<Types, Error> {
    let mut validator = Validator::new_with_features(WasmFeatures::default());
    validator.validate_all(component).map_err(|error| refuse("valid", error.to_string()))
}

fn no_entry_point() -> Error {
    refuse("exports", "the component exports no function run-tool")
}

fn refuse(check: &str, message: impl Into<String>) -> Error {
    Error::failed(STAGE, check, message)
}

fn is_granted(name: &str) -> bool {
    // A type used from an interface is imported under its own name.
    let is_type = !name.contains(['/', ':']);
    let within = |entry: &&str| {
        name.strip_prefix(*entry).is_some_and(|rest| entry.ends_with('/') || rest.is_empty() || rest.starts_with('@'))
    };
    is_type || GRANTED_TO_IMAGES.iter().any(within)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_are_by_interface_and_not_by_prefix() {
        assert!(is_granted("wasi:clocks/monotonic-clock@0.2.6"));
        assert!(is_granted("lathe:tool/status@0.1.0"));
        assert!(!is_granted("lathe:tool/status-other@0.1.0"));
        assert!(!is_granted("wasi:http/outgoing-handler@0.2.6"));
    }

    #[test]
    fn a_core_module_is_not_a_component() {
        let error = inspect_image(b"\0asm\x01\0\0\0").unwrap_err().to_string();
        assert!(error.contains("a WebAssembly module, which is not a component"), "{error}");
        let error = inspect_image(b"nothing of the kind").unwrap_err().to_string();
        assert!(error.contains("made no WebAssembly component"), "{error}");
    }
}
