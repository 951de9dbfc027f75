//! The packages that a project's lock file pins. The server compares them with those that a worker names, since they
//! become part of signed attestations.

use registry::Language;

use super::project::Project;
use super::rust::lock as crates;
use crate::attestation::{Hash, Package};
use crate::blocking::blocking;
use crate::error::Error;
use crate::steps::lock as wheels;
use crate::steps::npm::lock as npm;

const PROJECT_FILE: &str = "package.json";

/// The kind of the programs that built a component, which no lock file pins.
const PROGRAM: &str = "generic";

/// For each package, in the order of the lock file, one value for each hash that is allowed.
#[derive(Debug, Default)]
pub struct PinnedPackages(Vec<Vec<Package>>);

impl PinnedPackages {
    /// Reads the lock file on a thread for blocking work.
    ///
    /// # Errors
    /// When the lock file is refused, with its line.
    pub async fn of(project: &Project<'_>) -> Result<Self, Error> {
        let file = |name: &str| project.files.get(name).cloned();
        match project.manifest.language {
            Language::Python => parsed(file(wheels::FILE), of_python).await,
            Language::JavaScript => {
                let project_file = file(PROJECT_FILE).unwrap_or_default();
                parsed(file(npm::FILE), move |lock| of_npm(lock, &project_file)).await
            }
            Language::Rust => {
                let pinned = crates::read(project.documents)?;
                Ok(Self(pinned.into_iter().map(|pinned| vec![Package::from(pinned)]).collect()))
            }
        }
    }

    /// Whether these are the pinned packages, in their order, apart from programs.
    pub fn are(&self, packages: &[Package]) -> bool {
        let mut packages = packages.iter().filter(|package| package.kind != PROGRAM);
        self.0.iter().all(|allowed| packages.next().is_some_and(|package| allowed.contains(package)))
            && packages.next().is_none()
    }
}

async fn parsed(
    lock: Option<Vec<u8>>,
    parse: impl FnOnce(&[u8]) -> Result<Vec<Vec<Package>>, Error> + Send + 'static,
) -> Result<PinnedPackages, Error> {
    let Some(lock) = lock else { return Ok(PinnedPackages::default()) };
    blocking(move || parse(&lock).map(PinnedPackages)).await?
}

fn of_python(lock: &[u8]) -> Result<Vec<Vec<Package>>, Error> {
    let allowed = |pinned: wheels::Pinned| {
        let (name, version) = (pinned.name, pinned.version.to_string());
        let hashes = pinned.hashes.iter().map(|digest| Some(Hash::sha256(digest.to_hex())));
        hashes.map(|hash| Package { kind: "pypi", name: name.clone(), version: version.clone(), hash }).collect()
    };
    Ok(wheels::parse(lock)?.into_iter().map(allowed).collect())
}

fn of_npm(lock: &[u8], project_file: &[u8]) -> Result<Vec<Vec<Package>>, Error> {
    Ok(npm::parse(lock, project_file)?.into_iter().map(|locked| vec![Package::from(locked)]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(kind: &'static str, name: &str, hash: &str) -> Package {
        Package { kind, name: name.into(), version: "1.0".into(), hash: Some(Hash::sha256(hash.into())) }
    }

    #[test]
    fn only_the_pinned_packages_are_accepted() {
        let [one, other] = ["one", "other"].map(|hash| package("pypi", "six", hash));
        let second = package("pypi", "idna", "x");
        let pinned = PinnedPackages(vec![vec![one.clone(), other.clone()], vec![second.clone()]]);
        let program = package("generic", "esbuild", "y");
        assert!(pinned.are(&[one.clone(), second.clone()]));
        assert!(pinned.are(&[other.clone(), second.clone(), program.clone()]));
        for packages in [
            vec![],
            vec![one.clone()],
            vec![second.clone(), one.clone()],
            vec![one.clone(), second.clone(), second.clone()],
            vec![one.clone(), package("pypi", "idna", "z")],
            vec![one.clone(), package("npm", "idna", "x")],
            vec![package("pypi", "seven", "one"), second.clone()],
        ] {
            assert!(!pinned.are(&packages), "{packages:?}");
        }
        assert!(PinnedPackages::default().are(&[program]));
        assert!(!PinnedPackages::default().are(&[one]));
    }

    #[test]
    fn lock_files_pin_name_version_and_hash() {
        let hash = "0123456789abcdef".repeat(4);
        let lock = format!("Six==1.0 --hash=sha256:{hash}\ncolorama==1 ; os_name == 'nt' --hash=sha256:{hash}\n");
        assert_eq!(of_python(lock.as_bytes()).unwrap(), [[package("pypi", "six", &hash)]]);
        assert!(of_python(b"six\n").is_err());
    }
}
