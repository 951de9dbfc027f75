//! What a worker made, as the server takes it.

use registry::{Digest, Language};

use super::wire::{self, Breach, Kind};
use crate::attestation::Package;
use crate::component::{Artefact, Image};
use crate::error::Error;
use crate::images::Images;
use crate::steps::bundle::BUNDLE_BYTES_MAX;
use crate::steps::inspect;
use crate::toolchain;

/// Why it cannot be taken.
pub enum Unusable {
    /// An honest worker would have refused it itself, or the server has a trouble of its own.
    Refused(Error),
    Breach(Breach),
}

impl From<Error> for Unusable {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<Breach> for Unusable {
    fn from(breach: Breach) -> Self {
        Self::Breach(breach)
    }
}

/// Looks at it as at any bytes from a stranger. Its image is stored and ready then; of a component of its own, nothing is
/// compiled yet.
///
/// # Errors
/// When no worker of this program makes it of such a project.
pub async fn received(
    made: wire::Made,
    bytes: Vec<u8>,
    language: Language,
    images: &Images,
) -> Result<toolchain::Made, Unusable> {
    let wire::Made { kind, packages, input_schema } = made;
    let packages = packages.into_iter().map(Package::try_from).collect::<Result<Vec<_>, _>>()?;
    let artefact = match (kind, language) {
        (Kind::Component, Language::Rust) => inspected(bytes).await?,
        (Kind::Bundle { image }, Language::Python | Language::JavaScript) => {
            let artefact = bundle(&image_of(language, images).await?, Digest::from_bytes(image), bytes)?;
            if language == Language::Python {
                images.python_code().await?;
            }
            artefact
        }
        _ => return Err(Breach("it made something of another language".into()).into()),
    };
    Ok(toolchain::Made { artefact, packages, input_schema })
}

async fn image_of(language: Language, images: &Images) -> Result<Image, Error> {
    match language {
        Language::JavaScript => Ok(images.javascript().await?.0),
        _ => Ok(images.python().clone()),
    }
}

/// One that it shares with the server: where every image has its digest, a build that used another is none of ours.
fn bundle(image: &Image, named: Digest, bytes: Vec<u8>) -> Result<Artefact, Breach> {
    if image.digest != named {
        return Err(Breach(format!("it made a bundle for the image {named}")));
    }
    if bytes.len() > BUNDLE_BYTES_MAX {
        return Err(Breach(format!("it made a bundle of {} bytes", bytes.len())));
    }
    Ok(Artefact::of_image(image, bytes))
}

async fn inspected(component: Vec<u8>) -> Result<Artefact, Error> {
    let inspect = move || inspect::inspect_tool(&component).map(|()| Artefact::own(component));
    tokio::task::spawn_blocking(inspect).await.map_err(Error::internal)?
}
