//! The schema of content blocks.

use schemars::JsonSchema;

/// Content that a tool added to its result, in the shape of MCP.
#[derive(JsonSchema)]
#[schemars(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(crate) enum ContentBlock {
    Text {
        text: String,
    },
    Image {
        /// The bytes in base64.
        data: String,
        mime_type: String,
    },
    Audio {
        /// The bytes in base64.
        data: String,
        mime_type: String,
    },
    /// A resource with its contents.
    Resource {
        resource: EmbeddedResource,
    },
    /// A resource that the reader may fetch.
    ResourceLink {
        uri: String,
        name: String,
        #[schemars(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        #[schemars(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
}

/// A resource with its contents: `text`, or `blob` with bytes in base64.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(crate) struct EmbeddedResource {
    uri: String,
    #[schemars(default, skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    #[schemars(flatten)]
    contents: ResourceContents,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum ResourceContents {
    Text { text: String },
    Blob { blob: String },
}
