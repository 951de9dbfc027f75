//! The package that a wheel's own metadata names.

use std::fmt;
use std::io::Read;
use std::str::FromStr;

use pep440_rs::Version;
use serde::{Deserialize, Serialize};

use crate::steps::lock::name;

const DIRECTORY_SUFFIX: &str = ".dist-info";
const FILE: &str = "METADATA";
/// Bytes of the metadata that are read. The headers precede the description, which may be long.
const HEAD_BYTES_MAX: u64 = 256 << 10;
/// Bytes of a name and of a version. Package indexes accept fewer.
const VALUE_BYTES_MAX: usize = 200;

/// A package's name and version, normalised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub name: String,
    pub version: Version,
}

impl fmt::Display for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.name, self.version)
    }
}

/// Whether an entry of a wheel is its metadata: `<name>-<version>.dist-info/METADATA`.
pub fn is_metadata(entry: &str) -> bool {
    matches!(entry.split_once('/'), Some((directory, FILE)) if directory.ends_with(DIRECTORY_SUFFIX))
}

/// The headers of metadata, without the description that follows them.
///
/// # Errors
/// When the metadata cannot be read.
pub fn read_head(metadata: impl Read) -> Result<String, String> {
    let mut head = Vec::new();
    metadata.take(HEAD_BYTES_MAX).read_to_end(&mut head).map_err(|error| error.to_string())?;
    let head = String::from_utf8_lossy(&head);
    Ok(head.lines().take_while(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect())
}

impl Identity {
    /// Reads the headers `Name` and `Version`, each of which must occur once.
    ///
    /// # Errors
    /// When a header is missing, repeated or invalid.
    pub fn read(head: &str) -> Result<Self, String> {
        let headers: Vec<_> = head.lines().collect();
        let (name, version) = (find_only(&headers, "name")?, find_only(&headers, "version")?);
        let version = Version::from_str(version).map_err(|_| "its METADATA has no version of PEP 440".to_owned())?;
        Ok(Self { name: name::normalise(name), version })
    }
}

fn find_only<'h>(headers: &[&'h str], key: &str) -> Result<&'h str, String> {
    let value = |line: &&'h str| line.split_once(':').filter(|(found, _)| found.eq_ignore_ascii_case(key));
    let mut values = headers.iter().filter_map(value).map(|(_, value)| value.trim());
    match (values.next(), values.next()) {
        (Some(value), None) if value.len() <= VALUE_BYTES_MAX => Ok(value),
        (Some(_), None) => Err(format!("its METADATA has a {key} of more than {VALUE_BYTES_MAX} bytes")),
        _ => Err(format!("its METADATA does not have the header {key:?} once")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_version_are_compared_in_their_normal_form() {
        let read = |text: &str| Identity::read(&read_head(text.as_bytes())?).map(|identity| identity.to_string());
        let text = "Metadata-Version: 2.1\r\nname: Zope.Interface\nVersion: 1.0-RC1\nSummary: x\n\nName: other\n";
        assert_eq!(read(text).as_deref(), Ok("zope-interface 1.0rc1"));
        for wrong in ["", "Name: a\n", "\nName: a\nVersion: 1\n", "Name: a\nName: b\nVersion: 1\n"] {
            assert!(read(wrong).unwrap_err().contains("once"), "{wrong}");
        }
        assert!(read("Name: a\nVersion: soon\n").unwrap_err().contains("PEP 440"));
        let long = format!("Name: a\nVersion: {}\n", "1.".repeat(1 << 16));
        assert!(read(&long).unwrap_err().contains("a version of more than 200 bytes"));
    }

    #[test]
    fn only_the_top_directory_has_metadata() {
        assert!(is_metadata("six-1.dist-info/METADATA"));
        for other in ["METADATA", "six/METADATA", "a/six-1.dist-info/METADATA", "six-1.dist-info/RECORD"] {
            assert!(!is_metadata(other), "{other}");
        }
    }
}
