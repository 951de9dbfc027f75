//! The keys of endpoints that the server sends requests to.

use std::path::Path;

use registry::SecretValue;

use crate::text_input;

/// Reads the key of an endpoint from the named file, or else from a variable. A key is no flag, since others can read the arguments of a
/// process, and no key of the settings file, which more users may read.
pub fn read_key(file: Option<&Path>, variable: &str) -> anyhow::Result<Option<SecretValue>> {
    let key = match file {
        Some(path) => Some(text_input::read_file(path)?),
        None => std::env::var(variable).ok(),
    };
    Ok(key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty()).map(SecretValue::new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_from_a_file_without_its_line_end() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "secret\n").expect("written");
        assert_eq!(read_key(Some(file.path()), "LATHE_NO_KEY").expect("a key").expect("a key").expose(), "secret");
        assert!(read_key(None, "LATHE_NO_KEY").expect("no key").is_none());
    }
}
