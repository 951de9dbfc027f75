//! The server's own tools.
//!
//! [`TOOLS`] lists those of one file each, with its texts, its permission, its schemas and its handler;
//! [`FAMILIES`](crate::library::FAMILIES) lists those of the Library.

mod forward_call;
mod get_tool_call_status;
mod whoami;

use runner::{NativeCall, NativeToolRefused, NativeTools, RoutedTool};

use crate::client_schema::show_schemas;
use crate::library::FAMILIES;
use crate::platform_call::{PlatformCall, PlatformToolSpec};
use crate::store::AgentStore;

/// Declares the tools, one module for each.
macro_rules! platform_tools {
    ($($module:ident),* $(,)?) => {
        /// The tools of no family of the Library.
        const TOOLS: &[PlatformToolSpec] = &[$($module::TOOL),*];
    };
}

platform_tools![forward_call, get_tool_call_status, whoami];

/// Checks all tools of the server.
///
/// # Errors
/// The first tool that lacks something.
pub fn platform_tools(store: &AgentStore) -> Result<NativeTools, NativeToolRefused> {
    let store = store.clone();
    check_with(move |call| PlatformCall::new(&store, call))
}

/// The tools that the HTTP API serves by routes of their own.
pub fn routed_tools() -> impl Iterator<Item = RoutedTool> {
    list_declared().filter_map(RoutedTool::of)
}

fn check_with(
    context: impl Fn(NativeCall) -> PlatformCall + Clone + Send + Sync + 'static,
) -> Result<NativeTools, NativeToolRefused> {
    NativeTools::check(list_declared(), context, show_schemas)
}

fn list_declared() -> impl Iterator<Item = &'static PlatformToolSpec> {
    TOOLS.iter().chain(FAMILIES.iter().copied().flatten())
}

/// The tools of the server, of which none can be called.
#[cfg(test)]
pub(crate) fn tools_for_tests() -> NativeTools {
    check_with(|_| unreachable!("no test calls a tool")).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_of_the_server_are_complete() {
        for schema in tools_for_tests().iter().flat_map(|tool| [&tool.input_schema, &tool.output_schema]) {
            assert!(!schema.to_string().contains("uint"), "a format of Rust: {schema}");
        }
    }
}
