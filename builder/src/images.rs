//! The interpreters that this release brings, one for each interpreted language.

use std::sync::Arc;

use registry::Artifacts;
use runner::{Compiler, Maker, NativeCode};

use crate::component::Image;
use crate::error::Error;
use crate::steps::inspect;

/// The images, stored, and their code on this node.
#[derive(Clone)]
pub struct Images {
    /// Where versions find them; none where there are no versions.
    artifacts: Option<Artifacts>,
    compiler: Compiler,
    python: Image,
}

impl Images {
    /// Stores the images. Their code is compiled when it is first needed.
    ///
    /// # Errors
    /// When an image is damaged or cannot be stored.
    pub async fn store(artifacts: Artifacts, compiler: Compiler) -> Result<Self, Error> {
        let component = python_image::component().map_err(Error::internal)?;
        let python = Image::new(python_image::NAME, &component);
        if !artifacts.contains(&python.digest).await? {
            artifacts.put(component).await?;
        }
        Ok(Self { artifacts: Some(artifacts), compiler, python })
    }

    /// The images where nothing is stored.
    ///
    /// # Errors
    /// When an image is damaged.
    pub fn unstored(compiler: Compiler) -> Result<Self, Error> {
        let component = python_image::component().map_err(Error::internal)?;
        Ok(Self { artifacts: None, compiler, python: Image::new(python_image::NAME, &component) })
    }

    #[must_use]
    pub const fn python(&self) -> &Image {
        &self.python
    }

    /// What compiles them, and tools of their own.
    #[must_use]
    pub const fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    /// Inspects and compiles the image on this node, which takes seconds, once.
    ///
    /// # Errors
    /// When the compiling child fails.
    pub async fn python_code(&self) -> Result<Arc<NativeCode>, Error> {
        self.compiler.ready(&self.python.digest, Maker::Platform, self.python_component()).await
    }

    /// The image as this program brings it, so that one that was lost or damaged is stored anew.
    async fn python_component(&self) -> Result<Vec<u8>, Error> {
        let inspected = || {
            let component = python_image::component().map_err(Error::internal)?;
            inspect::inspect_image(&component).map(|()| component)
        };
        let component: Arc<[u8]> = tokio::task::spawn_blocking(inspected).await.map_err(Error::internal)??.into();
        if let Some(artifacts) = &self.artifacts
            && let Err(error) = artifacts.put(component.clone()).await
        {
            tracing::warn!(%error, "the language image cannot be stored");
        }
        Ok(component.to_vec())
    }
}
