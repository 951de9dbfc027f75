//! Inspects a tool that is a complete component from its author's toolchain.

use runner::{COMPONENT_BYTES_MAX, StructureError};
use wasmparser::component_types::ComponentEntityType;

use super::{ENTRY_POINT, no_entry_point, refuse, require_component, signature, validate};
use crate::error::Error;

/// Interfaces for language interpreters only, since they grant more than tools may have.
const OF_INTERPRETERS: [&str; 2] = ["lathe:tool/bundle", "lathe:tool/compiler"];

/// Alternatives to refused imports, by prefix.
const HINTS: [(&str, &str); 3] = [
    ("wasi:sockets/", "requests go through lathe:tool/http; a library that opens connections cannot be used"),
    ("wasi:http/", "requests go through lathe:tool/http"),
    ("wasi:", "tools are of WASI 0.2 without its further interfaces"),
];

/// Checks an author's component: its bounds, its validity, its imports, and the type of its entry point. The types of
/// its imports are checked when it is loaded.
///
/// # Errors
/// When a check fails, in the stage `inspect`.
pub fn inspect_tool(component: &[u8]) -> Result<(), Error> {
    if component.len() > COMPONENT_BYTES_MAX {
        let message = format!("the component has {} bytes; {COMPONENT_BYTES_MAX} are the limit", component.len());
        return Err(refuse("size", message));
    }
    require_component(component)?;
    let imports = runner::check_structure(component).map_err(from_structure)?;
    let types = validate(component)?;
    let is_refused = |name: &String| is_refused(name, types.component_item_for_import(name).map(|item| item.ty));
    let refused: Vec<_> = imports.into_iter().filter(is_refused).collect();
    if !refused.is_empty() {
        return Err(imports_refused(&refused));
    }
    let found = match types.component_item_for_export(ENTRY_POINT).map(|item| item.ty) {
        Some(ComponentEntityType::Func(function)) => signature::of(types.as_ref(), function),
        _ => return Err(no_entry_point()),
    };
    if found == signature::EXPECTED {
        return Ok(());
    }
    Err(refuse("signature", format!("run-tool is a {found}; it has to be a {}", signature::EXPECTED)))
}

/// Whether an import is refused. Among plain names only types are granted, which belong to an interface that is granted
/// itself.
fn is_refused(name: &str, item: Option<ComponentEntityType>) -> bool {
    let is_plain = !name.contains('/');
    is_plain && !matches!(item, Some(ComponentEntityType::Type { .. }))
        || OF_INTERPRETERS.iter().any(|reserved| name.starts_with(reserved))
}

fn from_structure(error: StructureError) -> Error {
    match error {
        StructureError::TooMuch { .. } => refuse("size", error.to_string()),
        StructureError::Imports { names } => imports_refused(&names),
        StructureError::Malformed(error) => refuse("valid", error.to_string()),
    }
}

/// The error that names all refused imports with their alternatives.
fn imports_refused(names: &[String]) -> Error {
    let named = names.iter().map(|name| match HINTS.iter().find(|(prefix, _)| name.starts_with(prefix)) {
        Some((_, hint)) => format!("{name} ({hint})"),
        None => name.clone(),
    });
    let named: Vec<_> = named.collect();
    refuse("imports", format!("the component imports what the platform does not grant: {}", named.join(", ")))
}
