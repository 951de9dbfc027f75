//! The interface `lathe:tool/content`.

use registry::{ContentBlock, ContentRefused, EmbeddedResource, ResourceContents};

use crate::sandbox::bindings::tool::lathe::tool::content as wire;
use crate::sandbox::host::host_call::HostCall;
use crate::sandbox::tape::{Body, Effect};

/// Bytes of a block up to which a tape has it in full, so that a difference can show it.
const TAPED_BYTES_MAX: usize = 4 << 10;

impl wire::Host for HostCall<'_> {
    async fn add(&mut self, block: wire::Block) -> wasmtime::Result<Result<(), wire::ContentError>> {
        let block = ContentBlock::from(block);
        let encoded = serde_json::to_vec(&block)?;
        let added = self.content.add(block);
        let is_accepted = added.is_ok();
        let body = if is_accepted && encoded.len() <= TAPED_BYTES_MAX { Body::whole } else { Body::digest };
        self.record_effect(|_| Effect::ContentAdded { block: body(&encoded), is_accepted })?;
        Ok(added.map_err(Into::into))
    }
}

impl From<wire::Block> for ContentBlock {
    fn from(block: wire::Block) -> Self {
        match block {
            wire::Block::Text(text) => Self::Text { text },
            wire::Block::Image(wire::Media { data, mime_type }) => Self::Image { data, mime_type },
            wire::Block::Audio(wire::Media { data, mime_type }) => Self::Audio { data, mime_type },
            wire::Block::Embedded(wire::EmbeddedResource { uri, mime_type, contents }) => {
                let contents = match contents {
                    wire::ResourceContents::Text(text) => ResourceContents::Text { text },
                    wire::ResourceContents::Blob(blob) => ResourceContents::Blob { blob },
                };
                Self::Resource { resource: EmbeddedResource { uri, mime_type, contents } }
            }
            wire::Block::Link(wire::ResourceLink { uri, name, description, mime_type }) => {
                Self::ResourceLink { uri, name, description, mime_type }
            }
        }
    }
}

impl From<ContentRefused> for wire::ContentError {
    fn from(refused: ContentRefused) -> Self {
        let code = match refused {
            ContentRefused::TooMany => wire::ErrorCode::TooMany,
            ContentRefused::TooLarge => wire::ErrorCode::TooLarge,
            ContentRefused::Invalid { .. } => wire::ErrorCode::Invalid,
        };
        Self { code, message: refused.to_string() }
    }
}
