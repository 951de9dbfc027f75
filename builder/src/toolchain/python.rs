//! Python: a bundle of code objects for the image.

use runner::{Project as Sources, SourceFile};

use super::{Made, Project};
use crate::component::Artefact;
use crate::error::Error;
use crate::progress::Progress;
use crate::steps::bundle;
use crate::workbench::Workbench;

/// # Errors
/// When a package cannot be had, or the code does not compile or import.
pub async fn make(project: Project<'_>, workbench: &Workbench, progress: &Progress) -> Result<Made, Error> {
    let Project { manifest, files, derive_schema } = project;
    let code = progress.step("image", workbench.images.python_code()).await?;
    let fetch = workbench.packages.fetch(manifest, &files, progress);
    let (packages, dependencies) = progress.step("dependencies", fetch).await?;
    let files = files.into_iter().map(|(path, contents)| SourceFile { path, contents }).collect();
    let sources = Sources { entry_point: manifest.entry_point.clone(), files, dependencies };
    let bundle = bundle::bundle(&code, &workbench.config.bundler, sources, derive_schema);
    let made = progress.step("compile", bundle).await?;
    let artefact = Artefact::of_image(workbench.images.python(), made.bytes);
    Ok(Made { artefact, packages, input_schema: made.input_schema })
}
