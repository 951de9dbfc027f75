//! The images that this release ships, one for each interpreted language.

use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use registry::{Artifacts, Language};
use runner::{Compiler, Maker, NativeCode};
use tokio::sync::OnceCell;
use tokio::time::timeout;

use crate::blocking::blocking;
use crate::component::{Image, ShippedImage};
use crate::conventions::CONVENTIONS;
use crate::error::Error;
use crate::progress::{BuildProgress, count_milliseconds};
use crate::steps::inspect;

/// Time after which a build says that it waits for compiled code. Code from the cache is there sooner.
const SHOWN_AFTER: Duration = Duration::from_secs(1);
/// Interval of the lines about code that is being compiled.
const SHOWN_EVERY: Duration = Duration::from_secs(5);

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
        images.unpack_image(Language::Python).await?;
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
    pub async fn unpack_image(&self, language: Language) -> Result<Image, Error> {
        self.unpack(self.find_lazy(language)?).await
    }

    /// Stores the image of a language for a version that is about to be published, or renews its time.
    ///
    /// # Errors
    /// When the image is damaged or cannot be stored, or the language has none.
    pub async fn keep(&self, language: Language) -> Result<(), Error> {
        let lazy = self.find_lazy(language)?;
        let image = self.unpack(lazy).await?;
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
    pub async fn prepare(&self, language: Language) -> Result<ReadyImage, Error> {
        let lazy = self.find_lazy(language)?;
        let image = self.unpack(lazy).await?;
        let compiling = OnceLock::new();
        let component = async {
            tracing::info!(language = language.as_str(), "compiling a language image, once on this machine");
            compiling.get_or_init(now);
            self.unpack_again(lazy.shipped).await
        };
        let code = self.compiler.ready(&image.digest, Maker::Platform, component).await?;
        if let Some(begun) = compiling.get() {
            let duration_ms = count_milliseconds(begun.elapsed());
            tracing::info!(language = language.as_str(), duration_ms, "a language image is compiled");
        }
        Ok(ReadyImage { image, code })
    }

    /// Like [`Images::prepare`]. While the code is compiled, the log of the build gets lines, so that its reader knows what it waits for.
    ///
    /// # Errors
    /// Those of [`Images::prepare`].
    pub async fn prepare_with_progress(
        &self,
        language: Language,
        progress: &BuildProgress,
    ) -> Result<ReadyImage, Error> {
        let mut ready = pin!(self.prepare(language));
        if let Ok(done) = timeout(SHOWN_AFTER, &mut ready).await {
            return done;
        }
        let name = language.as_str();
        progress.line(format!(
            "the code of the {name} image is being compiled: once on this machine, and again after an upgrade"
        ));
        let begun = now();
        loop {
            match timeout(SHOWN_EVERY, &mut ready).await {
                Ok(done) => return done,
                Err(_) => progress.line(format!("the {name} image: {} s so far", begun.elapsed().as_secs())),
            }
        }
    }

    fn find_lazy(&self, language: Language) -> Result<&LazyImage, Error> {
        let found = self.images.iter().find(|lazy| lazy.language == language);
        found.ok_or_else(|| Error::internal(format!("{} has no image", language.as_str())))
    }

    async fn unpack(&self, lazy: &LazyImage) -> Result<Image, Error> {
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
    async fn unpack_again(&self, shipped: ShippedImage) -> Result<Vec<u8>, Error> {
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

#[expect(clippy::disallowed_methods, reason = "the duration is only shown")]
fn now() -> Instant {
    Instant::now()
}
