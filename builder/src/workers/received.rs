//! What a worker made, as the server takes it.

use std::io;
use std::sync::Arc;

use registry::{Digest, Language};
use runner::Maker;

use super::wire::{self, Breach, Bytes, Kind};
use crate::attestation::Package;
use crate::component::{Artefact, Image};
use crate::error::Error;
use crate::images::Images;
use crate::snapshots::{self, Snapshot};
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
    bytes: Bytes,
    language: Language,
    images: &Images,
) -> Result<toolchain::Made, Unusable> {
    let wire::Made { kind, packages, input_schema } = made;
    let packages = packages.into_iter().map(Package::try_from).collect::<Result<Vec<_>, _>>()?;
    let artefact = match (kind, language) {
        (Kind::Component, Language::Rust) => inspected(bytes.artefact).await?,
        (Kind::Bundle { image: named, .. }, Language::Python | Language::JavaScript) => {
            bundle(&image_of(language, images).await?, Digest::from_bytes(named), bytes, images).await?
        }
        _ => return Err(Breach("it made something of another language".into()).into()),
    };
    Ok(toolchain::Made { artefact, packages, input_schema })
}

/// A language's image of the server's own.
struct Own {
    language: Language,
    image: Image,
    component: fn() -> io::Result<Vec<u8>>,
}

async fn image_of(language: Language, images: &Images) -> Result<Own, Error> {
    match language {
        Language::JavaScript => {
            let (image, _) = images.javascript().await?;
            Ok(Own { language, image, component: javascript_image::component })
        }
        _ => Ok(Own { language, image: images.python().clone(), component: python_image::component }),
    }
}

/// One that it shares with the server: where every image has its digest, a build that used another is none of ours.
async fn bundle(own: &Own, named: Digest, bytes: Bytes, images: &Images) -> Result<Artefact, Unusable> {
    let Bytes { snapshot, artefact: bundle } = bytes;
    if own.image.digest != named {
        return Err(Breach(format!("it made a bundle for the image {named}")).into());
    }
    if bundle.len() > BUNDLE_BYTES_MAX {
        return Err(Breach(format!("it made a bundle of {} bytes", bundle.len())).into());
    }
    let snapshot = match snapshot {
        Some(component) => Some(taken(own, component.into()).await?),
        None => None,
    };
    if own.language == Language::Python {
        images.python_code().await?;
    }
    let Some((image, component)) = snapshot else { return Ok(Artefact::of_image(&own.image, bundle)) };
    let bytes = async { Ok::<_, Error>(component.to_vec()) };
    let code = images.compiler().ready(&image.digest, Maker::Platform, bytes).await?;
    let snapshot = Snapshot { image, of: own.image.digest, component, code };
    Ok(Artefact::of_snapshot(&snapshot, bundle))
}

/// The memory is the worker's, as the code in the bundle is. All else of it, which is compiled as the platform's own, is the
/// image's to the byte: nothing else is left to inspect.
async fn taken(own: &Own, component: Arc<[u8]>) -> Result<(Image, Arc<[u8]>), Unusable> {
    let (name, unpack) = (own.image.name, own.component);
    let compare = move || {
        let image = unpack().map_err(Error::internal)?;
        let is_one = snapshots::is_snapshot(&component, &image);
        Ok::<_, Error>(is_one.then(|| (Image::new(name, &component), component)))
    };
    let compared = tokio::task::spawn_blocking(compare).await.map_err(Error::internal)??;
    Ok(compared.ok_or_else(|| Breach("it made a snapshot that is none of the image".into()))?)
}

async fn inspected(component: Vec<u8>) -> Result<Artefact, Error> {
    let inspect = move || inspect::inspect_tool(&component).map(|()| Artefact::own(component));
    tokio::task::spawn_blocking(inspect).await.map_err(Error::internal)?
}
