//! The packages and programs that are part of a build: those of the lock file, then the language's compiler or bundler. The
//! server compares them with those that a worker names, since they become part of signed attestations.

use registry::Language;

use super::project::Project;
use super::rust::lock as crates;
use crate::attestation::{Hash, Package};
use crate::blocking::blocking;
use crate::error::Error;
use crate::steps::lock as wheels;
use crate::steps::npm::lock as npm;

const PROJECT_FILE: &str = "package.json";

/// The kind of programs, which no lock file pins.
const PROGRAM: &str = "generic";

#[derive(Debug, Default)]
pub struct PinnedPackages {
    /// Packages in the order of the lock file, each with one value for each allowed hash.
    packages: Vec<Vec<Package>>,
    /// The name of the program that builds the language's tools.
    program: Option<&'static str>,
}

impl PinnedPackages {
    /// Reads the lock file on a thread for blocking work.
    ///
    /// # Errors
    /// When the lock file is refused, with its line.
    pub async fn of(project: &Project<'_>) -> Result<Self, Error> {
        let file = |name: &str| project.files.get(name).cloned();
        let (packages, program) = match project.manifest.language {
            Language::Python => (parse_packages(file(wheels::FILE), list_python).await?, None),
            Language::JavaScript => {
                let project_file = file(PROJECT_FILE).unwrap_or_default();
                (parse_packages(file(npm::FILE), move |lock| list_npm(lock, &project_file)).await?, Some("esbuild"))
            }
            Language::Rust => (list_cargo(crates::read(project.documents)?.pinned), Some("rust")),
        };
        Ok(Self { packages, program })
    }

    /// Whether these are the pinned packages, in their order, and then the program with its digest.
    pub fn are(&self, packages: &[Package]) -> bool {
        let Some((own, programs)) = packages.split_at_checked(self.packages.len()) else { return false };
        let is_program = |package: &Package| {
            package.kind == PROGRAM && Some(package.name.as_str()) == self.program && package.hash.is_some()
        };
        self.packages.iter().zip(own).all(|(allowed, package)| allowed.contains(package))
            && programs.len() == usize::from(self.program.is_some())
            && programs.iter().all(is_program)
    }
}

async fn parse_packages(
    lock: Option<Vec<u8>>,
    parse: impl FnOnce(&[u8]) -> Result<Vec<Vec<Package>>, Error> + Send + 'static,
) -> Result<Vec<Vec<Package>>, Error> {
    let Some(lock) = lock else { return Ok(Vec::new()) };
    blocking(move || parse(&lock)).await?
}

fn list_python(lock: &[u8]) -> Result<Vec<Vec<Package>>, Error> {
    let allowed = |pinned: wheels::Pinned| {
        let (name, version) = (pinned.name, pinned.version.to_string());
        let hashes = pinned.hashes.iter().map(|digest| Some(Hash::sha256(digest.to_hex())));
        hashes.map(|hash| Package { kind: "pypi", name: name.clone(), version: version.clone(), hash }).collect()
    };
    Ok(wheels::parse(lock)?.into_iter().map(allowed).collect())
}

fn list_npm(lock: &[u8], project_file: &[u8]) -> Result<Vec<Vec<Package>>, Error> {
    Ok(npm::parse(lock, project_file)?.into_iter().map(|locked| vec![Package::from(locked)]).collect())
}

fn list_cargo(pinned: Vec<crates::Pinned>) -> Vec<Vec<Package>> {
    pinned.into_iter().map(|pinned| vec![Package::from(pinned)]).collect()
}

#[cfg(test)]
mod tests {
    use registry::Digest;

    use super::*;

    fn package(kind: &'static str, name: &str, hash: &str) -> Package {
        Package { kind, name: name.into(), version: "1.0".into(), hash: Some(Hash::sha256(hash.into())) }
    }

    #[test]
    fn only_the_pinned_packages_are_accepted() {
        let [one, other] = ["one", "other"].map(|hash| package("pypi", "six", hash));
        let second = package("pypi", "idna", "x");
        let packages = vec![vec![one.clone(), other.clone()], vec![second.clone()]];
        let pinned = PinnedPackages { packages, program: None };
        assert!(pinned.are(&[one.clone(), second.clone()]));
        assert!(pinned.are(&[other.clone(), second.clone()]));
        for packages in [
            vec![],
            vec![one.clone()],
            vec![second.clone(), one.clone()],
            vec![one.clone(), second.clone(), second.clone()],
            vec![one.clone(), package("pypi", "idna", "z")],
            vec![one.clone(), package("npm", "idna", "x")],
            vec![one.clone(), second.clone(), package("generic", "esbuild", "y")],
            vec![package("pypi", "seven", "one"), second.clone()],
        ] {
            assert!(!pinned.are(&packages), "{packages:?}");
        }
    }

    #[test]
    fn only_the_languages_program_is_accepted() {
        let pinned = PinnedPackages { packages: Vec::new(), program: Some("esbuild") };
        let program = package("generic", "esbuild", "y");
        assert!(pinned.are(std::slice::from_ref(&program)));
        let without_digest = Package { hash: None, ..program.clone() };
        let others = [package("generic", "openssl", "y"), package("npm", "esbuild", "y"), without_digest];
        others.into_iter().for_each(|other| assert!(!pinned.are(std::slice::from_ref(&other)), "{other:?}"));
        assert!(!pinned.are(&[program.clone(), program.clone()]) && !pinned.are(&[]));
        assert!(!PinnedPackages::default().are(&[program]));
    }

    #[test]
    fn lock_files_pin_name_version_and_hash() {
        let hash = "0123456789abcdef".repeat(4);
        let lock = format!("Six==1.0 --hash=sha256:{hash}\ncolorama==1 ; os_name == 'nt' --hash=sha256:{hash}\n");
        assert_eq!(list_python(lock.as_bytes()).unwrap(), [[package("pypi", "six", &hash)]]);
        assert!(list_python(b"six\n").is_err());
        let digest = Digest::of(b"crate");
        let pinned = crates::Pinned { name: "serde".into(), version: "1.0".into(), checksum: digest, line: 1 };
        assert_eq!(list_cargo(vec![pinned]), [[package("cargo", "serde", &digest.to_hex())]]);
    }

    #[test]
    fn npm_lock_files_pin_what_runs() {
        let integrity = format!("sha512-{}==", "A".repeat(86));
        let entry = |more: &str| format!(r#"{{"version": "1.0", "integrity": "{integrity}"{more}}}"#);
        let lock = format!(
            r#"{{"lockfileVersion": 3, "packages": {{"": {{"dependencies": {{"a": "1"}}}},
            "node_modules/a": {}, "node_modules/a/node_modules/b": {}, "node_modules/c": {}, "node_modules/d": {}}}}}"#,
            entry(r#", "name": "real""#),
            entry(""),
            entry(r#", "dev": true"#),
            entry(r#", "optional": true"#),
        );
        let pinned = list_npm(lock.as_bytes(), br#"{"dependencies": {"a": "1"}}"#).unwrap();
        let hash = Some(Hash::sha512("0".repeat(128)));
        let package = |name: &str| Package { hash: hash.clone(), ..package("npm", name, "") };
        assert_eq!(pinned, [[package("real")], [package("b")]]);
    }
}
