//! A tool that is a component of its own, as its author's toolchain made it.

use runner::{COMPONENT_BYTES_MAX, Unsound};
use wasmparser::component_types::ComponentEntityType;

use super::{ENTRY_POINT, no_entry_point, refuse, require_component, signature, validate};
use crate::error::Error;

/// What a language's interpreter gets, and nobody else: it would be granted more than tools are.
const OF_INTERPRETERS: [&str; 2] = ["lathe:tool/bundle", "lathe:tool/compiler"];

/// What to do instead of importing something.
const HINTS: [(&str, &str); 3] = [
    ("wasi:sockets/", "requests go through lathe:tool/http; a library that opens connections cannot be used"),
    ("wasi:http/", "requests go through lathe:tool/http"),
    ("wasi:", "tools are of WASI 0.2 without its further interfaces"),
];

/// Checks an author's component: its size in every direction, whether it is valid, all that it imports, and the type
/// of its entry point. Whether what it imports has the right types is seen when it is loaded.
///
/// # Errors
/// What refuses it, in the stage `inspect`.
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

/// Of what comes under a plain name only types are granted, which belong to an interface that is granted itself.
fn is_refused(name: &str, item: Option<ComponentEntityType>) -> bool {
    let is_plain = !name.contains('/');
    is_plain && !matches!(item, Some(ComponentEntityType::Type { .. }))
        || OF_INTERPRETERS.iter().any(|reserved| name.starts_with(reserved))
}

fn from_structure(unsound: Unsound) -> Error {
    match unsound {
        Unsound::TooMuch { .. } => refuse("size", unsound.to_string()),
        Unsound::Imports { names } => imports_refused(&names),
        Unsound::Malformed(error) => refuse("valid", error.to_string()),
    }
}

/// All of them, each with what can be done about it.
fn imports_refused(names: &[String]) -> Error {
    let named = names.iter().map(|name| match HINTS.iter().find(|(prefix, _)| name.starts_with(prefix)) {
        Some((_, hint)) => format!("{name} ({hint})"),
        None => name.clone(),
    });
    let named: Vec<_> = named.collect();
    refuse("imports", format!("the component imports what the platform does not grant: {}", named.join(", ")))
}
