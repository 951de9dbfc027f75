//! Content blocks: what a tool adds to its result besides its output, in the shape of MCP's content.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Content blocks of one run: more than a chat shows below one answer.
pub const CONTENT_BLOCKS_MAX: usize = 32;
/// Bytes of all content blocks of one run as JSON. They are part of the run's record and of the response to its caller.
pub const CONTENT_BYTES_MAX: usize = 1 << 20;
/// Bytes of a media type with its parameters: two names of RFC 6838 with 127 bytes each.
const MIME_TYPE_BYTES_MAX: usize = 255;
/// Bytes of a URI, as browsers and proxies accept them.
const URI_BYTES_MAX: usize = 2_048;
/// Bytes of the name of a resource link.
const NAME_BYTES_MAX: usize = 256;

/// Content that a tool added to its result, in the shape of MCP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ContentBlock {
    Text {
        text: String,
    },
    Image {
        /// The bytes in base64.
        #[serde(with = "base64_text")]
        #[schemars(with = "String")]
        data: Vec<u8>,
        mime_type: String,
    },
    Audio {
        /// The bytes in base64.
        #[serde(with = "base64_text")]
        #[schemars(with = "String")]
        data: Vec<u8>,
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
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
}

/// A resource with its contents: `text`, or `blob` with bytes in base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmbeddedResource {
    pub uri: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    #[serde(flatten)]
    pub contents: ResourceContents,
}

/// The contents of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ResourceContents {
    Text {
        text: String,
    },
    Blob {
        #[serde(with = "base64_text")]
        #[schemars(with = "String")]
        blob: Vec<u8>,
    },
}

/// Collects the content blocks of one run within their bounds.
#[derive(Clone, Debug, Default)]
pub struct ContentCollector {
    blocks: Vec<ContentBlock>,
    bytes: usize,
}

/// The reason for which a content block is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentRefused {
    #[error("a run adds at most {CONTENT_BLOCKS_MAX} content blocks")]
    TooMany,
    #[error("the content blocks of a run have at most {CONTENT_BYTES_MAX} bytes as JSON, with bytes in base64")]
    TooLarge,
    #[error("the {what} {reason}")]
    Invalid { what: &'static str, reason: &'static str },
}

impl ContentCollector {
    /// Adds a block.
    ///
    /// # Errors
    /// When the block is not valid, or exceeds the bounds of the run.
    pub fn add(&mut self, block: ContentBlock) -> Result<(), ContentRefused> {
        if self.blocks.len() >= CONTENT_BLOCKS_MAX {
            return Err(ContentRefused::TooMany);
        }
        // Before the block is encoded.
        if block.contents_bytes() > CONTENT_BYTES_MAX {
            return Err(ContentRefused::TooLarge);
        }
        block.check()?;
        let encoded = serde_json::to_vec(&block).map_err(|_| ContentRefused::TooLarge)?;
        let bytes = self.bytes + encoded.len();
        if bytes > CONTENT_BYTES_MAX {
            return Err(ContentRefused::TooLarge);
        }
        self.bytes = bytes;
        self.blocks.push(block);
        Ok(())
    }

    /// The blocks in their order.
    pub fn blocks(&self) -> &[ContentBlock] {
        &self.blocks
    }

    /// Takes the blocks out.
    #[must_use]
    pub fn take(&mut self) -> Vec<ContentBlock> {
        std::mem::take(self).blocks
    }
}

impl ContentBlock {
    /// Changes every text of the block except media types.
    #[must_use]
    pub fn map_texts(self, mut change: impl FnMut(String) -> String) -> Self {
        match self {
            Self::Text { text } => Self::Text { text: change(text) },
            Self::Image { .. } | Self::Audio { .. } => self,
            Self::Resource { resource: EmbeddedResource { uri, mime_type, contents } } => {
                let contents = match contents {
                    ResourceContents::Text { text } => ResourceContents::Text { text: change(text) },
                    ResourceContents::Blob { blob } => ResourceContents::Blob { blob },
                };
                Self::Resource { resource: EmbeddedResource { uri: change(uri), mime_type, contents } }
            }
            Self::ResourceLink { uri, name, description, mime_type } => Self::ResourceLink {
                uri: change(uri),
                name: change(name),
                description: description.map(change),
                mime_type,
            },
        }
    }

