//! Snapshots: images with a tool's packages already imported, cached on this node.
//!
//! A child process loads the packages' files into an image; the image's memory after that is the snapshot. A snapshot
//! contains none of an author's code. Its key is the digest of the image and of all files, so that projects with the same
//! packages share a snapshot, and no project can choose another project's packages.

mod failures;
mod keyed_locks;

use std::path::PathBuf;
use std::sync::Arc;

use registry::{CacheBound, Digest};
use runner::{COMPONENT_BYTES_MAX, CodeCache, Compiler, Maker, NativeCode, SourceFile};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::blocking::blocking;
use crate::component::{Image, Snapshot};
use crate::config::Config;
use crate::error::Error;
use crate::progress::BuildProgress;
use crate::steps::bundle;
use crate::steps::bundle::packages::{Loaded, Packages, Unloaded};
use failures::{FAILURES, Failed, Failures, Persistence};
use keyed_locks::KeyedLocks;

/// The caches of builds in the server's memory.
pub const CACHES: &[CacheBound] = &[FAILURES];

/// Changes whenever the same packages would give another snapshot, and whenever the format of the cache changes.
const RECIPE: &str = "lathe-snapshot-2";
/// Snapshots in the cache; the least recently used are evicted. Each is some fifty megabytes, and its code as much again.
const CACHED_MAX: usize = 16;
/// Memory of a snapshot. It leaves room for the tool within the least memory that a run may have.
const MEMORY_BYTES_MAX: usize = 96 << 20;

/// The snapshots of this node. Clones share them.
#[derive(Clone)]
pub struct Snapshots {
    compiler: Compiler,
    bundler: Arc<[String]>,
    cache: CodeCache,
    failures: Arc<Failures>,
    /// Locks of the snapshots that are being made: builds with the same packages make a snapshot once, or wait for one failure. Builds with
    /// other packages, also those of other organisations, do not wait.
    locks: Arc<KeyedLocks>,
}

/// The parts of a snapshot.
pub struct SnapshotInputs<'a> {
    pub image: &'a Image,
    pub code: &'a NativeCode,
    /// Unpacks the image's component.
    pub component: fn() -> std::io::Result<Vec<u8>>,
    /// The files that the child loads.
    pub packages: Packages,
}

impl Snapshots {
    /// # Errors
    /// When the directory of the cache cannot be made.
    pub fn open(config: &Config, compiler: &Compiler) -> Result<Self, Error> {
        let directory: PathBuf = config.cache_dir.join("snapshots");
        let cache = compiler.cache_at(&directory)?;
        let bundler = config.bundler.clone().into();
        Ok(Self { compiler: compiler.clone(), bundler, cache, failures: Arc::default(), locks: Arc::default() })
    }

    /// The snapshot of these packages, from the cache or made now. `None` when it cannot be made; the log has the reason.
    ///
    /// # Errors
    /// When the child process cannot be started.
    pub async fn get(&self, of: SnapshotInputs<'_>, progress: &BuildProgress) -> Result<Option<Snapshot>, Error> {
        let SnapshotInputs { image, code, component, packages } = of;
        let digest = image.digest;
        let hash = move || (compute_key(&digest, &packages), packages);
        let (key, packages) = blocking(hash).await?;
        let of = SnapshotInputs { image, code, component, packages };
        let found = match self.read_cached(key).await? {
            Some(cached) => cached,
            None => self.make_once(key, &of).await?,
        };
        found.notes.iter().for_each(|note| progress.line(note.clone()));
        if found.component.is_empty() {
            return Ok(None);
        }
        let component = found.component;
        let image = build_image(of.image.name, component.clone()).await?;
        let bytes = async { Ok::<_, Error>(component.to_vec()) };
        let code = self.compiler.ready(&image.digest, Maker::Platform, bytes).await?;
        Ok(Some(Snapshot { image, base: digest, component, code }))
    }

