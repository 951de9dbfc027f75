//! A version's component: an image, and the author's bundle as a custom
//! section of it. The two are stored apart and their digest is of the whole,
//! so that the version is one file wherever it is carried.

use std::sync::Arc;

use registry::Digest;
use runner::{Code, Compiler, Maker};
use sha2::{Digest as _, Sha256};
use wasm_encoder::{ComponentSection, CustomSection, Encode};

use crate::error::Error;
use crate::snapshots::Snapshot;

/// The custom section's name.
pub const BUNDLE_SECTION: &str = "lathe:bundle";

/// A language's interpreter, and the state of its digest before any bundle.
#[derive(Clone)]
pub struct Image {
    pub digest: Digest,
    pub name: &'static str,
    hasher: Sha256,
}

impl Image {
    #[must_use]
    pub fn new(name: &'static str, component: &[u8]) -> Self {
        let hasher = Sha256::new_with_prefix(component);
        Self { digest: Digest::from_bytes(hasher.clone().finalize().into()), name, hasher }
    }

    /// The digest of [`with_bundle`], without the copy.
    #[must_use]
    pub fn component_digest(&self, bundle: &[u8]) -> Digest {
        let mut hasher = self.hasher.clone();
        hasher.update(section(bundle));
        Digest::from_bytes(hasher.finalize().into())
    }
}

/// What a version runs.
#[derive(Debug, Clone)]
pub enum Artefact {
    /// Code for a language's image.
    Bundle {
        image: Digest,
        image_name: &'static str,
        bytes: Arc<[u8]>,
        component: Digest,
        /// The image itself, when no release brings it, and which one it was made of.
        snapshot: Option<(Arc<[u8]>, Digest)>,
    },
    /// A component of its own.
    Component { bytes: Arc<[u8]>, digest: Digest },
}

impl Artefact {
    #[must_use]
    pub fn of_image(image: &Image, bundle: Vec<u8>) -> Self {
        let component = image.component_digest(&bundle);
        Self::Bundle { image: image.digest, image_name: image.name, bytes: bundle.into(), component, snapshot: None }
    }

    /// Code for an image that has the tool's packages in it.
    #[must_use]
    pub fn of_snapshot(snapshot: &Snapshot, bundle: Vec<u8>) -> Self {
        let mut made = Self::of_image(&snapshot.image, bundle);
        if let Self::Bundle { snapshot: image, .. } = &mut made {
            *image = Some((snapshot.component.clone(), snapshot.of));
        }
        made
    }

    #[must_use]
    pub fn own(component: Vec<u8>) -> Self {
        Self::Component { digest: Digest::of(&component), bytes: component.into() }
    }

    /// What is to be stored besides, likewise.
    #[must_use]
    pub const fn snapshot(&self) -> Option<&Arc<[u8]>> {
        match self {
            Self::Bundle { snapshot: Some((component, _)), .. } => Some(component),
            Self::Bundle { .. } | Self::Component { .. } => None,
        }
    }

    /// The language's image, as a release brings it, with its name.
    #[must_use]
    pub const fn language_image(&self) -> Option<(&'static str, &Digest)> {
        match self {
            Self::Bundle { snapshot: Some((_, of)), image_name, .. } => Some((image_name, of)),
            Self::Bundle { image, image_name, .. } => Some((image_name, image)),
            Self::Component { .. } => None,
        }
    }

    /// What is to be stored, and found again by its digest.
    #[must_use]
    pub const fn bytes(&self) -> &Arc<[u8]> {
        match self {
            Self::Bundle { bytes, .. } | Self::Component { bytes, .. } => bytes,
        }
    }

    /// What a runner instantiates, with what it loads into it.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Bundle { image, bytes, .. } => Code { component: *image, bundle: bytes.clone() },
            Self::Component { digest, .. } => Code { component: *digest, bundle: [].into() },
        }
    }

    /// Has the code compiled that runs will need. That of an image was compiled when the image compiled the bundle.
    ///
    /// # Errors
    /// When the author's component is refused.
    pub async fn make_ready(&self, compiler: &Compiler) -> Result<(), Error> {
        match self {
            Self::Bundle { .. } => Ok(()),
            Self::Component { bytes, digest } => {
                let component = async { Ok::<_, Error>(bytes.to_vec()) };
                compiler.ready(digest, Maker::Author, component).await.map(drop)
            }
        }
    }

    /// Of the author's code, if it lies apart from the component.
    #[must_use]
    pub fn bundle_digest(&self) -> Option<Digest> {
        match self {
            Self::Bundle { bytes, .. } => Some(Digest::of(bytes)),
            Self::Component { .. } => None,
        }
    }

    /// Of the whole, as one file.
    #[must_use]
    pub const fn component_digest(&self) -> Digest {
        match self {
            Self::Bundle { component: digest, .. } | Self::Component { digest, .. } => *digest,
        }
    }
}

/// The component that carries the bundle.
#[must_use]
pub fn with_bundle(image: &[u8], bundle: &[u8]) -> Vec<u8> {
    [image, &section(bundle)].concat()
}

fn section(bundle: &[u8]) -> Vec<u8> {
    let section = CustomSection { name: BUNDLE_SECTION.into(), data: bundle.into() };
    let mut bytes = vec![ComponentSection::id(&section)];
    section.encode(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasmparser::{Parser, Payload};

    #[test]
    fn the_bundle_is_found_again_and_the_digest_is_of_the_whole() {
        let empty = wasm_encoder::Component::new().finish();
        let whole = with_bundle(&empty, b"code");
        let found = Parser::new(0).parse_all(&whole).find_map(|payload| match payload {
            Ok(Payload::CustomSection(section)) if section.name() == BUNDLE_SECTION => Some(section.data().to_vec()),
            _ => None,
        });
        assert_eq!(found.as_deref(), Some(&b"code"[..]));
        assert_eq!(Image::new("image", &empty).component_digest(b"code"), Digest::of(&whole));
    }
}
