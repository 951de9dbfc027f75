//! The format of a version's component: an image with the author's bundle as a custom section.
//!
//! Image and bundle are stored apart. The digest covers the whole component, so that a version can be one file.

use std::io;
use std::sync::Arc;

use registry::Digest;
use runner::{Code, CodeBundle, Compiler, Maker, NativeCode};
use sha2::{Digest as _, Sha256};
use wasm_encoder::{ComponentSection, CustomSection, Encode};

use crate::error::Error;

/// The name of the custom section.
const BUNDLE_SECTION: &str = "lathe:bundle";

/// The interpreter of a language, as this release ships it.
#[derive(Debug, Clone, Copy)]
pub struct ShippedImage {
    pub name: &'static str,
    pub unpack: fn() -> io::Result<Vec<u8>>,
}

/// An interpreter with its digest, and the hash state that a bundle's section continues.
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

    /// The digest of the component that consists of the image and the bundle's section.
    #[must_use]
    pub fn component_digest(&self, bundle: &[u8]) -> Digest {
        let mut hasher = self.hasher.clone();
        hasher.update(build_section(bundle));
        Digest::from_bytes(hasher.finalize().into())
    }
}

/// An image with a tool's packages in its memory.
#[derive(Clone)]
pub struct Snapshot {
    pub image: Image,
    /// The digest of the image that the snapshot was made from.
    pub base: Digest,
    pub component: Arc<[u8]>,
    pub code: Arc<NativeCode>,
}

/// The code of a version.
#[derive(Debug, Clone)]
pub enum BuiltArtifact {
    /// A bundle for a language's image, or for a snapshot of it.
    Bundle {
        image: Digest,
        image_name: &'static str,
        bundle: CodeBundle,
        component: Digest,
        /// A snapshot's component, which no release ships, and the digest of its base image.
        snapshot: Option<(Arc<[u8]>, Digest)>,
    },
    /// A complete component.
    Component { bytes: Arc<[u8]>, digest: Digest },
}

impl BuiltArtifact {
    #[must_use]
    pub fn of_image(image: &Image, bundle: Vec<u8>) -> Self {
        let component = image.component_digest(&bundle);
        Self::Bundle {
            image: image.digest,
            image_name: image.name,
            bundle: CodeBundle::new(bundle),
            component,
            snapshot: None,
        }
    }

    /// A bundle for a snapshot with the tool's packages.
    #[must_use]
    pub fn of_snapshot(snapshot: &Snapshot, bundle: Vec<u8>) -> Self {
        let mut made = Self::of_image(&snapshot.image, bundle);
        if let Self::Bundle { snapshot: image, .. } = &mut made {
            *image = Some((snapshot.component.clone(), snapshot.base));
        }
        made
    }

    #[must_use]
    pub fn own(component: Vec<u8>) -> Self {
        Self::Component { digest: Digest::of(&component), bytes: component.into() }
    }

    /// The snapshot's component, which is stored beside the bundle.
    #[must_use]
    pub const fn snapshot(&self) -> Option<&Arc<[u8]>> {
        match self {
            Self::Bundle { snapshot: Some((component, _)), .. } => Some(component),
            Self::Bundle { .. } | Self::Component { .. } => None,
        }
    }

    /// The name and digest of the language's image that comes with Lathe. `None` for a complete component.
    #[must_use]
    pub const fn language_image(&self) -> Option<(&'static str, &Digest)> {
        match self {
            Self::Bundle { snapshot: Some((_, base)), image_name, .. } => Some((image_name, base)),
            Self::Bundle { image, image_name, .. } => Some((image_name, image)),
            Self::Component { .. } => None,
        }
    }

    /// The bytes to store under their digest: the bundle, or the whole component.
    #[must_use]
    pub const fn bytes(&self) -> &Arc<[u8]> {
        match self {
            Self::Bundle { bundle, .. } => bundle.bytes(),
            Self::Component { bytes, .. } => bytes,
        }
    }

    /// The component that a runner instantiates, and the bundle that it loads.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Bundle { image, bundle, .. } => Code { component: *image, bundle: bundle.clone() },
            Self::Component { digest, .. } => Code { component: *digest, bundle: CodeBundle::default() },
        }
    }

    /// Compiles an author's component for this node. An image is compiled already, since it compiled the bundle.
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

    /// The digest of the bundle. `None` for a complete component.
    #[must_use]
    pub const fn bundle_digest(&self) -> Option<Digest> {
        match self {
            Self::Bundle { bundle, .. } => Some(*bundle.digest()),
            Self::Component { .. } => None,
        }
    }

    /// The digest of the component as one file.
    #[must_use]
    pub const fn component_digest(&self) -> Digest {
        match self {
            Self::Bundle { component: digest, .. } | Self::Component { digest, .. } => *digest,
        }
    }
}

fn build_section(bundle: &[u8]) -> Vec<u8> {
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
    fn the_component_contains_the_bundle_and_its_digest_covers_both() {
        let empty = wasm_encoder::Component::new().finish();
        let whole = [empty.clone(), build_section(b"code")].concat();
        let found = Parser::new(0).parse_all(&whole).find_map(|payload| match payload {
            Ok(Payload::CustomSection(section)) if section.name() == BUNDLE_SECTION => Some(section.data().to_vec()),
            _ => None,
        });
        assert_eq!(found.as_deref(), Some(&b"code"[..]));
        assert_eq!(Image::new("image", &empty).component_digest(b"code"), Digest::of(&whole));
    }
}
