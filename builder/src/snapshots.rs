//! Images that have a tool's packages in memory: made once for the same packages, and kept on this node.
//!
//! A snapshot is made of an image and of packages, each by its digest, and of nothing else: none of an author's code is in
//! it, and whoever has the same packages has the same snapshot. It is made in a child, inside the image.

mod failures;

use std::path::PathBuf;
use std::sync::Arc;

use registry::{Digest, Language};
use runner::{COMPONENT_BYTES_MAX, Compiled, Compiler, Maker, NativeCode, SourceFile};
use sha2::{Digest as _, Sha256};
use tokio::sync::Mutex;

use crate::attestation::Package;
use crate::component::Image;
use crate::config::Config;
use crate::error::Error;
use crate::progress::Progress;
use crate::steps::bundle::packages::{self, Loaded, Packages};
use failures::Failures;

/// Changes whenever the same packages would give something else, or what is kept of them has another form.
const RECIPE: &str = "lathe-snapshot-1";
/// Each is some fifty megabytes, and its code as much again. What was used last stays.
const KEPT_MAX: usize = 16;
/// What a run may have at least, with room for the tool itself.
const MEMORY_BYTES_MAX: usize = 96 << 20;

/// Snapshots on this node.
#[derive(Clone)]
pub struct Snapshots {
    compiler: Compiler,
    bundler: Arc<[String]>,
    shelf: Compiled,
    /// Two publishers of the same packages make one snapshot, or wait once for one that fails.
    one_is_made: Arc<Mutex<Failures>>,
}

/// What a snapshot is made of.
pub struct Ingredients<'a> {
    pub language: Language,
    pub image: &'a Image,
    pub code: &'a NativeCode,
    /// The image's own component.
    pub component: fn() -> std::io::Result<Vec<u8>>,
    pub packages: &'a [Package],
    pub imports: Vec<String>,
    /// Who imports them, where that makes a difference.
    pub importer: &'a str,
}

/// An image with packages in it.
#[derive(Clone)]
pub struct Snapshot {
    pub image: Image,
    /// The image that it was made of.
    pub of: Digest,
    pub component: Arc<[u8]>,
    pub code: Arc<NativeCode>,
}

impl Snapshots {
    /// # Errors
    /// When there is no directory for them.
    pub fn open(config: &Config, compiler: &Compiler) -> Result<Self, Error> {
        let directory: PathBuf = config.cache_dir.join("snapshots");
        let shelf = compiler.shelf(&directory)?;
        let bundler = config.bundler.clone().into();
        Ok(Self { compiler: compiler.clone(), bundler, shelf, one_is_made: Arc::default() })
    }

    /// The image with these packages in it, made now or before; nothing when it cannot be made, which the log says. The
    /// packages' files are asked for when they are needed; there may be none that could be used.
    ///
    /// # Errors
    /// When a child cannot be had.
    pub async fn get(
        &self,
        of: Ingredients<'_>,
        files: impl AsyncFnOnce() -> Option<Vec<SourceFile>>,
        progress: &Progress,
    ) -> Result<Option<Snapshot>, Error> {
        let key = key(of.image, of.packages, &of.imports, of.importer);
        let kept = match self.kept(key).await? {
            Some(kept) => kept,
            None => match self.made(key, &of, files).await? {
                Some(made) => made,
                None => return Ok(None),
            },
        };
        kept.notes.iter().for_each(|note| progress.line(note.clone()));
        if kept.component.is_empty() {
            return Ok(None);
        }
        let component = kept.component;
        let image = of_component(of.image.name, component.clone()).await?;
        let bytes = async { Ok::<_, Error>(component.to_vec()) };
        let code = self.compiler.ready(&image.digest, Maker::Platform, bytes).await?;
        Ok(Some(Snapshot { image, of: of.image.digest, component, code }))
    }

    /// One that was not kept a moment ago; nothing when there are no files.
    async fn made(
        &self,
        key: Digest,
        of: &Ingredients<'_>,
        files: impl AsyncFnOnce() -> Option<Vec<SourceFile>>,
    ) -> Result<Option<Kept>, Error> {
        let mut failures = self.one_is_made.lock().await;
        if let Some(kept) = self.kept(key).await? {
            return Ok(Some(kept));
        }
        if let Some(reason) = failures.reason(&key) {
            return Ok(Some(Kept::none(reason)));
        }
        let Some(files) = files().await else { return Ok(None) };
        match self.make(of, files).await? {
            Ok(made) => self.keep(key, made).await.map(Some),
            // Nobody knows whether it would again, but not at once.
            Err(failed) => Ok(Some(Kept::none(failures.add(key, failed.to_string())))),
        }
    }

    async fn kept(&self, key: Digest) -> Result<Option<Kept>, Error> {
        let shelf = self.shelf.clone();
        let found = tokio::task::spawn_blocking(move || Kept::read(&shelf.take(&key)?)).await;
        found.map_err(Error::internal)
    }

    /// A snapshot, or why there can be none; the inner error when a child failed.
    async fn make(&self, of: &Ingredients<'_>, files: Vec<SourceFile>) -> Result<Result<Kept, Error>, Error> {
        let packages = Packages { language: of.language, files, imports: of.imports.clone() };
        let (Loaded { left_out }, memory) = match packages::load(of.code, &self.bundler, packages).await {
            Ok(Ok(loaded)) => loaded,
            Ok(Err(reason)) => return Ok(Ok(Kept::none(&reason))),
            Err(failed) => return Ok(Err(failed)),
        };
        if memory.len() > MEMORY_BYTES_MAX {
            return Ok(Ok(Kept::none(&format!("they take {} bytes of memory", memory.len()))));
        }
        let component = of.component;
        let joined = move || {
            let component = component().map_err(Error::internal)?;
            runner::with_memory(&component, &memory).map_err(Error::from)
        };
        let component = tokio::task::spawn_blocking(joined).await.map_err(Error::internal)??;
        if component.len() > COMPONENT_BYTES_MAX {
            return Ok(Ok(Kept::none(&format!("they make an image of {} bytes", component.len()))));
        }
        let note = |(name, reason): (String, String)| format!("{name} is imported in each run: {reason}");
        Ok(Ok(Kept { notes: left_out.into_iter().map(note).collect(), component: component.into() }))
    }

