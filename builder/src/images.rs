//! The images that this release ships, one for each interpreted language.

use std::sync::Arc;

use registry::{Artifacts, Language};
use runner::{Compiler, Maker, NativeCode};
use tokio::sync::OnceCell;

use crate::blocking::blocking;
use crate::component::{Image, ShippedImage};
use crate::error::Error;
use crate::steps::inspect;
use crate::toolchain::languages::CONVENTIONS;

/// The images and their compiled code on this node. Clones share them.
#[derive(Clone)]
pub struct Images {
    /// The store of versions' images. `None` in processes without versions.
    artifacts: Option<Artifacts>,
    compiler: Compiler,
    images: Arc<[LazyImage]>,
}

/// An image that is unpacked and stored at first use, so that servers without tools of the language save both.
struct LazyImage {
    language: Language,
    shipped: ShippedImage,
    image: OnceCell<Image>,
}

/// An image with its compiled code.
pub struct ReadyImage {
    pub image: Image,
    pub code: Arc<NativeCode>,
}

impl Images {
    /// Stores the image of the default language immediately, and the others at first use.
    ///
    /// # Errors
    /// When the image is damaged or cannot be stored.
    pub async fn store(artifacts: Artifacts, compiler: Compiler) -> Result<Self, Error> {
        let images = Self { artifacts: Some(artifacts), ..Self::unstored(compiler) };
        images.image(Language::Python).await?;
        Ok(images)
    }

    /// The images of a process that stores nothing.
    #[must_use]
    pub fn unstored(compiler: Compiler) -> Self {
        let lazy = |(language, shipped)| LazyImage { language, shipped, image: OnceCell::new() };
        let images = CONVENTIONS.iter().filter_map(|convention| Some((convention.language, convention.image?)));
        Self { artifacts: None, compiler, images: images.map(lazy).collect() }
    }

    /// The compiler of images and of authors' components.
    #[must_use]
    pub const fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    /// The image of a language.
    ///
    /// # Errors
    /// When the image is damaged or cannot be stored, or the language has none.
    pub async fn image(&self, language: Language) -> Result<Image, Error> {
        self.unpacked(self.lazy(language)?).await
    }

    /// Stores the image of a language for a version that is about to be published, or renews its time.
    ///
    /// # Errors
    /// When the image is damaged or cannot be stored, or the language has none.
    pub async fn keep(&self, language: Language) -> Result<(), Error> {
        let lazy = self.lazy(language)?;
        let image = self.unpacked(lazy).await?;
        if let Some(artifacts) = &self.artifacts
            && !artifacts.renew(&image.digest).await?
        {
            artifacts.put(blocking(lazy.shipped.unpack).await?.map_err(Error::internal)?).await?;
        }
        Ok(())
    }

    /// The image of a language and its code, which the first call on this node compiles within seconds.
    ///
    /// # Errors
    /// When the image is damaged or cannot be stored, or the compiling child process fails.
    pub async fn ready(&self, language: Language) -> Result<ReadyImage, Error> {
        let lazy = self.lazy(language)?;
        let image = self.unpacked(lazy).await?;
        let code = self.compiler.ready(&image.digest, Maker::Platform, self.component(lazy.shipped)).await?;
        Ok(ReadyImage { image, code })
    }

    fn lazy(&self, language: Language) -> Result<&LazyImage, Error> {
        let found = self.images.iter().find(|lazy| lazy.language == language);
        found.ok_or_else(|| Error::internal(format!("{} has no image", language.as_str())))
    }

    async fn unpacked(&self, lazy: &LazyImage) -> Result<Image, Error> {
        let LazyImage { shipped: ShippedImage { name, unpack }, image, .. } = lazy;
        let unpack_and_store = || async {
            let component = blocking(*unpack).await?.map_err(Error::internal)?;
            let image = Image::new(name, &component);
            if let Some(artifacts) = &self.artifacts
                && !artifacts.contains(&image.digest).await?
            {
                artifacts.put(component).await?;
            }
            Ok::<_, Error>(image)
        };
        image.get_or_try_init(unpack_and_store).await.cloned()
    }

    /// The image as this program ships it. It is stored again, in case the stored one is lost or damaged.
    async fn component(&self, shipped: ShippedImage) -> Result<Vec<u8>, Error> {
        let inspected = move || {
            let component = (shipped.unpack)().map_err(Error::internal)?;
            inspect::inspect_image(&component).map(|()| component)
        };
        let component: Arc<[u8]> = blocking(inspected).await??.into();
        if let Some(artifacts) = &self.artifacts
            && let Err(error) = artifacts.put(component.clone()).await
        {
            tracing::warn!(%error, "the language image cannot be stored");
        }
        Ok(component.to_vec())
    }
}
