//! A wheel's files, when it is pure Python.

use std::io::{Cursor, Read};

use runner::SourceFile;
use zip::ZipArchive;

/// Files of one wheel; the largest pure packages have a few thousand.
const FILES_MAX: usize = 10_000;
/// Unpacked bytes of one wheel.
const UNPACKED_BYTES_MAX: u64 = 64 << 20;

/// Native code, which a sandbox cannot load.
const NATIVE: [&str; 4] = [".so", ".pyd", ".dylib", ".dll"];

/// Unpacks a wheel's modules and data; its metadata and scripts stay out.
///
/// # Errors
/// Why the wheel is refused.
pub fn unpack(wheel: Vec<u8>) -> Result<Vec<SourceFile>, String> {
    let mut archive = ZipArchive::new(Cursor::new(wheel)).map_err(|error| format!("no zip file: {error}"))?;
    if archive.len() > FILES_MAX {
        return Err(format!("more than {FILES_MAX} files"));
    }
    let mut files = Vec::new();
    let mut left = UNPACKED_BYTES_MAX;
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(|error| error.to_string())?;
        let Some(path) = wanted(entry.name())? else { continue };
        let mut contents = Vec::new();
        entry.take(left + 1).read_to_end(&mut contents).map_err(|error| error.to_string())?;
        left = left
            .checked_sub(contents.len() as u64)
            .ok_or_else(|| format!("more than {UNPACKED_BYTES_MAX} bytes unpacked"))?;
        files.push(SourceFile { path, contents });
    }
    Ok(files)
}

/// The path below the package directory, or nothing for what tools do not need.
fn wanted(name: &str) -> Result<Option<String>, String> {
    let parts: Vec<_> = name.split('/').collect();
    if name.starts_with('/') || name.contains('\\') || parts.contains(&"..") {
        return Err(format!("it holds the path {name:?}"));
    }
    if NATIVE.iter().any(|suffix| name.ends_with(suffix)) {
        return Err(format!("it holds native code ({name})"));
    }
    let Some(first) = parts.first() else { return Ok(None) };
    if name.ends_with('/') || first.ends_with(".dist-info") {
        return Ok(None);
    }
    if first.ends_with(".data") {
        // Only modules are of use; scripts and headers are not.
        let inside = matches!(parts.get(1), Some(&("purelib" | "platlib")));
        return Ok(inside.then(|| parts[2..].join("/")));
    }
    Ok(Some(name.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use zip::write::SimpleFileOptions;

    fn wheel(files: &[(&str, &str)]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, contents) in files {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(contents.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn modules_and_data_are_kept_and_metadata_is_not() {
        let files = unpack(wheel(&[
            ("six.py", "x = 1"),
            ("pkg/data.json", "{}"),
            ("six-1.dist-info/METADATA", "Name: six"),
            ("six-1.data/purelib/more.py", ""),
            ("six-1.data/scripts/run", ""),
        ]))
        .unwrap();
        let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["six.py", "pkg/data.json", "more.py"]);
    }

    #[test]
    fn native_code_and_paths_outside_are_refused() {
        assert!(unpack(wheel(&[("pkg/_speed.so", "")])).unwrap_err().contains("native code"));
        assert!(unpack(wheel(&[("../x.py", "")])).unwrap_err().contains("../x.py"));
        assert!(unpack(b"PK no zip".to_vec()).is_err());
    }
}
