//! Native tools: tools that the server itself provides, in Rust.
//!
//! [`NATIVE`] lists them. A tool is one file with its texts, its permission, its schemas and its handler. The server does
//! not start while one of these is missing ([`NativeTools::check`]).

mod catalogue;
mod effect;
mod refused;
mod spec;
mod tool;
mod whoami;

pub use catalogue::NativeTools;
pub use effect::ToolEffect;
pub use refused::NativeToolRefused;
pub(crate) use spec::{NativeToolSpec, schema_of};
pub use tool::{NativeCall, NativeTool};

/// Declares the native tools, one module for each.
macro_rules! native_tools {
    ($($module:ident),* $(,)?) => {
        /// All native tools.
        const NATIVE: &[NativeToolSpec] = &[$($module::TOOL),*];
    };
}

native_tools![whoami];

impl NativeTools {
    /// Checks all native tools.
    ///
    /// # Errors
    /// The first tool that lacks something.
    pub fn start() -> Result<Self, NativeToolRefused> {
        Self::check(NATIVE)
    }
}
