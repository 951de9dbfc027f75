//! JavaScript and TypeScript: one script, evaluated by the image.

use runner::{Project as Sources, SourceFile};

use super::{Made, Project};
use crate::component::Artefact;
use crate::error::Error;
use crate::progress::Progress;
use crate::steps::{bundle, esbuild};
use crate::workbench::Workbench;

/// # Errors
/// When a package cannot be had, the sources do not bundle, or the script does not run.
pub async fn make(project: Project<'_>, workbench: &Workbench, progress: &Progress) -> Result<Made, Error> {
    let Project { manifest, files, derive_schema } = project;
    let (image, code) = progress.step("image", workbench.images.javascript()).await?;
    let fetch = workbench.npm.fetch(manifest, &files, progress);
    let (mut packages, dependencies) = progress.step("dependencies", fetch).await?;
    let files = files.into_iter().map(|(path, contents)| SourceFile { path, contents }).collect();
    let sources = esbuild::Sources { entry_point: &manifest.entry_point, files, packages: dependencies };
    let bundling = esbuild::bundle(workbench.config.esbuild.as_ref(), &workbench.config.confiner, sources);
    let script = progress.step("bundle", bundling).await?;
    if let Some(esbuild) = workbench.config.esbuild.as_ref() {
        packages.push(esbuild.identity().await?);
    }
    let sources = Sources { entry_point: manifest.entry_point.clone(), files: script, dependencies: Vec::new() };
    let bundle = bundle::bundle(&code, &workbench.config.bundler, sources, derive_schema);
    let made = progress.step("compile", bundle).await?;
    Ok(Made { artefact: Artefact::of_image(&image, made.bytes), packages, input_schema: made.input_schema })
}
