//! The native tools that operations of the HTTP API call.

use registry::Permission;
use serde_json::Value;

use super::effect::ToolEffect;
use super::spec::NativeToolSpec;
use super::tool_route::ToolRoute;

/// A native tool that has a route, as its file declares it.
#[derive(Debug)]
pub struct RoutedTool {
    /// The name for callers.
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub permission: Permission,
    pub effect: ToolEffect,
    pub input_schema: Value,
    pub output_schema: Value,
    pub routes: &'static [ToolRoute],
}

impl RoutedTool {
    /// `None` for a tool without a route, and for an incomplete one, which stops the start.
    #[must_use]
    pub fn of<C>(spec: &NativeToolSpec<C>) -> Option<Self> {
        if spec.routes.is_empty() {
            return None;
        }
        Some(Self {
            name: spec.name,
            title: spec.title?,
            description: spec.description?,
            permission: spec.permission?,
            effect: spec.effect?,
            input_schema: spec.input_schema?(),
            output_schema: spec.output_schema?(),
            routes: spec.routes,
        })
    }
}