    /// Bytes of the contents before they are encoded.
    pub fn contents_bytes(&self) -> usize {
        match self {
            Self::Text { text } => text.len(),
            Self::Image { data, .. } | Self::Audio { data, .. } => data.len(),
            Self::Resource { resource } => match &resource.contents {
                ResourceContents::Text { text } => text.len(),
                ResourceContents::Blob { blob } => blob.len(),
            },
            Self::ResourceLink { description, .. } => description.as_ref().map_or(0, String::len),
        }
    }

    fn check(&self) -> Result<(), ContentRefused> {
        match self {
            Self::Text { text } => require_no_nul("text", text),
            Self::Image { mime_type, .. } => require_mime_type("image/", "media type of an image", mime_type),
            Self::Audio { mime_type, .. } => require_mime_type("audio/", "media type of an audio block", mime_type),
            Self::Resource { resource: EmbeddedResource { uri, mime_type, contents } } => {
                require_uri(uri)?;
                mime_type.iter().try_for_each(|mime_type| require_mime_type("", "media type", mime_type))?;
                match contents {
                    ResourceContents::Text { text } => require_no_nul("text of the resource", text),
                    ResourceContents::Blob { .. } => Ok(()),
                }
            }
            Self::ResourceLink { uri, name, description, mime_type } => {
                require_uri(uri)?;
                if name.is_empty() || name.len() > NAME_BYTES_MAX {
                    return Err(invalid("name of the resource", "must have 1 to 256 bytes"));
                }
                require_no_nul("name of the resource", name)?;
                description.iter().try_for_each(|text| require_no_nul("description of the resource", text))?;
                mime_type.iter().try_for_each(|mime_type| require_mime_type("", "media type", mime_type))
            }
        }
    }
}

const fn invalid(what: &'static str, reason: &'static str) -> ContentRefused {
    ContentRefused::Invalid { what, reason }
}

fn require_no_nul(what: &'static str, text: &str) -> Result<(), ContentRefused> {
    if text.contains('\0') { Err(invalid(what, "must not have the character NUL")) } else { Ok(()) }
}

/// Checks the syntax `type/subtype`, with parameters after a semicolon.
fn require_mime_type(prefix: &str, what: &'static str, text: &str) -> Result<(), ContentRefused> {
    let (essence, parameters) = text.split_once(';').unwrap_or((text, ""));
    let is_token = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
    };
    let is_right =
        essence.trim_end_matches(' ').split_once('/').is_some_and(|(kind, name)| is_token(kind) && is_token(name))
            && parameters.bytes().all(|byte| matches!(byte, b' '..=b'~'))
            && text.len() <= MIME_TYPE_BYTES_MAX;
    if !is_right {
        return Err(invalid(what, "must be a media type such as image/png, of at most 255 bytes"));
    }
    let has_prefix = essence.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    if has_prefix { Ok(()) } else { Err(invalid(what, "must begin with image/ or audio/, as the block does")) }
}

/// Checks the scheme of a URI, and that the rest has no white space and no control characters.
fn require_uri(text: &str) -> Result<(), ContentRefused> {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    let is_right = text.split_once(':').is_some_and(|(scheme, rest)| is_scheme(scheme) && !rest.is_empty())
        && !text.chars().any(|character| character.is_whitespace() || character.is_control());
    if is_right && text.len() <= URI_BYTES_MAX {
        return Ok(());
    }
    Err(invalid("URI of the resource", "must have a scheme, no spaces, and at most 2,048 bytes"))
}

