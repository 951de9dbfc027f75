//! JavaScript and TypeScript: one script, evaluated by the image, or by one that has the packages in it.

use registry::Language;
use runner::{NativeCode, Project as Sources, SourceFile};

use super::{Made, Project, pins};
use crate::attestation::Package;
use crate::component::{Artefact, Image};
use crate::error::Error;
use crate::progress::Progress;
use crate::snapshots::{Ingredients, Snapshot};
use crate::steps::bundle;
use crate::steps::esbuild;
use crate::steps::esbuild::packages::{self as apart, Apart};
use crate::workbench::Workbench;

/// The author's code, and the image that has its packages; or without one, all in one script.
struct Bundled {
    script: Vec<SourceFile>,
    snapshot: Option<Snapshot>,
}

/// # Errors
/// When a package cannot be had, the sources do not bundle, or the script does not run.
pub async fn make(project: Project<'_>, workbench: &Workbench, progress: &Progress) -> Result<Made, Error> {
    let Project { manifest, files, derive_schema } = project;
    let (image, code) = progress.step("image", workbench.images.javascript()).await?;
    let fetch = workbench.npm.fetch(manifest, &files, progress);
    let (mut packages, dependencies) = progress.step("dependencies", fetch).await?;
    let files = files.into_iter().map(|(path, contents)| SourceFile { path, contents }).collect();
    if let Some(esbuild) = workbench.config.esbuild.as_ref() {
        let bundler = esbuild.identity().await?;
        pins::check(&bundler, workbench.config.esbuild_digest.as_ref(), "esbuild_digest")?;
        packages.push(bundler);
    }
    let sources = esbuild::Sources { entry_point: &manifest.entry_point, files, packages: dependencies };
    let bundling = bundled(sources, &packages, (&image, &code), workbench, progress);
    let Bundled { script, snapshot } = progress.step("bundle", bundling).await?;
    let sources = Sources { entry_point: manifest.entry_point.clone(), files: script, dependencies: Vec::new() };
    let code = snapshot.as_ref().map_or(&code, |snapshot| &snapshot.code);
    let bundle = bundle::bundle(code, &workbench.config.bundler, sources, derive_schema);
    let made = progress.step("compile", bundle).await?;
    let artefact = match &snapshot {
        Some(snapshot) => Artefact::of_snapshot(snapshot, made.bytes),
        None => Artefact::of_image(&image, made.bytes),
    };
    Ok(Made { artefact, packages, input_schema: made.input_schema })
}

async fn bundled(
    sources: esbuild::Sources<'_>,
    packages: &[Package],
    (image, code): (&Image, &NativeCode),
    workbench: &Workbench,
    progress: &Progress,
) -> Result<Bundled, Error> {
    let esbuild = workbench.config.esbuild.as_ref();
    let site = esbuild::Site { confiner: &workbench.config.confiner, scratches: &workbench.scratches };
    let apart = match esbuild {
        Some(esbuild) if !sources.packages.is_empty() => apart::apart(esbuild, site, &sources).await?,
        _ => None,
    };
    if let Some((esbuild, Apart { script, imports, importer })) = esbuild.zip(apart) {
        // What cannot be bundled is told with the line of the author's that imports it.
        let files = async || Some(vec![apart::alone(esbuild, site, &sources, &imports).await.ok()?]);
        let (language, component, importer) = (Language::JavaScript, javascript_image::component, importer.as_str());
        let of = Ingredients { language, image, code, component, packages, imports: imports.clone(), importer };
        let snapshot = workbench.snapshots.get(of, files, progress).await?;
        if snapshot.is_some() {
            return Ok(Bundled { script, snapshot });
        }
    }
    let script = esbuild::bundle(esbuild, site, sources).await?;
    Ok(Bundled { script, snapshot: None })
}
