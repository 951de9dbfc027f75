//! The archives of packages, which are unpacked in the parsing child: wheels and npm packages.

use runner::SourceFile;
use serde::{Deserialize, Serialize};

use super::npm::archive as npm;
use super::wheel::{self, Identity, Wheel};

/// The format of a package's archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    Wheel,
    Npm,
}

/// An unpacked package.
#[derive(Debug, Default)]
pub struct Unpacked {
    /// The package that a wheel's metadata names. An npm package has a file for that.
    pub identity: Option<Identity>,
    pub files: Vec<SourceFile>,
    /// The names of files of native code, which are left out.
    pub native: Vec<String>,
}

/// An unpacked package without the contents of its files, which follow in the same order.
#[derive(Debug, Serialize, Deserialize)]
pub struct Listing {
    identity: Option<Identity>,
    /// The path and the size of each file.
    files: Vec<(String, usize)>,
    native: Vec<String>,
}

impl Format {
    /// # Errors
    /// The reason why the archive is refused.
    pub fn unpack(self, archive: Vec<u8>) -> Result<Unpacked, String> {
        match self {
            Self::Wheel => {
                let Wheel { identity, files, native } = wheel::unpack(archive)?;
                Ok(Unpacked { identity: Some(identity), files, native })
            }
            Self::Npm => Ok(Unpacked { files: npm::unpack(&archive)?, ..Unpacked::default() }),
        }
    }
}

impl Unpacked {
    pub fn build_listing(&self) -> Listing {
        let files = self.files.iter().map(|file| (file.path.clone(), file.contents.len()));
        Listing { identity: self.identity.clone(), files: files.collect(), native: self.native.clone() }
    }
}

impl Listing {
    /// The package with these contents. `None` if there are fewer or more bytes.
    pub fn with(self, mut contents: &[u8]) -> Option<Unpacked> {
        let mut file = |(path, bytes): (String, usize)| {
            let (own, rest) = contents.split_at_checked(bytes)?;
            contents = rest;
            Some(SourceFile { path, contents: own.to_vec() })
        };
        let files = self.files.into_iter().map(&mut file).collect::<Option<_>>()?;
        contents.is_empty().then_some(Unpacked { identity: self.identity, files, native: self.native })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_needs_exactly_its_contents() {
        let listing = || {
            let file = |path: &str, text: &str| SourceFile { path: path.into(), contents: text.into() };
            Unpacked { files: vec![file("a", "xy"), file("b", ""), file("c", "z")], ..Unpacked::default() }
                .build_listing()
        };
        let files = listing().with(b"xyz").unwrap().files;
        assert_eq!(
            files.into_iter().map(|file| file.contents).collect::<Vec<_>>(),
            [b"xy".to_vec(), vec![], vec![b'z']]
        );
        assert!(listing().with(b"xy").is_none() && listing().with(b"xyzz").is_none());
    }
}
