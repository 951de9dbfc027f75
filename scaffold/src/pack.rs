//! The source archive of the Python package, byte for byte the same from the same binary.

use std::borrow::Cow;
use std::io::Write;

use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

use crate::embedded::distribution;
use crate::{Error, File, VERSION};

/// The file name of the archive. Installers recognise an archive by its extension.
pub const ARCHIVE_NAME: &str = "amigo_tool_scaffold.tar.gz";

/// 1980-01-01, the earliest date that a wheel (a zip archive) can hold. The current time is not used.
const MODIFIED_SECONDS: u64 = 315_532_800;

/// Builds the `.tar.gz` that `pip install URL` and `uv add "amigo_tool_scaffold @ URL"` install.
pub fn pack() -> Result<Vec<u8>, Error> {
    let top = format!("amigo_tool_scaffold-{VERSION}");
    let mut files = distribution();
    files.push(File { path: "PKG-INFO".to_owned(), bytes: Cow::Owned(package_information().into_bytes()) });
    files.sort_by(|left, right| left.path.cmp(&right.path));
    let mut archive = Builder::new(Vec::new());
    for file in files {
        append(&mut archive, &file.below(&top))?;
    }
    compressed(&archive.into_inner()?)
}

fn append(archive: &mut Builder<Vec<u8>>, file: &File) -> Result<(), Error> {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(MODIFIED_SECONDS);
    header.set_size(file.bytes.len() as u64);
    Ok(archive.append_data(&mut header, &file.path, file.bytes.as_ref())?)
}

fn compressed(archive: &[u8]) -> Result<Vec<u8>, Error> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    encoder.write_all(archive)?;
    Ok(encoder.finish()?)
}

/// The metadata, the same as from the package's own build backend. No dependency is dynamic, so uv need not build it.
fn package_information() -> String {
    format!(
        "Metadata-Version: 2.2\n\
         Name: amigo_tool_scaffold\n\
         Version: {VERSION}\n\
         Summary: Types, a test runner and checks for authors of tools\n\
         License: Apache-2.0\n\
         Requires-Python: >=3.11\n"
    )
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    fn unpacked() -> Vec<(String, u32, u64, Vec<u8>)> {
        let bytes = pack().expect("packs");
        let mut archive = tar::Archive::new(GzDecoder::new(bytes.as_slice()));
        let entry = |found: std::io::Result<tar::Entry<'_, GzDecoder<&[u8]>>>| {
            let mut found = found.expect("an entry");
            let path = found.path().expect("a path").to_string_lossy().into_owned();
            let (mode, modified) = (found.header().mode().expect("a mode"), found.header().mtime().expect("a date"));
            let mut content = Vec::new();
            found.read_to_end(&mut content).expect("content");
            (path, mode, modified, content)
        };
        archive.entries().expect("entries").map(entry).collect()
    }

    #[test]
    fn packing_twice_gives_the_same_bytes() {
        assert_eq!(pack().expect("packs"), pack().expect("packs"));
    }

    #[test]
    fn one_top_directory_sorted_with_fixed_dates_and_modes() {
        let entries = unpacked();
        assert!(entries.is_sorted_by(|left, right| left.0 < right.0));
        for (path, mode, modified, _) in entries {
            assert!(path.starts_with(&format!("amigo_tool_scaffold-{VERSION}/")), "{path}");
            assert_eq!((mode, modified), (0o644, MODIFIED_SECONDS), "{path}");
        }
    }

    #[test]
    fn holds_the_metadata_the_backend_and_every_module() {
        let entries = unpacked();
        let paths: Vec<String> = entries.iter().map(|entry| entry.0.clone()).collect();
        let modules = crate::python_package().into_iter().map(|file| file.path);
        let others = ["PKG-INFO", "README.md", "pyproject.toml", "wheel_backend.py"].map(str::to_owned);
        let mut expected: Vec<String> =
            modules.chain(others).map(|path| format!("amigo_tool_scaffold-{VERSION}/{path}")).collect();
        expected.sort();
        assert_eq!(paths, expected);
    }

    #[test]
    fn the_metadata_agrees_with_the_project_file() {
        let entries = unpacked();
        let text = |name: &str| {
            let entry = entries.iter().find(|entry| entry.0.ends_with(name)).expect("packed");
            String::from_utf8(entry.3.clone()).expect("text")
        };
        let project = text("/pyproject.toml");
        for line in text("/PKG-INFO").lines().skip(1) {
            let (_, value) = line.split_once(": ").expect("a header");
            assert!(project.contains(&format!("\"{value}\"")), "{line} is not in pyproject.toml");
        }
    }
}
