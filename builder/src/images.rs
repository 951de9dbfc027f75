//! The interpreters that this release brings, one for each interpreted language.

use std::io;
use std::sync::Arc;

use registry::Artifacts;
use runner::{Compiler, Maker, NativeCode};
use tokio::sync::OnceCell;

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
    /// Unpacked and stored when the first tool wants it: a server without such tools is spared both.
    javascript: Arc<OnceCell<Image>>,
}

impl Images {
    /// Stores the images. Their code is compiled when it is first needed.
    ///
    /// # Errors
    /// When an image is damaged or cannot be stored.
    pub async fn store(artifacts: Artifacts, compiler: Compiler) -> Result<Self, Error> {
        let component = python_image::component().map_err(Error::internal)?;
        let python = stored(Some(&artifacts), python_image::NAME, component).await?;
        Ok(Self { artifacts: Some(artifacts), compiler, python, javascript: Arc::default() })
    }

    /// The images where nothing is stored.
    ///
    /// # Errors
    /// When an image is damaged.
    pub fn unstored(compiler: Compiler) -> Result<Self, Error> {
        let component = python_image::component().map_err(Error::internal)?;
        let python = Image::new(python_image::NAME, &component);
        Ok(Self { artifacts: None, compiler, python, javascript: Arc::default() })
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
        self.code(&self.python, python_image::component).await
    }

    /// The JavaScript image and its code, both made at the first call.
    ///
    /// # Errors
    /// When the image is damaged, cannot be stored, or the compiling child fails.
    pub async fn javascript(&self) -> Result<(Image, Arc<NativeCode>), Error> {
        let first = async {
            let unpacked = tokio::task::spawn_blocking(javascript_image::component).await.map_err(Error::internal)?;
            stored(self.artifacts.as_ref(), javascript_image::NAME, unpacked.map_err(Error::internal)?).await
        };
        let image = self.javascript.get_or_try_init(|| first).await?;
        Ok((image.clone(), self.code(image, javascript_image::component).await?))
    }

    async fn code(&self, image: &Image, unpack: fn() -> io::Result<Vec<u8>>) -> Result<Arc<NativeCode>, Error> {
        self.compiler.ready(&image.digest, Maker::Platform, self.component(unpack)).await
    }

    /// The image as this program brings it, so that one that was lost or damaged is stored anew.
    async fn component(&self, unpack: fn() -> io::Result<Vec<u8>>) -> Result<Vec<u8>, Error> {
        let inspected = move || {
            let component = unpack().map_err(Error::internal)?;
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

async fn stored(artifacts: Option<&Artifacts>, name: &'static str, component: Vec<u8>) -> Result<Image, Error> {
    let image = Image::new(name, &component);
    if let Some(artifacts) = artifacts
        && !artifacts.contains(&image.digest).await?
    {
        artifacts.put(component).await?;
    }
    Ok(image)
}
