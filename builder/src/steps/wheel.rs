//! Unpacks a pure-Python wheel, and reads the package that its metadata names.

mod identity;

use std::io::{Cursor, Read};

use runner::SourceFile;
use zip::ZipArchive;

use crate::text::{quoted, shown};
pub use identity::Identity;
use identity::is_metadata;

/// Files of one wheel; the largest pure packages have a few thousand.
const FILES_MAX: usize = 10_000;
/// Unpacked bytes of one wheel.
const UNPACKED_BYTES_MAX: u64 = 64 << 20;
/// The signature of an entry of a zip file's directory.
const DIRECTORY_ENTRY: [u8; 4] = *b"PK\x01\x02";

/// Extensions of native code, which a sandbox cannot load.
const NATIVE: [&str; 4] = [".so", ".pyd", ".dylib", ".dll"];

/// A wheel's files, and the package that its metadata names.
#[derive(Debug)]
pub struct Wheel {
    pub identity: Identity,
    /// Modules and data, without metadata and scripts.
    pub files: Vec<SourceFile>,
}

/// Unpacks a wheel. The library that reads zip files does not bound its time, so this runs in a child process only
/// (`documents/child.rs`).
///
/// # Errors
/// The reason why the wheel is refused.
pub fn unpack(wheel: Vec<u8>) -> Result<Wheel, String> {
    check_entries(&wheel)?;
    let mut archive = ZipArchive::new(Cursor::new(wheel)).map_err(|error| format!("it is not a zip file: {error}"))?;
    let (mut files, mut identity) = (Vec::new(), None);
    let mut left = UNPACKED_BYTES_MAX;
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(|error| error.to_string())?;
        if is_metadata(entry.name()) {
            if identity.is_some() {
                return Err("it holds the metadata of several packages".into());
            }
            identity = Some(Identity::read(entry)?);
            continue;
        }
        let Some(path) = wanted(entry.name())? else { continue };
        let mut contents = Vec::new();
        entry.take(left + 1).read_to_end(&mut contents).map_err(|error| error.to_string())?;
        left = left
            .checked_sub((path.len() + contents.len()) as u64)
            .ok_or_else(|| format!("more than {UNPACKED_BYTES_MAX} bytes unpacked"))?;
        files.push(SourceFile { path, contents });
    }
    let identity = identity.ok_or("it has no METADATA that names its package and version")?;
    Ok(Wheel { identity, files })
}

/// Bounds the number of entries before the archive's directory is read, which takes about a hundred bytes of memory for
/// each.
fn check_entries(wheel: &[u8]) -> Result<(), String> {
    let entries = memchr::memmem::find_iter(wheel, &DIRECTORY_ENTRY).count();
    if entries > FILES_MAX { Err(format!("more than {FILES_MAX} files")) } else { Ok(()) }
}

/// The path below the package directory. `None` for files that tools do not need.
fn wanted(name: &str) -> Result<Option<String>, String> {
    let parts: Vec<_> = name.split('/').collect();
    if name.starts_with('/') || name.contains('\\') || parts.contains(&"..") {
        return Err(format!("it holds the path {}", quoted(name)));
    }
    if NATIVE.iter().any(|suffix| name.ends_with(suffix)) {
        return Err(format!("it holds native code ({})", shown(name)));
    }
    let Some(first) = parts.first() else { return Ok(None) };
    if name.ends_with('/') || first.ends_with(".dist-info") {
        return Ok(None);
    }
    if first.ends_with(".data") {
        // Only modules are needed, not scripts and headers.
        let inside = matches!(parts.get(1), Some(&("purelib" | "platlib")));
        return Ok(inside.then(|| parts[2..].join("/")));
    }
    Ok(Some(name.into()))
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::io::Write;
    use zip::write::SimpleFileOptions;

    pub fn wheel(files: &[(&str, &str)]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, contents) in files {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(contents.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn modules_and_data_are_kept_and_metadata_is_not() {
        let Wheel { identity, files } = unpack(wheel(&[
            ("six.py", "x = 1"),
            ("pkg/data.json", "{}"),
            ("six-1.dist-info/METADATA", "Name: six\nVersion: 1\n"),
            ("six-1.data/purelib/more.py", ""),
            ("six-1.data/scripts/run", ""),
        ]))
        .unwrap();
        let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["six.py", "pkg/data.json", "more.py"]);
        assert_eq!(identity.to_string(), "six 1");
    }

    #[test]
    fn a_wheel_names_one_package() {
        let metadata = ("six-1.dist-info/METADATA", "Name: six\nVersion: 1\n");
        assert!(unpack(wheel(&[("six.py", "")])).unwrap_err().contains("no METADATA"));
        assert!(unpack(wheel(&[metadata, ("a-1.dist-info/METADATA", metadata.1)])).unwrap_err().contains("several"));
        assert!(unpack(wheel(&[(metadata.0, "Version: 1\n")])).unwrap_err().contains("METADATA"));
    }

    #[test]
    fn a_wheel_of_too_many_files_is_refused_before_its_directory_is_read() {
        let names: Vec<_> = (0..=FILES_MAX).map(|number| format!("a/{number}.py")).collect();
        let files: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
        assert!(unpack(wheel(&files)).unwrap_err().contains("more than 10000 files"));
    }

    #[test]
    fn native_code_and_paths_outside_are_refused() {
        assert!(unpack(wheel(&[("pkg/_speed.so", "")])).unwrap_err().contains("native code"));
        assert!(unpack(wheel(&[("../x.py", "")])).unwrap_err().contains("../x.py"));
        assert!(unpack(b"PK no zip".to_vec()).is_err());
    }
}