    async fn keep(&self, key: Digest, made: Kept) -> Result<Kept, Error> {
        let (shelf, compiler) = (self.shelf.clone(), self.compiler.clone());
        let kept = move || {
            let written = made.write().and_then(|bytes| shelf.keep(&key, &bytes).map_err(Error::from));
            if let Err(error) = written {
                tracing::warn!(%error, "a snapshot cannot be kept, so that the next build makes it again");
            }
            for old in shelf.beyond(KEPT_MAX) {
                if let Some(kept) = shelf.take(&old).and_then(|bytes| Kept::read(&bytes)) {
                    compiler.forget(&Digest::of(&kept.component));
                }
                shelf.remove(&old);
            }
            made
        };
        tokio::task::spawn_blocking(kept).await.map_err(Error::internal)
    }
}

/// What is kept of a snapshot: what there is to say of it, and behind it the component, of no bytes when there can be none.
struct Kept {
    notes: Vec<String>,
    component: Arc<[u8]>,
}

impl Kept {
    fn none(reason: &str) -> Self {
        Self { notes: vec![format!("the packages are loaded in each run: {reason}")], component: [].into() }
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (notes, component) = postcard::take_from_bytes(bytes).ok()?;
        Some(Self { notes, component: component.into() })
    }

    fn write(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = postcard::to_allocvec(&self.notes).map_err(Error::internal)?;
        bytes.extend_from_slice(&self.component);
        Ok(bytes)
    }
}

/// Whether bytes from elsewhere are the image with another memory, and nothing else.
pub fn is_snapshot(component: &[u8], image: &[u8]) -> bool {
    let Ok(Some(memory)) = runner::memory_of(component, MEMORY_BYTES_MAX) else { return false };
    runner::with_memory(image, &memory).is_ok_and(|made| made == component)
}

async fn of_component(name: &'static str, component: Arc<[u8]>) -> Result<Image, Error> {
    tokio::task::spawn_blocking(move || Image::new(name, &component)).await.map_err(Error::internal)
}

/// Names a snapshot by what it is made of.
fn key(image: &Image, packages: &[Package], imports: &[String], importer: &str) -> Digest {
    let mut hasher = Sha256::new();
    let mut line = |text: &str| {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    };
    line(RECIPE);
    line(&image.digest.to_hex());
    line("imports");
    imports.iter().for_each(|name| line(name));
    line(importer);
    line("packages");
    for package in packages {
        line(&package.url());
        if let Some(hash) = &package.hash {
            line(hash.algorithm);
            line(&hash.hex);
        }
    }
    Digest::from_bytes(hasher.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attestation::Hash;

    fn name(change: impl FnOnce(&mut Package), imports: &[&str], importer: &str) -> Digest {
        let image = Image::new("image", b"an image");
        let hash = Some(Hash::sha256("00".to_owned()));
        let mut package = Package { kind: "pypi", name: "words".into(), version: "1.0".into(), hash };
        change(&mut package);
        key(&image, &[package], &imports.iter().map(ToString::to_string).collect::<Vec<_>>(), importer)
    }

    #[test]
    fn whatever_goes_in_counts() {
        let plain = name(|_| (), &["words"], "");
        assert_eq!(plain, name(|_| (), &["words"], ""));
        let others = [
            name(|package| package.version = "1.1".into(), &["words"], ""),
            name(|package| package.hash = Some(Hash::sha256("01".to_owned())), &["words"], ""),
            name(|package| package.hash = None, &["words"], ""),
            name(|_| (), &["words", "more"], ""),
            name(|_| (), &["wordsmore"], ""),
            name(|_| (), &["words"], "module"),
        ];
        assert!(others.iter().all(|other| *other != plain));
        assert_ne!(
            key(&Image::new("image", b"another"), &[], &[], ""),
            key(&Image::new("image", b"one"), &[], &[], "")
        );
    }

    #[test]
    fn only_the_image_with_another_memory_is_a_snapshot_of_it() {
        let image = |text: &str, pages: usize| {
            let memory = format!("(memory {pages}) (data (i32.const 8) \"image\")");
            wat::parse_str(format!("(component (core module {memory} {text}))")).unwrap()
        };
        let own = image("(func)", 1);
        let mut memory = vec![0; 2 << 16];
        memory[70_000] = 1;
        let snapshot = runner::with_memory(&own, &memory).unwrap();
        assert!(is_snapshot(&snapshot, &own));
        let other_code = runner::with_memory(&image("(func nop)", 1), &memory).unwrap();
        let said_otherwise = image("(func)", 2);
        let longer = [&snapshot[..], &[0, 2, 1, b'x']].concat();
        let too_large = runner::with_memory(&own, &vec![1; MEMORY_BYTES_MAX + (1 << 16)]).unwrap();
        for other in [&other_code, &said_otherwise, &longer, &too_large, &b"bytes".to_vec(), &Vec::new()] {
            assert!(!is_snapshot(other, &own));
        }
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let kept = Kept { notes: vec!["a note".into()], component: (*b"component").into() };
        let read = Kept::read(&kept.write().unwrap()).unwrap();
        assert_eq!((read.notes, &*read.component), (kept.notes.clone(), &b"component"[..]));
        assert!(Kept::read(&[]).is_none());
    }
}
