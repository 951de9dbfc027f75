//! Whether the packages in a bill of materials are those that the packages' own metadata names. Earlier releases compared only
//! hashes, so that a lock file could give a package another name and version.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use pep440_rs::Version;

use crate::attestation::Package;
use crate::steps::download::Cached;
use crate::steps::npm;
use crate::steps::wheel::{self, Identity};

/// Compares packages with their archives in caches. An archive that no cache has cannot be compared.
#[derive(Clone)]
pub struct PackageAudit {
    caches: Vec<PathBuf>,
}

impl PackageAudit {
    pub const fn of(caches: Vec<PathBuf>) -> Self {
        Self { caches }
    }

    /// The package that the archive contains, if it is another one. For threads that may block.
    pub fn other_package(&self, package: &Package) -> Option<String> {
        let Package { kind, name, version, .. } = package;
        match *kind {
            "pypi" => {
                let found = wheel::unpack(self.archive(package, Path::new("wheels"))?).ok()?.identity;
                let named = Identity { name: name.clone(), version: Version::from_str(version).ok()? };
                (found != named).then(|| format!("it holds {found}"))
            }
            "npm" => npm::other_package(&self.archive(package, Path::new("npm"))?, [name, version]),
            _ => None,
        }
    }

    fn archive(&self, package: &Package, directory: &Path) -> Option<Vec<u8>> {
        let hash = package.hash.clone()?;
        let cached = |cache: &PathBuf| Cached { directory: cache.join(directory), hash: hash.clone() }.read();
        self.caches.iter().find_map(cached)
    }
}