    /// Makes a snapshot, unless another build has just made it, or just failed to make it.
    async fn make_once(&self, key: Digest, of: &SnapshotInputs<'_>) -> Result<Cached, Error> {
        let lock = self.locks.lock_of(key);
        let _locked = lock.lock().await;
        if let Some(cached) = self.read_cached(key).await? {
            return Ok(cached);
        }
        if let Some(reason) = self.failures.find_reason(&key, Instant::now()) {
            return Ok(Cached::none(&reason));
        }
        match self.make_again(of).await? {
            Ok(made) => {
                self.failures.forget(&key);
                self.store(key, made).await
            }
            // A later attempt may succeed.
            Err(failed) => Ok(Cached::none(&self.failures.add(key, &failed, Instant::now()))),
        }
    }

    /// Makes a snapshot, again if the child was killed. Without it, the packages would be imported in each run of the version.
    async fn make_again(&self, of: &SnapshotInputs<'_>) -> Result<Result<Cached, Failed>, Error> {
        match self.make(of).await? {
            Err(Failed { persistence: Persistence::Passing, reason }) => {
                tracing::warn!(reason, "a snapshot is made again");
                self.make(of).await
            }
            ended => Ok(ended),
        }
    }

    async fn read_cached(&self, key: Digest) -> Result<Option<Cached>, Error> {
        let cache = self.cache.clone();
        blocking(move || Cached::read(&cache.get(&key)?)).await
    }

    /// A snapshot, or the reason why there can be none. The inner error is a failure of the child process.
    async fn make(&self, of: &SnapshotInputs<'_>) -> Result<Result<Cached, Failed>, Error> {
        let loading = bundle::load_packages(of.code, &self.bundler, of.packages.clone());
        let (left_out, memory) = match loading.await {
            // A result that depends on a deadline is not a function of the key, and is not cached.
            Ok(Ok((Loaded { has_timed_out: true, .. }, _)) | Err(Unloaded { has_timed_out: true, .. })) => {
                return Ok(Err(Failed::too_slow()));
            }
            Ok(Ok((Loaded { left_out, .. }, memory))) => (left_out, memory),
            Ok(Err(Unloaded { reason, .. })) => return Ok(Ok(Cached::none(&reason))),
            Err(failed) => return Ok(Err(Failed::of(&failed))),
        };
        if memory.len() > MEMORY_BYTES_MAX {
            return Ok(Ok(Cached::none(&format!(
                "they use {} bytes of memory; the limit is {MEMORY_BYTES_MAX}",
                memory.len()
            ))));
        }
        let component = of.component;
        let joined = move || {
            let component = component().map_err(Error::internal)?;
            runner::with_memory(&component, &memory).map_err(Error::from)
        };
        let component = blocking(joined).await??;
        if component.len() > COMPONENT_BYTES_MAX {
            return Ok(Ok(Cached::none(&format!(
                "the snapshot has {} bytes; the limit is {COMPONENT_BYTES_MAX}",
                component.len()
            ))));
        }
        let note = |(name, reason): (String, String)| format!("{name} is imported in each run: {reason}");
        Ok(Ok(Cached { notes: left_out.into_iter().map(note).collect(), component: component.into() }))
    }

    async fn store(&self, key: Digest, made: Cached) -> Result<Cached, Error> {
        let (cache, compiler) = (self.cache.clone(), self.compiler.clone());
        let store = move || {
            let written = made.write().and_then(|bytes| cache.keep(&key, &bytes).map_err(Error::from));
            if let Err(error) = written {
                tracing::warn!(%error, "a snapshot cannot be cached; the next build makes it again");
            }
            for old in cache.beyond(CACHED_MAX) {
                if let Some(evicted) = cache.get(&old).and_then(|bytes| Cached::read(&bytes)) {
                    compiler.forget(&Digest::of(&evicted.component));
                }
                cache.remove(&old);
            }
            made
        };
        blocking(store).await
    }
}

/// An entry of the cache: log lines, then the component. The component is empty when there can be no snapshot.
struct Cached {
    notes: Vec<String>,
    component: Arc<[u8]>,
}

