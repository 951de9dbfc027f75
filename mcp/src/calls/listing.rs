//! Tools in the form of the protocol.

use std::borrow::Cow;
use std::sync::Arc;

use agents::{ListedSource, ListedTool};
use registry::{Annotations, Callable};
use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use runner::{NativeTool, ToolEffect};
use serde_json::{Value, json};

/// Keys of `_meta` that tell the version of a tool.
pub const TOOL_ID: &str = "dev.lathe/tool";
pub const VERSION: &str = "dev.lathe/version";
/// The key of `_meta` that tells the API of the tool.
const API: &str = "dev.lathe/api";
pub const COMPONENT: &str = "dev.lathe/component";

/// Renders a tool of a catalogue.
pub fn render_tool(listed: &ListedTool) -> Tool {
    match &listed.source {
        ListedSource::Native(tool) => render_native(&listed.name, tool),
        ListedSource::Published { callable, .. } => render_published(listed, callable),
    }
}

/// Renders a tool of the server.
pub fn render_native(name: &str, tool: &NativeTool) -> Tool {
    let mut shown = Tool::new(name.to_owned(), tool.description, read_object(tool.shown.input.clone()));
    shown.title = Some(tool.title.to_owned());
    shown.output_schema = tool.shown.output.clone().map(read_object);
    let annotations = ToolAnnotations::with_title(tool.title);
    shown.annotations = Some(match tool.effect {
        ToolEffect::ReadOnly => annotations.read_only(true),
        ToolEffect::Idempotent => annotations.read_only(false).destructive(false).idempotent(true),
        ToolEffect::Adds => annotations.read_only(false).destructive(false),
        ToolEffect::Destroys => annotations.read_only(false).destructive(true),
    });
    shown
}

fn render_published(listed: &ListedTool, callable: &Callable) -> Tool {
    let Callable { tool, version, .. } = callable;
    let mut shown =
        Tool::new(listed.name.clone(), listed.description(), read_object(listed.input_schema().into_owned()));
    let annotations = match listed.api() {
        Some((name, api)) => api.annotations.with_defaults_of(name.as_str()),
        None => version.settings.annotations.with_defaults_of(tool.name.as_str()),
    };
    shown.title = find_title(listed);
    shown.annotations = Some(render_hints(&annotations));
    shown.output_schema = listed.output_schema().map(Cow::into_owned).map(read_object);
    let mut fields = vec![
        (TOOL_ID, json!(tool.id)),
        (VERSION, json!(version.version.to_string())),
        (COMPONENT, json!(version.component_digest.to_string())),
    ];
    fields.extend(listed.api().map(|(name, _)| (API, json!(name))));
    shown.meta = Some(build_meta(&fields));
    shown
}

/// The title that the author declared.
pub fn find_title(listed: &ListedTool) -> Option<String> {
    match &listed.source {
        ListedSource::Native(tool) => Some(tool.title.to_owned()),
        ListedSource::Published { callable, .. } => {
            let of_version = &callable.version.settings.annotations;
            let annotations = listed.api().map_or(of_version, |(_, api)| &api.annotations);
            annotations.title.as_ref().map(ToString::to_string)
        }
    }
}

fn render_hints(annotations: &Annotations) -> ToolAnnotations {
    let mut hints = ToolAnnotations::default();
    hints.title = annotations.title.as_ref().map(ToString::to_string);
    hints.read_only_hint = annotations.read_only;
    hints.destructive_hint = annotations.destructive;
    hints.idempotent_hint = annotations.idempotent;
    hints.open_world_hint = annotations.open_world;
    hints
}

pub fn read_object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(members) => Arc::new(members),
        _ => Arc::default(),
    }
}

/// A `_meta` object.
pub fn build_meta(fields: &[(&str, Value)]) -> MetaObject {
    let mut meta = MetaObject::new();
    for (key, value) in fields {
        meta.insert((*key).to_owned(), value.clone());
    }
    meta
}
