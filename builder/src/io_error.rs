//! Errors of files with their paths. The system's own message names none.

use std::io;
use std::path::Path;

/// Adds the path to an error, of which the kind stays.
pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> io::Error + '_ {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn an_error_names_the_path() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        let error = fs::create_dir(&file).map_err(at(&file)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert!(error.to_string().starts_with(&format!("{}: File exists", file.display())), "{error}");
    }
}
