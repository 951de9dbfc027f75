//! Tools as resources: the variables of the URI are the arguments, and the content of the result is that of the resource.

use agents::{Catalogue, ListedTool};
use registry::ResourceUri;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResult, ContentBlock, JsonObject, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate,
};
use runner::EMPTY_OUTPUT;
use serde_json::Value;

use super::library_uris::is_of_library;
use super::tool_forms;
use super::tool_forms::{Read, find_resource};
use crate::calls::{Asked, Calling, ToolCallRequest, find_title};

/// The tool that reads a resource, with its arguments.
pub struct FoundResource<'c> {
    pub listed: &'c ListedTool,
    arguments: JsonObject,
}

/// Finds the tool whose resource has this URI. URIs come before templates, and the order of the catalogue counts.
pub fn find<'c>(catalogue: &'c Catalogue, uri: &str) -> Option<FoundResource<'c>> {
    let tools = tool_forms::list_resources(catalogue);
    let found = |listed: &&'c ListedTool| {
        let values = find_resource(listed)?.values(uri)?;
        let arguments = values.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect();
        Some(FoundResource { listed, arguments })
    };
    let exact = tools.iter().filter(|listed| !is_template(listed)).find_map(found);
    exact.or_else(|| tools.iter().filter(|listed| is_template(listed)).find_map(found))
}

/// Whether a tool reads the resources of a template.
pub fn is_template(listed: &ListedTool) -> bool {
    find_resource(listed).is_some_and(ResourceUri::is_template)
}

/// Renders a tool as a resource.
pub fn render_resource(listed: &ListedTool) -> Option<Resource> {
    let mut shown = Resource::new(find_resource(listed)?.as_str(), listed.name.as_str());
    shown.title = find_title(listed);
    shown.description = Some(listed.description());
    Some(shown)
}

/// Renders a tool as a template of resources.
pub fn render_template(listed: &ListedTool) -> Option<ResourceTemplate> {
    let mut template = ResourceTemplate::new(find_resource(listed)?.as_str(), listed.name.as_str());
    template.title = find_title(listed);
    Some(template.with_description(listed.description()))
}

/// Calls the tool, and returns its content.
pub async fn read(
    calling: &Calling,
    found: FoundResource<'_>,
    request: ReadResourceRequestParams,
    asked: Asked,
) -> Result<ReadResourceResponse, ErrorData> {
    let FoundResource { listed, arguments } = found;
    let call = ToolCallRequest {
        name: listed.name.clone(),
        arguments: arguments.into(),
        state: request.request_state,
        responses: request.input_responses,
    };
    match calling.read(listed, call, asked).await? {
        Read::Asks(questions) => Ok(questions.into()),
        Read::Done(mut result) => {
            let meta = result.meta.take();
            let mut read = ReadResourceResult::new(build_contents(result, &request.uri));
            read.meta = meta;
            Ok(read.into())
        }
    }
}

/// Whether a resource has a URI that only the server gives.
fn is_of_server(resource: &ResourceContents) -> bool {
    let (ResourceContents::TextResourceContents { uri, .. } | ResourceContents::BlobResourceContents { uri, .. }) =
        resource
    else {
        return false;
    };
    is_of_library(uri)
}

/// The content of a result. A resource that the tool added keeps its own URI; links are left out, and so is what claims to be an
/// artifact or a skill.
fn build_contents(result: CallToolResult, uri: &str) -> Vec<ResourceContents> {
    // The first text is the output, and stands for an empty one.
    let mut output_type = result.structured_content.is_some().then_some("application/json");
    let content = result.content.into_iter().filter_map(|block| match block {
        ContentBlock::Text(text) if text.text == EMPTY_OUTPUT => Some(ResourceContents::text("", uri)),
        ContentBlock::Text(text) => {
            let media_type = output_type.take().unwrap_or("text/plain");
            Some(ResourceContents::text(text.text, uri).with_mime_type(media_type))
        }
        ContentBlock::Image(image) => Some(ResourceContents::blob(image.data, uri).with_mime_type(image.mime_type)),
        ContentBlock::Audio(audio) => Some(ResourceContents::blob(audio.data, uri).with_mime_type(audio.mime_type)),
        ContentBlock::Resource(embedded) => Some(embedded.resource).filter(|resource| !is_of_server(resource)),
        _ => None,
    });
    content.collect()
}
