//! The project files and lock files of a project, parsed within bounds.
//!
//! JSON is parsed in this process, with bounded cost and depth. TOML is parsed in a child process, since its parser
//! bounds neither. The same child unpacks the archives of packages.

pub mod child;

use std::collections::BTreeMap;

use crate::blocking::blocking;
use crate::decoded_text::{NotText, decode_text};
use crate::error::{Error, Location};
use crate::steps::manifest::{Malformed, Node, from_json};
pub use child::{CRATES_BYTES_MAX, CrateName, Parser, child_parse_main};

const STAGE: &str = "manifest";
const KIBIBYTE: usize = 1 << 10;
/// Bytes of `pyproject.toml`, `package.json` and `Cargo.toml`. The largest in use have a few dozen kibibytes.
pub const PROJECT_FILE_BYTES_MAX: usize = 256 * KIBIBYTE;
/// Bytes of a lock file: about a hundred for each package and each of its hashes.
pub const LOCK_FILE_BYTES_MAX: usize = 4 << 20;

const TOML: [(&str, usize); 3] = [
    ("pyproject.toml", PROJECT_FILE_BYTES_MAX),
    ("Cargo.toml", PROJECT_FILE_BYTES_MAX),
    ("Cargo.lock", LOCK_FILE_BYTES_MAX),
];
const JSON: [(&str, usize); 1] = [("package.json", PROJECT_FILE_BYTES_MAX)];
/// Lock files that have parsers of their own.
const OTHERS: [(&str, usize); 2] =
    [("requirements.lock", LOCK_FILE_BYTES_MAX), ("package-lock.json", LOCK_FILE_BYTES_MAX)];

/// A project's parsed files by name.
#[derive(Debug, Default)]
pub struct Documents(BTreeMap<String, Result<Node, Malformed>>);

impl Documents {
    /// Parses the files that a project has.
    ///
    /// # Errors
    /// When a file is too large or not UTF-8, or parsing TOML exceeds its time or memory. [`Documents::get`] refuses a
    /// malformed file.
    pub async fn read(files: &BTreeMap<String, Vec<u8>>, parser: Parser<'_>) -> Result<Self, Error> {
        OTHERS.iter().try_for_each(|(file, bytes_max)| read_text(files, file, *bytes_max).map(drop))?;
        let toml = read_texts(files, &TOML)?;
        let parsed = match toml.is_empty() {
            true => BTreeMap::new(),
            false => parser.parse_documents(toml).await?,
        };
        let json = read_texts(files, &JSON)?;
        let parse = move || json.into_iter().map(|(file, text)| (file, from_json(&text)));
        let json = blocking(move || parse().collect::<Vec<_>>()).await?;
        Ok(Self(parsed.into_iter().chain(json).collect()))
    }

    /// A parsed file. `None` when the project has no such file.
    ///
    /// # Errors
    /// When the file is malformed, with the line.
    pub fn get(&self, file: &str, stage: &'static str) -> Result<Option<&Node>, Error> {
        match self.0.get(file) {
            None => Ok(None),
            Some(Ok(node)) => Ok(Some(node)),
            Some(Err(Malformed { message, line })) => {
                Err(Error::failed(stage, "syntax", message.clone())
                    .at(Location { line: *line, ..Location::file(file) }))
            }
        }
    }

    /// Parses in this process, for tests.
    #[cfg(test)]
    pub fn parse_here(files: &BTreeMap<String, Vec<u8>>) -> Result<Self, Error> {
        let toml =
            read_texts(files, &TOML)?.into_iter().map(|(file, text)| (file, crate::steps::manifest::from_toml(&text)));
        let json = read_texts(files, &JSON)?.into_iter().map(|(file, text)| (file, from_json(&text)));
        Ok(Self(toml.chain(json).collect()))
    }
}

fn read_texts(files: &BTreeMap<String, Vec<u8>>, names: &[(&str, usize)]) -> Result<Vec<(String, String)>, Error> {
    let one = |(file, bytes_max): &(&str, usize)| {
        let found = read_text(files, file, *bytes_max).transpose()?;
        Some(found.map(|text| ((*file).to_owned(), text.to_owned())))
    };
    names.iter().filter_map(one).collect()
}

fn read_text<'f>(files: &'f BTreeMap<String, Vec<u8>>, file: &str, bytes_max: usize) -> Result<Option<&'f str>, Error> {
    let Some(bytes) = files.get(file) else { return Ok(None) };
    if bytes.len() > bytes_max {
        let message = format!("the file has {} bytes; {bytes_max} are the limit", bytes.len());
        return Err(Error::failed(STAGE, "size", message).at(Location::file(file)));
    }
    let refused = |problem: NotText| Error::failed(STAGE, "utf-8", problem.to_string()).at(Location::file(file));
    decode_text(bytes).map(Some).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_beyond_their_bounds_are_refused_by_name() {
        for (file, bytes_max) in TOML.into_iter().chain(JSON).chain(OTHERS) {
            let files = |bytes: usize| BTreeMap::from([(file.to_owned(), vec![b'\n'; bytes])]);
            assert!(read_text(&files(bytes_max), file, bytes_max).unwrap().is_some());
            let refused = read_text(&files(bytes_max + 1), file, bytes_max).unwrap_err().to_string();
            assert!(refused.contains(&format!("{file}: the file has {} bytes", bytes_max + 1)), "{refused}");
        }
    }
}
