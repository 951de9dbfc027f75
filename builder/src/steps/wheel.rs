//! Unpacks the Python files of a wheel, and reads the package that its metadata names.

mod identity;

use std::io::{Cursor, Read};

use runner::SourceFile;
use zip::ZipArchive;

use crate::text::quote;
pub use identity::Identity;
use identity::{is_metadata, read_head};

/// Files of one wheel; the largest pure packages have a few thousand.
const FILES_MAX: usize = 10_000;
/// Unpacked bytes of one wheel.
const UNPACKED_BYTES_MAX: u64 = 64 << 20;
/// Ends of zip files in one wheel: its own, and those of zip files that it stores without compression.
const ENDS_MAX: usize = 100;
/// The signature of an entry of a zip file's directory.
const DIRECTORY_ENTRY: [u8; 4] = *b"PK\x01\x02";
/// The signature of the end of a zip file's directory.
const DIRECTORY_END: [u8; 4] = *b"PK\x05\x06";

/// Extensions of native code, which a sandbox cannot load.
const NATIVE: [&str; 4] = [".so", ".pyd", ".dylib", ".dll"];
/// The part of a name before the release of a native library, as in `libz.so.1`.
const NATIVE_RELEASE: &str = ".so.";
/// Metadata that tools can read, besides the headers of `METADATA`.
const ENTRY_POINTS: &str = "entry_points.txt";

/// A wheel's files, and the package that its metadata names.
#[derive(Debug)]
pub struct Wheel {
    pub identity: Identity,
    /// Modules, data and the headers of the metadata, without scripts.
    pub files: Vec<SourceFile>,
    /// The names of files of native code, which are left out.
    pub native: Vec<String>,
}

/// The use of an entry of a wheel.
enum EntryUse {
    /// A file that tools can read, and its path below the package directory.
    Kept(String),
    Native,
    NotNeeded,
}

/// Unpacks a wheel. The library that reads zip files does not bound its time, so this runs in a child process only
/// (`documents/child.rs`).
///
/// # Errors
/// The reason why the wheel is refused.
pub fn unpack(wheel: Vec<u8>) -> Result<Wheel, String> {
    check_directory(&wheel)?;
    let mut archive = ZipArchive::new(Cursor::new(wheel)).map_err(|error| format!("it is not a zip file: {error}"))?;
    let (mut files, mut native, mut identity) = (Vec::new(), Vec::new(), None);
    let mut left = UNPACKED_BYTES_MAX;
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(|error| error.to_string())?;
        if is_metadata(entry.name()) {
            if identity.is_some() {
                return Err("it holds the metadata of several packages".into());
            }
            let path = entry.name().to_owned();
            let head = read_head(entry)?;
            identity = Some(Identity::read(&head)?);
            files.push(SourceFile { path, contents: head.into_bytes() });
            continue;
        }
        let path = match use_of(entry.name())? {
            EntryUse::Kept(path) => path,
            EntryUse::Native => {
                native.push(entry.name().to_owned());
                continue;
            }
            EntryUse::NotNeeded => continue,
        };
        let mut contents = Vec::new();
        entry.take(left + 1).read_to_end(&mut contents).map_err(|error| error.to_string())?;
        left = left
            .checked_sub((path.len() + contents.len()) as u64)
            .ok_or_else(|| format!("more than {UNPACKED_BYTES_MAX} bytes unpacked"))?;
        files.push(SourceFile { path, contents });
    }
    let identity = identity.ok_or("it has no METADATA that names its package and version")?;
    Ok(Wheel { identity, files, native })
}

/// Bounds the entries and the ends of the archive's directory before it is read. An entry takes about a hundred bytes of
/// memory; each end is tried as the archive's own, with room for as many entries as it names.
fn check_directory(wheel: &[u8]) -> Result<(), String> {
    let count = |signature: &[u8]| memchr::memmem::find_iter(wheel, signature).count();
    if count(&DIRECTORY_ENTRY) > FILES_MAX {
        return Err(format!("more than {FILES_MAX} files"));
    }
    if count(&DIRECTORY_END) > ENDS_MAX { Err(format!("more than {ENDS_MAX} zip files inside")) } else { Ok(()) }
}

fn use_of(name: &str) -> Result<EntryUse, String> {
    let parts: Vec<_> = name.split('/').collect();
    if name.starts_with('/') || name.contains('\\') || parts.contains(&"..") {
        return Err(format!("it holds the path {}", quote(name)));
    }
    let first = parts.first().copied().unwrap_or_default();
    let file = parts.last().copied().unwrap_or_default();
    if NATIVE.iter().any(|suffix| file.ends_with(suffix)) || file.contains(NATIVE_RELEASE) {
        return Ok(EntryUse::Native);
    }
    if name.ends_with('/') || (first.ends_with(".dist-info") && file != ENTRY_POINTS) {
        return Ok(EntryUse::NotNeeded);
    }
    if first.ends_with(".data") {
        // Only modules are needed, not scripts and headers.
        let inside = matches!(parts.get(1), Some(&("purelib" | "platlib")));
        return Ok(if inside { EntryUse::Kept(parts[2..].join("/")) } else { EntryUse::NotNeeded });
    }
    Ok(EntryUse::Kept(name.into()))
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
    fn modules_data_and_headers_of_the_metadata_are_kept() {
        let Wheel { identity, files, native } = unpack(wheel(&[
            ("six.py", "x = 1"),
            ("pkg/data.json", "{}"),
            ("pkg/_speed.cpython-314-x86_64-linux-gnu.so", ""),
            ("six.libs/libz.so.1.2", ""),
            ("six-1.dist-info/METADATA", "Name: six\nVersion: 1\n\nA long description"),
            ("six-1.dist-info/RECORD", ""),
            ("six-1.dist-info/entry_points.txt", "[x]"),
            ("six-1.data/purelib/more.py", ""),
            ("six-1.data/scripts/run", ""),
        ]))
        .unwrap();
        let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
        let metadata = ["six-1.dist-info/METADATA", "six-1.dist-info/entry_points.txt"];
        assert_eq!(paths, ["six.py", "pkg/data.json", metadata[0], metadata[1], "more.py"]);
        assert_eq!(files[2].contents, b"Name: six\nVersion: 1\n");
        assert_eq!(identity.to_string(), "six 1");
        assert_eq!(native, ["pkg/_speed.cpython-314-x86_64-linux-gnu.so", "six.libs/libz.so.1.2"]);
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
    fn a_wheel_of_too_many_ends_is_refused_before_one_is_tried() {
        let after =
            |ends| [DIRECTORY_END.repeat(ends), wheel(&[("six-1.dist-info/METADATA", "Name: six\nVersion: 1\n")])];
        assert!(unpack(after(ENDS_MAX - 1).concat()).is_ok());
        assert!(unpack(after(ENDS_MAX).concat()).unwrap_err().contains("more than 100 zip files"));
    }

    #[test]
    fn paths_outside_are_refused() {
        assert!(unpack(wheel(&[("../x.py", "")])).unwrap_err().contains("../x.py"));
        assert!(unpack(b"PK no zip".to_vec()).is_err());
    }
}
