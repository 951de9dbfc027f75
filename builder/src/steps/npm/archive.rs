//! A package's archive: the sources that are in it.

use std::io::Read;

use flate2::read::GzDecoder;
use runner::SourceFile;
use tar::{Archive, EntryType};

/// Entries of one archive; the largest packages have a few thousand.
const ENTRIES_MAX: usize = 20_000;
/// Unpacked bytes of one archive, those that are left out included.
const UNPACKED_BYTES_MAX: u64 = 128 << 20;
/// What a bundler reads. Declarations of types and maps are for editors.
const KEPT: [&str; 9] = [".js", ".mjs", ".cjs", ".json", ".jsx", ".ts", ".mts", ".cts", ".tsx"];
const NOT_KEPT: [&str; 3] = [".d.ts", ".d.mts", ".d.cts"];

/// The sources, with paths below the package's own directory.
///
/// # Errors
/// Why the archive is refused.
pub fn unpack(archive: &[u8]) -> Result<Vec<SourceFile>, String> {
    let mut archive = Archive::new(GzDecoder::new(archive).take(UNPACKED_BYTES_MAX));
    let mut files = Vec::new();
    let entries = archive.entries().map_err(|error| error.to_string())?;
    for (count, entry) in entries.enumerate() {
        if count == ENTRIES_MAX {
            return Err(format!("more than {ENTRIES_MAX} files"));
        }
        let mut entry =
            entry.map_err(|error| format!("no archive, or of more than {UNPACKED_BYTES_MAX} bytes: {error}"))?;
        match entry.header().entry_type() {
            EntryType::Regular | EntryType::Continuous => {}
            EntryType::Directory | EntryType::XGlobalHeader => continue,
            kind => return Err(format!("it holds an entry that is no file ({kind:?})")),
        }
        let Some(path) = wanted(&entry.path_bytes())? else { continue };
        let mut contents = Vec::new();
        entry.read_to_end(&mut contents).map_err(|error| error.to_string())?;
        files.push(SourceFile { path, contents });
    }
    Ok(files)
}

/// Archives have one directory at the top, which is `package` most often.
fn wanted(path: &[u8]) -> Result<Option<String>, String> {
    let path = str::from_utf8(path).map_err(|_| "it holds a path that is not UTF-8".to_owned())?;
    let outside = |part: &str| matches!(part, "" | "." | "..") || part.contains(['\\', '\0']);
    let (_, inside) = path.trim_start_matches("./").split_once('/').unwrap_or_default();
    if path.starts_with('/') || path.split('/').any(|part| part == "..") || inside.split('/').any(outside) {
        return Err(format!("it holds the path {path:?}"));
    }
    let is_kept =
        KEPT.iter().any(|ending| inside.ends_with(ending)) && !NOT_KEPT.iter().any(|ending| inside.ends_with(ending));
    Ok(is_kept.then(|| inside.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tar::{Builder, Header};

    fn archive(entries: &[(&str, EntryType, usize)]) -> Vec<u8> {
        let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (path, kind, bytes) in entries {
            let mut header = Header::new_gnu();
            // Not `set_path`, which refuses what is to be tried.
            header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_entry_type(*kind);
            header.set_size(*bytes as u64);
            header.set_cksum();
            builder.append(&header, std::io::repeat(b' ').take(*bytes as u64)).unwrap();
        }
        builder.into_inner().unwrap().finish().unwrap()
    }

    #[test]
    fn sources_are_kept_below_the_packages_directory() {
        let file = EntryType::Regular;
        let archive = archive(&[
            ("package/index.js", file, 3),
            ("package/lib", EntryType::Directory, 0),
            ("package/lib/a.d.ts", file, 3),
            ("package/README.md", file, 3),
            ("other/lib/a.json", file, 3),
        ]);
        let files = unpack(&archive).unwrap();
        let paths: Vec<_> = files.iter().map(|file| &*file.path).collect();
        assert_eq!((paths, files[0].contents.len()), (vec!["index.js", "lib/a.json"], 3));
    }

    #[test]
    fn links_paths_outside_and_bombs_are_refused() {
        let refused = |path: &str, kind: EntryType, expected: &str| {
            let error = unpack(&archive(&[(path, kind, 0)])).expect_err(path);
            assert!(error.contains(expected), "{error}");
        };
        refused("package/a.js", EntryType::Symlink, "no file");
        refused("package/a.js", EntryType::Link, "no file");
        refused("package/../../a.js", EntryType::Regular, "the path");
        refused("/etc/a.js", EntryType::Regular, "the path");
        refused("package//a.js", EntryType::Regular, "the path");
        refused("package/a\\b.js", EntryType::Regular, "the path");
        assert!(unpack(b"no archive").is_err());
        let bomb = archive(&[("package/a.js", EntryType::Regular, 200 << 20)]);
        assert!(unpack(&bomb).is_err());
        let many: Vec<_> = std::iter::repeat_n(("package/a.js", EntryType::Regular, 0), ENTRIES_MAX + 1).collect();
        assert!(unpack(&archive(&many)).unwrap_err().contains("more than"));
    }
}
