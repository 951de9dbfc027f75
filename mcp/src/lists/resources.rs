//! `resources/list`, `resources/read` and `resources/templates/list`: tools that read resources, and the artifacts of the Library.

use agents::{ArtifactEncoding, LibraryItem};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use registry::Digest;
use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde::Deserialize;
use serde_json::Value;

use super::library_items::read_fields;
use super::library_reads::{ItemReader, ReadTool};
use super::library_uris::{ARTIFACTS, parse_artifact_id, refuse_uri};
use super::mixed_list::MixedList;
use super::pages::{self, TTL_MS};
use super::tool_resources;

/// The URIs of artifacts, and their variable.
pub const TEMPLATE: &str = "artifact://{id}";
pub const VARIABLE: &str = "id";

const GET: ReadTool = ReadTool { name: "artifact_get", id: "artifact_id" };

/// Media types of texts besides `text/…`, and those with a suffix.
const TEXTS: [&str; 8] = [
    "application/ecmascript",
    "application/javascript",
    "application/json",
    "application/sql",
    "application/toml",
    "application/x-ndjson",
    "application/xml",
    "application/yaml",
];

/// The fields of an artifact that the protocol shows.
#[derive(Deserialize)]
struct LibraryArtifact {
    title: String,
    /// Lists do not read it.
    #[serde(default)]
    content: String,
    content_type: String,
    #[serde(default)]
    content_encoding: ArtifactEncoding,
    summary: Option<String>,
}

/// Returns one page of the artifacts.
pub async fn list(
    list: &MixedList<'_>,
    request: Option<PaginatedRequestParams>,
) -> Result<ListResourcesResult, ErrorData> {
    let page = list.read_page(request).await?;
    let tools = page.tools.into_iter().filter_map(tool_resources::render_resource).map(Ok);
    let resources = tools.chain(page.items.into_iter().map(render_resource)).collect::<Result<Vec<_>, _>>()?;
    let result = ListResourcesResult::with_all_items(resources).with_ttl_ms(TTL_MS);
    let result = result.with_cache_scope(CacheScope::Private);
    Ok(ListResourcesResult { next_cursor: page.next_cursor, ..result })
}

/// Returns the templates. Their list has one page, so that every cursor is refused.
pub fn list_templates(
    list: &MixedList<'_>,
    request: Option<PaginatedRequestParams>,
) -> Result<ListResourceTemplatesResult, ErrorData> {
    pages::start(request, &Digest::of(TEMPLATE.as_bytes()))?;
    let of_library = list.items.iter().map(|_| {
        let template = ResourceTemplate::new(TEMPLATE, "artifact").with_title("Artifact");
        template.with_description("An artifact of the Library, by its id.")
    });
    let of_tools = list.tools.iter().copied().filter_map(tool_resources::render_template);
    let result = ListResourceTemplatesResult::with_all_items(of_tools.chain(of_library).collect()).with_ttl_ms(TTL_MS);
    Ok(result.with_cache_scope(CacheScope::Private))
}

/// Returns the content of an artifact.
pub async fn read(
    reader: &ItemReader<'_>,
    request: ReadResourceRequestParams,
) -> Result<ReadResourceResult, ErrorData> {
    let uri = request.uri;
    let id = parse_artifact_id(&uri).ok_or_else(|| refuse_uri(&uri))?;
    let read = reader.read(&GET, &id).await?.ok_or_else(|| refuse_uri(&uri))?;
    let LibraryArtifact { content, content_type, content_encoding, .. } = read_fields(read.data)?;
    let bytes = content_encoding.decode(content);
    let contents = match String::from_utf8(bytes) {
        Ok(text) if is_text(&content_type) => ResourceContents::text(text, uri),
        Ok(text) => ResourceContents::blob(STANDARD.encode(text), uri),
        Err(error) => ResourceContents::blob(STANDARD.encode(error.as_bytes()), uri),
    };
    let mut result = ReadResourceResult::new(vec![contents.with_mime_type(content_type)]);
    result.meta = Some(read.meta);
    Ok(result)
}

fn render_resource(item: LibraryItem) -> Result<Resource, ErrorData> {
    let uri = format!("{ARTIFACTS}{}", item.id);
    let LibraryArtifact { title, content_type, content_encoding, summary, .. } = read_fields(Value::Object(item.body))?;
    let mut resource = Resource::new(uri, title.as_str()).with_title(title).with_mime_type(content_type);
    resource.description = summary;
    // Of bytes, the stored size is that of their base64.
    resource.size = (content_encoding == ArtifactEncoding::Text).then_some(item.content_bytes);
    Ok(resource)
}

/// Whether the content of a media type is text.
fn is_text(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let has_suffix = ["+json", "+xml", "+yaml"].iter().any(|suffix| essence.ends_with(suffix));
    essence.starts_with("text/") || has_suffix || TEXTS.contains(&essence.as_str())
}

#[cfg(test)]
mod tests {
    use super::is_text;

    #[test]
    fn media_types_of_texts_are_known() {
        for text in ["text/html; charset=utf-8", "TEXT/Markdown", "application/json", "image/svg+xml", "a/b+json;x=y"] {
            assert!(is_text(text), "{text}");
        }
        for other in ["application/pdf", "image/png", "application/octet-stream", "a/text"] {
            assert!(!is_text(other), "{other}");
        }
    }
}
