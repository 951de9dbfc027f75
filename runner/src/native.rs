//! Native tools: tools that the server itself provides, in Rust.
//!
//! [`NATIVE`] lists those of one file each, with its texts, its permission, its schemas and its handler; [`library::FAMILIES`] lists
//! those of the Library. The server does not start while one of these parts is missing ([`NativeTools::check`]).

mod bounds;
mod catalogue;
mod conversation_runs;
mod effect;
mod forward_call;
mod get_tool_call_status;
mod library;
mod reach;
mod refused;
mod routed_tool;
mod spec;
mod tool;
mod tool_route;
mod whoami;

pub(crate) use bounds::find_excess;
pub use bounds::unbounded_places;
pub use catalogue::NativeTools;
pub(crate) use conversation_runs::ConversationRuns;
pub use effect::ToolEffect;
pub use library::{
    ArtifactEncoding, FILLED_BYTES_MAX, FilledTooLarge, fill_variables, library_failure, library_instructions,
    library_refusal,
};
pub(crate) use library::{EnforcedRules, RunEnd, creator, end_run, fire};
pub(crate) use reach::Reach;
pub use refused::NativeToolRefused;
pub use routed_tool::RoutedTool;
pub(crate) use spec::{NativeToolSpec, schema_of};
pub use tool::{NativeCall, NativeTool};
pub use tool_route::{ToolRoute, Verb};

/// Declares the native tools, one module for each.
macro_rules! native_tools {
    ($($module:ident),* $(,)?) => {
        /// All native tools.
        const NATIVE: &[NativeToolSpec] = &[$($module::TOOL),*];
    };
}

native_tools![forward_call, get_tool_call_status, whoami];

impl NativeTools {
    /// Checks all native tools.
    ///
    /// # Errors
    /// The first tool that lacks something.
    pub fn start() -> Result<Self, NativeToolRefused> {
        Self::check(declared())
    }
}

/// The native tools that the HTTP API serves by routes of their own.
pub fn routed_tools() -> impl Iterator<Item = RoutedTool> {
    declared().filter_map(RoutedTool::of)
}

fn declared() -> impl Iterator<Item = &'static NativeToolSpec> {
    NATIVE.iter().chain(library::FAMILIES.iter().copied().flatten())
}