/// Bytes as base64 with padding, as MCP has them.
mod base64_text {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        STANDARD.decode(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn link(uri: &str, mime_type: Option<&str>) -> ContentBlock {
        let mime_type = mime_type.map(str::to_owned);
        ContentBlock::ResourceLink { uri: uri.to_owned(), name: "report".to_owned(), description: None, mime_type }
    }

    fn image(mime_type: &str, bytes: usize) -> ContentBlock {
        ContentBlock::Image { data: vec![7; bytes], mime_type: mime_type.to_owned() }
    }

    fn text(text: &str) -> ContentBlock {
        ContentBlock::Text { text: text.to_owned() }
    }

    #[test]
    fn blocks_have_the_shape_of_mcp() {
        let shapes = [
            json!({"type": "text", "text": "é"}),
            json!({"type": "image", "data": "AAEC/w==", "mimeType": "image/png"}),
            json!({"type": "audio", "data": "", "mimeType": "audio/wav"}),
            json!({"type": "resource", "resource": {"uri": "a:b", "mimeType": "text/csv", "text": "1,2"}}),
            json!({"type": "resource", "resource": {"uri": "a:b", "blob": "AA=="}}),
            json!({"type": "resource_link", "uri": "https://example.com/a", "name": "a", "description": "d",
                "mimeType": "text/html; charset=utf-8"}),
            json!({"type": "resource_link", "uri": "https://example.com/a", "name": "a"}),
        ];
        for shape in shapes {
            let block: ContentBlock = serde_json::from_value(shape.clone()).unwrap();
            assert_eq!(block.check(), Ok(()), "{shape}");
            assert_eq!(serde_json::to_value(&block).unwrap(), shape);
        }
    }

    #[test]
    fn the_number_and_the_size_of_blocks_are_bounded() {
        let mut collector = ContentCollector::default();
        for _ in 0..CONTENT_BLOCKS_MAX {
            collector.add(text("")).unwrap();
        }
        assert_eq!(collector.add(text("")), Err(ContentRefused::TooMany));
        let head = r#"{"type":"image","data":"","mimeType":"image/png"}"#.len();
        let fits = (CONTENT_BYTES_MAX - head) / 4 * 3;
        let mut collector = ContentCollector::default();
        assert_eq!(collector.add(image("image/png", fits + 1)), Err(ContentRefused::TooLarge));
        assert_eq!(collector.add(image("image/png", CONTENT_BYTES_MAX + 1)), Err(ContentRefused::TooLarge));
        collector.add(image("image/png", fits)).unwrap();
        assert_eq!(collector.add(text("a little more")), Err(ContentRefused::TooLarge));
        assert_eq!(collector.take().len(), 1);
    }

    #[test]
    fn malformed_blocks_are_refused() {
        let right = ["image/png", "IMAGE/svg+xml", "image/vnd.x-y; q=\"1\""];
        right.iter().for_each(|mime_type| assert_eq!(image(mime_type, 1).check(), Ok(()), "{mime_type}"));
        for mime_type in ["", "png", "image/", "/png", "image/p ng", "image/png\n", "text/plain", "image/a;\0", "é/é"]
        {
            assert!(image(mime_type, 1).check().is_err(), "{mime_type:?}");
        }
        assert!(image(&format!("image/{}", "a".repeat(250)), 1).check().is_err());
        for uri in ["", "report", ":a", "1a:b", "a:", "a b:c", "a:b c", "a:b\n", "a:\0"] {
            assert!(link(uri, None).check().is_err(), "{uri:?}");
        }
        assert!(link(&format!("a:{}", "b".repeat(URI_BYTES_MAX)), None).check().is_err());
        assert!(link("a:b", Some("nothing")).check().is_err() && text("a\0").check().is_err());
        let nameless = ContentBlock::ResourceLink {
            uri: "a:b".to_owned(),
            name: String::new(),
            description: None,
            mime_type: None,
        };
        assert!(nameless.check().is_err());
    }

    #[test]
    fn texts_are_changed_and_bytes_are_not() {
        let shape = json!([
            {"type": "text", "text": "s"},
            {"type": "image", "data": "AAEC", "mimeType": "image/s"},
            {"type": "resource", "resource": {"uri": "a:s", "mimeType": "a/s", "text": "s"}},
            {"type": "resource_link", "uri": "a:s", "name": "s", "description": "s"},
        ]);
        let blocks: Vec<ContentBlock> = serde_json::from_value(shape).unwrap();
        let changed: Vec<_> = blocks.into_iter().map(|block| block.map_texts(|text| text.replace('s', "_"))).collect();
        let expected = json!([
            {"type": "text", "text": "_"},
            {"type": "image", "data": "AAEC", "mimeType": "image/s"},
            {"type": "resource", "resource": {"uri": "a:_", "mimeType": "a/s", "text": "_"}},
            {"type": "resource_link", "uri": "a:_", "name": "_", "description": "_"},
        ]);
        assert_eq!(serde_json::to_value(changed).unwrap(), expected);
    }

    proptest! {
        #[test]
        fn any_json_is_a_block_or_an_error(text in ".{0,200}", kind in "text|image|resource|resource_link|other") {
            let _ = serde_json::from_str::<Vec<ContentBlock>>(&text);
            let value = json!({"type": kind, "text": text, "data": text, "uri": text, "name": text, "mimeType": text,
                "resource": {"uri": text, "blob": text}});
            let _ = serde_json::from_value::<ContentBlock>(value).map(|block| block.check());
            let _ = serde_json::from_value::<ContentBlock>(Value::String(text));
        }
    }
}
