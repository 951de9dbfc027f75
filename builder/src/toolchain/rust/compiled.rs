//! Compiled dependencies, kept between builds of a project.
//!
//! A job of its own compiles the crates of the lock file, with empty source files in place of the project's, so that none
//! of the author's code takes part. The next build with the same manifests and the same lock file unpacks the archive of
//! cargo's target directory and compiles only the project's own crates.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use registry::Digest;
use runner::{CodeCache, Compiler};
use sha2::{Digest as _, Sha256};

use super::cargo::{ARCHIVE, Build};
use super::installation::Identity;
use crate::blocking::blocking;
use crate::config::Config;
use crate::error::Error;
use crate::sandbox::files;

/// Changes whenever the same inputs would give another archive.
const RECIPE: &str = "lathe-compiled-crates-1";
/// Archives in the cache; the least recently used are evicted. One has 50 MB for a few dozen crates.
const CACHED_MAX: usize = 16;
const MANIFEST: &str = "Cargo.toml";
const LOCK: &str = "Cargo.lock";
/// Source files that cargo finds by their names. Projects with other names compile all crates in every build.
const SOURCES: [&str; 3] = ["build.rs", "src/lib.rs", "src/main.rs"];
/// An empty source file of any kind of target.
const EMPTY: &[u8] = b"//! Empty.\n#![allow(dead_code)]\nfn main() {}\n";
/// Programs and libraries of the machine that build scripts and procedural macros use.
const SYSTEM: [&str; 4] = ["/usr/bin/cc", "/usr/bin/ld", "/usr/bin/tar", "/etc/ld.so.cache"];

/// The archives of this node. Clones share them.
#[derive(Clone)]
pub struct CompiledCrates {
    cache: CodeCache,
}

/// The manifests and the lock file of a project, with empty source files.
pub struct DependencyOnlyProject {
    pub files: BTreeMap<String, Vec<u8>>,
    compiler: Digest,
}

impl DependencyOnlyProject {
    pub fn of(project: &BTreeMap<String, Vec<u8>>, compiler: &Identity) -> Self {
        let kept = |(path, bytes): (&String, &Vec<u8>)| match path.rsplit('/').next() {
            Some(MANIFEST | LOCK) => Some((path.clone(), bytes.clone())),
            _ if is_source(path, project) => Some((path.clone(), EMPTY.to_vec())),
            _ => None,
        };
        Self { files: project.iter().filter_map(kept).collect(), compiler: compiler.digest }
    }

    /// The digest of everything that determines the archive. Each part is preceded by its length.
    fn compute_key(&self) -> Digest {
        let mut hasher = Sha256::new();
        let mut part = |bytes: &[u8]| {
            hasher.update((bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        part(RECIPE.as_bytes());
        part(self.compiler.to_hex().as_bytes());
        SYSTEM.iter().for_each(|path| part(read_stamp(Path::new(path)).as_bytes()));
        for (path, bytes) in &self.files {
            part(path.as_bytes());
            part(bytes);
        }
        Digest::from_bytes(hasher.finalize().into())
    }
}

impl CompiledCrates {
    /// # Errors
    /// When the directory of the cache cannot be made.
    pub fn open(config: &Config, compiler: &Compiler) -> Result<Self, Error> {
        Ok(Self { cache: compiler.cache_at(&config.cache_dir.join("compiled-crates"))? })
    }

    /// Writes the archive to the build's directory, unless all crates have to be compiled together. Makes the archive if
    /// the cache has none.
    ///
    /// # Errors
    /// The first error of a crate that does not compile, or of the machine.
    pub async fn provide(&self, build: &Build<'_>, skeleton: DependencyOnlyProject) -> Result<(), Error> {
        let cache = self.cache.clone();
        let find = move || {
            let key = skeleton.compute_key();
            (cache.get(&key), key, skeleton)
        };
        let (archive, key, skeleton) = blocking(find).await?;
        let archive = match archive {
            Some(archive) => Arc::from(archive),
            None => self.make(build, skeleton, key).await?,
        };
        if archive.is_empty() {
            build.progress.line("all crates are compiled, since the dependencies cannot be compiled alone");
            return Ok(());
        }
        let directory = build.scratch.path().to_owned();
        let write = move || files::create(&directory, Path::new(ARCHIVE))?.write_all(&archive);
        blocking(write).await?.map_err(Error::internal)
    }

    /// Compiles the dependencies. An empty archive says that they cannot be compiled alone.
    async fn make(&self, build: &Build<'_>, skeleton: DependencyOnlyProject, key: Digest) -> Result<Arc<[u8]>, Error> {
        let archive: Arc<[u8]> = build.compile_dependencies(skeleton.files).await?.unwrap_or_default().into();
        let (cache, kept) = (self.cache.clone(), archive.clone());
        let keep = move || {
            if let Err(error) = cache.keep(&key, &kept) {
                tracing::warn!(%error, "compiled crates cannot be cached; the next build compiles them again");
            }
            cache.beyond(CACHED_MAX).iter().for_each(|old| cache.remove(old));
        };
        blocking(keep).await?;
        Ok(archive)
    }
}

/// Whether cargo looks for a target's source file at a path, beside a manifest of the project.
fn is_source(path: &str, project: &BTreeMap<String, Vec<u8>>) -> bool {
    let beside = |source: &str| {
        let package = path.strip_suffix(source).filter(|package| package.is_empty() || package.ends_with('/'));
        package.is_some_and(|package| project.contains_key(&format!("{package}{MANIFEST}")))
    };
    SOURCES.into_iter().any(beside)
}

/// Path, size and modification time of a file of the system, which change with the installed package.
fn read_stamp(path: &Path) -> String {
    let found = path.canonicalize().and_then(|real| Ok((real.metadata()?, real)));
    let found = found.map(|(metadata, real)| (real, metadata.len(), metadata.modified().ok()));
    format!("{found:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
    }

    fn skeleton(files: &[(&str, &str)]) -> DependencyOnlyProject {
        let compiler = Identity { release: String::new(), digest: Digest::of(b"a compiler") };
        DependencyOnlyProject::of(&project(files), &compiler)
    }

    const FILES: [(&str, &str); 5] = [
        ("Cargo.lock", "version = 4"),
        ("Cargo.toml", "[package]"),
        ("lathe/Cargo.toml", "[package]"),
        ("lathe/src/lib.rs", "mod host;"),
        ("src/lib.rs", "mod own;"),
    ];

    #[test]
    fn a_skeleton_has_manifests_and_empty_targets() {
        let others = [("README.md", ""), ("src/own.rs", ""), ("other/src/lib.rs", ""), ("xsrc/lib.rs", "")];
        let found = skeleton(&[&FILES[..], &others].concat()).files;
        assert_eq!(found.keys().map(String::as_str).collect::<Vec<_>>(), FILES.map(|(path, _)| path));
        assert_eq!((found["src/lib.rs"].as_slice(), found["Cargo.lock"].as_slice()), (EMPTY, &b"version = 4"[..]));
    }

    #[test]
    fn the_key_depends_on_manifests_and_not_on_source_code() {
        let key = skeleton(&FILES).compute_key();
        for (number, (path, _)) in FILES.iter().enumerate() {
            let mut changed = FILES;
            changed[number].1 = "other";
            assert_eq!(skeleton(&changed).compute_key() == key, path.ends_with(".rs"), "{path}");
        }
        assert_ne!(skeleton(&FILES[..4]).compute_key(), key);
        let other = DependencyOnlyProject { compiler: Digest::of(b"another compiler"), ..skeleton(&FILES) };
        assert_ne!(other.compute_key(), key);
    }
}
