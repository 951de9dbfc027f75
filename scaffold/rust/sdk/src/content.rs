//! Content blocks, which a tool adds to its result besides its output.

use std::fmt;

pub use crate::bindings::lathe::tool::content::ErrorCode as ContentErrorCode;

/// Bytes of the contents of one block. The host refuses more, and stops the run for a much larger block.
const BYTES_MAX: usize = 1 << 20;

/// A content block: a text, an image, audio, or a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentBlock {
    Text(String),
    Image {
        data: Vec<u8>,
        mime_type: String,
    },
    Audio {
        data: Vec<u8>,
        mime_type: String,
    },
    /// A resource with its contents.
    Resource {
        uri: String,
        mime_type: Option<String>,
        contents: ResourceContents,
    },
    /// A resource that the reader may fetch.
    Link {
        uri: String,
        name: String,
        description: Option<String>,
        mime_type: Option<String>,
    },
}

/// The contents of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceContents {
    Text(String),
    Blob(Vec<u8>),
}

/// The host refused a content block. The run may continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentError {
    pub code: ContentErrorCode,
    pub message: String,
}

impl ContentBlock {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Creates an image with its media type, such as `image/png`.
    pub fn image(data: impl Into<Vec<u8>>, mime_type: impl Into<String>) -> Self {
        Self::Image { data: data.into(), mime_type: mime_type.into() }
    }

    /// Creates audio with its media type, such as `audio/wav`.
    pub fn audio(data: impl Into<Vec<u8>>, mime_type: impl Into<String>) -> Self {
        Self::Audio { data: data.into(), mime_type: mime_type.into() }
    }

    /// Creates a resource with its contents. [`ContentBlock::mime_type`] sets its media type.
    pub fn resource(uri: impl Into<String>, contents: impl Into<ResourceContents>) -> Self {
        Self::Resource { uri: uri.into(), mime_type: None, contents: contents.into() }
    }

    /// Creates a link to a resource. [`ContentBlock::mime_type`] and [`ContentBlock::description`] add to it.
    pub fn link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::Link { uri: uri.into(), name: name.into(), description: None, mime_type: None }
    }

    /// Sets the media type of an image, audio or a resource. A text has none.
    #[must_use]
    pub fn mime_type(mut self, value: impl Into<String>) -> Self {
        match &mut self {
            Self::Text(_) => {}
            Self::Image { mime_type, .. } | Self::Audio { mime_type, .. } => *mime_type = value.into(),
            Self::Resource { mime_type, .. } | Self::Link { mime_type, .. } => *mime_type = Some(value.into()),
        }
        self
    }

    /// Sets the description of a link. Other blocks have none.
    #[must_use]
    pub fn description(mut self, value: impl Into<String>) -> Self {
        if let Self::Link { description, .. } = &mut self {
            *description = Some(value.into());
        }
        self
    }

    /// Refuses a block for which the host would stop the run.
    pub(crate) fn check(&self) -> Result<(), ContentError> {
        let bytes = match self {
            Self::Text(text) => text.len(),
            Self::Image { data, .. } | Self::Audio { data, .. } => data.len(),
            Self::Resource { contents: ResourceContents::Text(text), .. } => text.len(),
            Self::Resource { contents: ResourceContents::Blob(blob), .. } => blob.len(),
            Self::Link { description, .. } => description.as_ref().map_or(0, String::len),
        };
        if bytes <= BYTES_MAX {
            return Ok(());
        }
        let message = format!("the block has more than {BYTES_MAX} bytes, the limit of all blocks of a run");
        Err(ContentError { code: ContentErrorCode::TooLarge, message })
    }
}

impl<Text: Into<String>> From<Text> for ContentBlock {
    fn from(text: Text) -> Self {
        Self::text(text)
    }
}

impl From<&str> for ResourceContents {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for ResourceContents {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<u8>> for ResourceContents {
    fn from(blob: Vec<u8>) -> Self {
        Self::Blob(blob)
    }
}

impl fmt::Display for ContentError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for ContentError {}

#[cfg(test)]
mod tests {
    use crate::testing::{context, take_content};

    use super::*;

    #[test]
    fn blocks_are_added_in_their_order() {
        let context = context();
        context.add_content("a text").unwrap();
        context.add_content(ContentBlock::image([0, 255], "image/png")).unwrap();
        context.add_content(ContentBlock::resource("report:1", "a,b").mime_type("text/csv")).unwrap();
        context.add_content(ContentBlock::link("https://example.com", "report").description("d")).unwrap();
        let added = take_content();
        assert_eq!(added[0], ContentBlock::Text("a text".into()));
        assert_eq!(added[1], ContentBlock::Image { data: vec![0, 255], mime_type: "image/png".into() });
        let contents = ResourceContents::Text("a,b".into());
        let mime_type = Some("text/csv".into());
        assert_eq!(added[2], ContentBlock::Resource { uri: "report:1".into(), mime_type, contents });
        let description = Some("d".into());
        let (uri, name) = ("https://example.com".into(), "report".into());
        assert_eq!(added[3], ContentBlock::Link { uri, name, description, mime_type: None });
        assert!(take_content().is_empty());
    }

    #[test]
    fn a_block_far_above_the_limit_is_refused_before_the_host_sees_it() {
        let refused = context().add_content(ContentBlock::audio(vec![0; BYTES_MAX + 1], "audio/wav")).unwrap_err();
        assert_eq!(refused.code, ContentErrorCode::TooLarge);
        assert!(take_content().is_empty());
    }
}
