//! `mocks/*.json`: the author's answers for simulations.

use std::collections::BTreeMap;

use runner::{MOCKS_MAX, Mock, Mocks};
use serde::Deserialize;

use crate::error::{Error, Location};

const STAGE: &str = "mocks";
const CHECK: &str = "mock";
const DIRECTORY: &str = "mocks/";
const SUFFIX: &str = ".json";
/// Bytes of all mock files, which stay in memory with their version.
const MOCKS_BYTES_MAX: usize = 1 << 20;

/// A file with one mock or a list of mocks.
#[derive(Deserialize)]
#[serde(untagged)]
enum File {
    List(Vec<serde_json::Value>),
    One(serde_json::Value),
}

/// Reads a project's mocks in the order of their files' names.
///
/// # Errors
/// When a file is not JSON, or a mock could never answer a request.
pub fn read(files: &BTreeMap<String, Vec<u8>>) -> Result<Mocks, Error> {
    let is_mock = |path: &str| path.starts_with(DIRECTORY) && path.ends_with(SUFFIX);
    let files: Vec<_> = files.iter().filter(|(path, _)| is_mock(path)).collect();
    let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    if bytes > MOCKS_BYTES_MAX {
        let message = format!("mocks have at most {MOCKS_BYTES_MAX} bytes together, and these {bytes}");
        return Err(Error::failed(STAGE, CHECK, message).at(Location::file(DIRECTORY)));
    }
    let mut mocks = Vec::new();
    for (path, bytes) in files {
        mocks.extend(read_file(path, bytes)?);
    }
    if mocks.len() > MOCKS_MAX {
        let message = format!("a project has at most {MOCKS_MAX} mocks");
        return Err(Error::failed(STAGE, CHECK, message).at(Location::file(DIRECTORY)));
    }
    Ok(Mocks(mocks))
}

fn read_file(path: &str, bytes: &[u8]) -> Result<Vec<Mock>, Error> {
    let file: File = registry::read_json(bytes)
        .map_err(|error| Error::failed(STAGE, CHECK, error.to_string()).at(Location::of_json(path, &error)))?;
    let values = match file {
        File::List(values) => values,
        File::One(value) => vec![value],
    };
    let one = |(index, value)| {
        let refuse = |problem| Error::failed(STAGE, CHECK, format!("mock {index}: {problem}")).at(Location::file(path));
        Mock::read(value).map_err(refuse)
    };
    values.into_iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(files: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
    }

    const ONE: &str = r#"{"request": {"method": "POST", "url": "https://a.example.com/"}, "response": {}}"#;

    #[test]
    fn files_are_read_in_the_order_of_their_names() {
        let two = format!("[{ONE}, {ONE}]");
        let mocks =
            read(&files(&[("mocks/b.json", ONE), ("mocks/a.json", &two), ("mocks/x.md", "#"), ("tool.py", "")]));
        assert_eq!(mocks.unwrap().0.len(), 3);
        assert_eq!(read(&files(&[("tool.py", "")])).unwrap(), Mocks::default());
    }

    #[test]
    fn refusals_name_file_and_mock() {
        for (text, expected) in [
            ("{", "mocks/a.json:1: "),
            ("[{}]", "mocks/a.json: mock 0: missing field `request`"),
            (&ONE.replace("POST", "post"), "mock 0: request.method"),
            (&ONE.replace("\"response\"", "\"answer\""), "unknown field `answer`"),
        ] {
            let error = read(&files(&[("mocks/a.json", text)])).unwrap_err().to_string();
            assert!(error.contains(expected), "{error:?} does not contain {expected:?}");
        }
        let many = format!("[{}]", vec![ONE; MOCKS_MAX + 1].join(","));
        assert!(read(&files(&[("mocks/a.json", &many)])).is_err());
    }
}
