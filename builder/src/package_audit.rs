//! Whether the packages in a bill of materials are those that the packages' own metadata names. Earlier releases compared only
//! hashes, so that a lock file could give a package another name and version.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use pep440_rs::Version;

use crate::attestation::Package;
use crate::blocking::blocking;
use crate::error::Error;
use crate::steps::archive::Format;
use crate::steps::documents::Parser;
use crate::steps::download::Cached;
use crate::steps::npm;
use crate::steps::wheel::Identity;

/// Compares packages with their archives in caches. An archive that no cache has cannot be compared.
#[derive(Clone)]
pub struct PackageAudit {
    caches: Arc<[PathBuf]>,
    /// The command of the child that unpacks archives.
    parser: Arc<[String]>,
}

impl PackageAudit {
    pub fn new(caches: Vec<PathBuf>, parser: &[String]) -> Self {
        Self { caches: caches.into(), parser: parser.into() }
    }

    /// The package that the archive contains, if it is another one.
    ///
    /// # Errors
    /// When the child that unpacks archives cannot be started.
    pub async fn other_package(&self, package: &Package) -> Result<Option<String>, Error> {
        let (directory, format) = match package.kind {
            "pypi" => ("wheels", Format::Wheel),
            "npm" => ("npm", Format::Npm),
            _ => return Ok(None),
        };
        let Some(archive) = self.archive(package, directory).await? else { return Ok(None) };
        let Ok(unpacked) = (Parser { command: &self.parser }).unpack(format, archive).await? else { return Ok(None) };
        let Package { name, version, .. } = package.clone();
        Ok(match unpacked.identity {
            Some(found) => other_wheel(&found, name, &version),
            None => blocking(move || npm::other_package(&unpacked.files, name, version)).await?,
        })
    }

    async fn archive(&self, package: &Package, directory: &'static str) -> Result<Option<Vec<u8>>, Error> {
        let (Some(hash), caches) = (package.hash.clone(), self.caches.clone()) else { return Ok(None) };
        let read = move |cache: &PathBuf| Cached { directory: cache.join(directory), hash: hash.clone() }.read();
        blocking(move || caches.iter().find_map(read)).await
    }
}

fn other_wheel(found: &Identity, name: String, version: &str) -> Option<String> {
    let named = Identity { name, version: Version::from_str(version).ok()? };
    (*found != named).then(|| format!("it holds {found}"))
}
