//! Native tools: tools that the server itself provides, in Rust.
//!
//! A tool is declared with its texts, its permission, its schemas and its handler ([`NativeToolSpec`]). The crates above declare them; the
//! server does not start while one of these parts is missing ([`NativeTools::check`]).

mod bounds;
mod catalogue;
mod effect;
mod reach;
mod refused;
mod routed_tool;
mod spec;
mod tool;
mod tool_route;

pub use bounds::{find_excess, unbounded_places};
pub use catalogue::NativeTools;
pub use effect::ToolEffect;
pub use reach::Reach;
pub use refused::NativeToolRefused;
pub use routed_tool::RoutedTool;
pub use spec::{NativeToolSpec, schema_of};
pub use tool::{NativeCall, NativeTool, ShownSchemas};
pub use tool_route::{ToolRoute, Verb};