impl Cached {
    fn none(reason: &str) -> Self {
        Self { notes: vec![format!("the packages are imported in each run: {reason}")], component: [].into() }
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

/// Whether a component is the image with other memory contents, and differs in nothing else.
pub fn is_snapshot(component: &[u8], image: &[u8]) -> bool {
    let Ok(Some(memory)) = runner::memory_of(component, MEMORY_BYTES_MAX) else { return false };
    runner::with_memory(image, &memory).is_ok_and(|made| made == component)
}

async fn build_image(name: &'static str, component: Arc<[u8]>) -> Result<Image, Error> {
    blocking(move || Image::new(name, &component)).await
}

/// The digest of everything that determines a snapshot. Each part is preceded by its length, and the imports by their
/// count, so that different inputs hash different bytes.
fn compute_key(image: &Digest, packages: &Packages) -> Digest {
    let Packages { language, files, imports } = packages;
    let mut hasher = Sha256::new();
    let part = |hasher: &mut Sha256, bytes: &[u8]| {
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    for text in [RECIPE, &image.to_hex(), language.as_str()] {
        part(&mut hasher, text.as_bytes());
    }
    part(&mut hasher, &(imports.len() as u64).to_le_bytes());
    imports.iter().for_each(|name| part(&mut hasher, name.as_bytes()));
    for SourceFile { path, contents } in files {
        part(&mut hasher, path.as_bytes());
        part(&mut hasher, contents);
    }
    Digest::from_bytes(hasher.finalize().into())
}

#[cfg(test)]
mod tests {
    use registry::Language;

    use super::*;

    fn of(language: Language, files: &[(&str, &str)], imports: &[&str]) -> Digest {
        let file = |(path, text): &(&str, &str)| SourceFile { path: (*path).into(), contents: (*text).into() };
        let imports = imports.iter().map(ToString::to_string).collect();
        compute_key(&Digest::of(b"an image"), &Packages { language, files: files.iter().map(file).collect(), imports })
    }

    #[test]
    fn the_key_depends_on_every_input_of_the_child() {
        let python = Language::Python;
        let plain = || of(python, &[("words.py", "x = 1"), ("more.py", "")], &["words"]);
        assert_eq!(plain(), plain());
        let others = [
            of(Language::JavaScript, &[("words.py", "x = 1"), ("more.py", "")], &["words"]),
            of(python, &[("words.py", "x = 2"), ("more.py", "")], &["words"]),
            of(python, &[("other.py", "x = 1"), ("more.py", "")], &["words"]),
            of(python, &[("words.py", "x = 1")], &["words"]),
            of(python, &[("words.py", "x = 1more.py"), ("", "")], &["words"]),
            of(python, &[("words.py", "x = 1"), ("more.py", "")], &[]),
            of(python, &[("words.py", "x = 1"), ("more.py", "")], &["words", "more"]),
            of(python, &[("x = 1", ""), ("more.py", "")], &["words", "words.py"]),
        ];
        assert!(others.iter().all(|other| *other != plain()));
        let packages = Packages { language: python, files: Vec::new(), imports: Vec::new() };
        assert_ne!(compute_key(&Digest::of(b"one"), &packages), compute_key(&Digest::of(b"another"), &packages));
    }

    #[test]
    fn a_snapshot_differs_from_its_image_in_memory_only() {
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
        let other_declaration = image("(func)", 2);
        let longer = [&snapshot[..], &[0, 2, 1, b'x']].concat();
        let too_large = runner::with_memory(&own, &vec![1; MEMORY_BYTES_MAX + (1 << 16)]).unwrap();
        for other in [&other_code, &other_declaration, &longer, &too_large, &b"bytes".to_vec(), &Vec::new()] {
            assert!(!is_snapshot(other, &own));
        }
    }

    #[test]
    fn a_cache_entry_is_read_as_it_was_written() {
        let cached = Cached { notes: vec!["a note".into()], component: (*b"component").into() };
        let read = Cached::read(&cached.write().unwrap()).unwrap();
        assert_eq!((read.notes, &*read.component), (cached.notes.clone(), &b"component"[..]));
        assert!(Cached::read(&[]).is_none());
    }
}
