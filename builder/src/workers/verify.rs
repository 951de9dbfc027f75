//! Verifies what a worker has built, since a build that has compromised its worker could send anything.

use std::sync::Arc;

use registry::{Digest, Language};
use runner::Maker;

use super::protocol::{self, Bytes, Kind};
use super::violation::ProtocolViolation;
use crate::attestation::Package;
use crate::blocking::blocking;
use crate::component::{BuiltArtifact, Image, ShippedImage, Snapshot};
use crate::conventions::find_convention;
use crate::error::Error;
use crate::images::Images;
use crate::snapshots;
use crate::steps::bundle::BUNDLE_BYTES_MAX;
use crate::steps::inspect;
use crate::toolchain::pinned::PinnedPackages;
use crate::toolchain::project::ToolchainOutput;

/// A rejected result.
pub enum Rejection {
    /// The component is refused, as an honest worker would refuse it, or the server itself failed.
    Refused(Error),
    Violation(ProtocolViolation),
}

impl From<Error> for Rejection {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<ProtocolViolation> for Rejection {
    fn from(violation: ProtocolViolation) -> Self {
        Self::Violation(violation)
    }
}

/// Verifies results for projects of one language.
pub struct Verifier<'a> {
    pub language: Language,
    pub images: &'a Images,
    /// The packages of the project's lock file, or its refusal.
    pub pinned: &'a Result<PinnedPackages, Error>,
}

impl Verifier<'_> {
    /// Verifies a result. The image of a bundle is stored and compiled then; a complete component is not compiled yet.
    ///
    /// # Errors
    /// When no worker of this program would build this from a project in this language.
    pub async fn verify(&self, made: protocol::OutputMessage, bytes: Bytes) -> Result<ToolchainOutput, Rejection> {
        let protocol::OutputMessage { kind, packages, input_schema } = made;
        let packages = packages.into_iter().map(Package::try_from).collect::<Result<Vec<_>, _>>()?;
        self.are_pinned(&packages)?;
        let shipped = find_convention(self.language).and_then(|convention| convention.image);
        let artifact = match (kind, shipped) {
            (Kind::Component, None) => inspect_component(bytes.artifact).await?,
            (Kind::Bundle { image: named, .. }, Some(shipped)) => {
                let image = self.images.unpack_image(self.language).await?;
                if image.digest != Digest::from_bytes(named) {
                    let named = Digest::from_bytes(named);
                    return Err(ProtocolViolation(format!("it built a bundle for the image {named}")).into());
                }
                self.verify_bundle(&image, shipped, bytes).await?
            }
            _ => return Err(ProtocolViolation("it built a component of another language".into()).into()),
        };
        Ok(ToolchainOutput { artifact, packages, input_schema })
    }

    fn are_pinned(&self, packages: &[Package]) -> Result<(), ProtocolViolation> {
        match self.pinned {
            Ok(pinned) if pinned.are(packages) => Ok(()),
            Ok(_) => Err(ProtocolViolation("it named other packages than those of the lock file".into())),
            Err(error) => Err(ProtocolViolation(format!("it built a project that is refused: {error}"))),
        }
    }

    async fn verify_bundle(
        &self,
        image: &Image,
        shipped: ShippedImage,
        bytes: Bytes,
    ) -> Result<BuiltArtifact, Rejection> {
        let Bytes { snapshot, artifact: bundle } = bytes;
        if bundle.len() > BUNDLE_BYTES_MAX {
            let message = format!("it built a bundle of {} bytes; the limit is {BUNDLE_BYTES_MAX}", bundle.len());
            return Err(ProtocolViolation(message).into());
        }
        let snapshot = match snapshot {
            Some(component) => Some(compare_component(component.into(), shipped).await?),
            None => None,
        };
        self.images.prepare(self.language).await?;
        let Some((of_snapshot, component)) = snapshot else { return Ok(BuiltArtifact::of_image(image, bundle)) };
        let bytes = async { Ok::<_, Error>(component.to_vec()) };
        let code = self.images.compiler().ready(&of_snapshot.digest, Maker::Platform, bytes).await?;
        let snapshot = Snapshot { image: of_snapshot, base: image.digest, component, code };
        Ok(BuiltArtifact::of_snapshot(&snapshot, bundle))
    }
}

/// Compares a snapshot with its image. Only the memory may differ, which comes from the worker like the bundle. All other
/// bytes, which are compiled as the platform's own code, must be the image's, so that they need no inspection.
async fn compare_component(component: Arc<[u8]>, shipped: ShippedImage) -> Result<(Image, Arc<[u8]>), Rejection> {
    let compare = move || {
        let image = (shipped.unpack)().map_err(Error::internal)?;
        let is_snapshot = snapshots::is_snapshot(&component, &image);
        Ok::<_, Error>(is_snapshot.then(|| (Image::new(shipped.name, &component), component)))
    };
    let compared = blocking(compare).await??;
    Ok(compared.ok_or_else(|| ProtocolViolation("it made a snapshot that is not one of the image".into()))?)
}

async fn inspect_component(component: Vec<u8>) -> Result<BuiltArtifact, Error> {
    let inspect = move || inspect::inspect_tool(&component).map(|()| BuiltArtifact::own(component));
    blocking(inspect).await?
}
