//! Unpacks the sources in a package's archive.

use std::io::Read;

use flate2::read::GzDecoder;
use runner::SourceFile;
use tar::{Archive, EntryType};

use crate::text::quote;

/// Entries of one archive; the largest packages have a few thousand.
const ENTRIES_MAX: usize = 20_000;
/// Unpacked bytes of one archive, including headers and files that are left out.
const UNPACKED_BYTES_MAX: u64 = 128 << 20;
/// Bytes of the kept files with their paths: as many as all packages of a tool may have.
const KEPT_BYTES_MAX: usize = 64 << 20;
/// Extensions of files that a bundler reads. Type declarations and source maps are for editors.
const KEPT: [&str; 9] = [".js", ".mjs", ".cjs", ".json", ".jsx", ".ts", ".mts", ".cts", ".tsx"];
const NOT_KEPT: [&str; 3] = [".d.ts", ".d.mts", ".d.cts"];

/// Returns the sources, with paths relative to the package's directory. A header of an entry is read into memory whole,
/// whatever its length, so this runs in a child process only (`documents/child.rs`).
///
/// # Errors
/// The reason why the archive is refused.
pub fn unpack(archive: &[u8]) -> Result<Vec<SourceFile>, String> {
    let mut archive = Archive::new(GzDecoder::new(archive).take(UNPACKED_BYTES_MAX));
    let files = read_files(&mut archive);
    // The end of the readable bytes looks like the end of the archive.
    if archive.into_inner().limit() == 0 {
        return Err(format!("more than {UNPACKED_BYTES_MAX} bytes unpacked"));
    }
    files
}

fn read_files(archive: &mut Archive<impl Read>) -> Result<Vec<SourceFile>, String> {
    let (mut files, mut left) = (Vec::new(), KEPT_BYTES_MAX);
    let entries = archive.entries().map_err(|error| error.to_string())?;
    for (count, entry) in entries.enumerate() {
        if count == ENTRIES_MAX {
            return Err(format!("more than {ENTRIES_MAX} files"));
        }
        let mut entry = entry.map_err(|error| format!("it is not an archive: {error}"))?;
        match entry.header().entry_type() {
            EntryType::Regular | EntryType::Continuous => {}
            EntryType::Directory | EntryType::XGlobalHeader => continue,
            kind => return Err(format!("it holds an entry that is not a file ({kind:?})")),
        }
        let Some(path) = select_wanted(&entry.path_bytes())? else { continue };
        let mut contents = Vec::new();
        entry.read_to_end(&mut contents).map_err(|error| error.to_string())?;
        left = left
            .checked_sub(path.len() + contents.len())
            .ok_or_else(|| format!("it has more than {KEPT_BYTES_MAX} bytes of sources"))?;
        files.push(SourceFile { path, contents });
    }
    Ok(files)
}

/// The path of a wanted file, without the archive's top directory, which is usually `package`, and without parts `.`,
/// which some tools write.
fn select_wanted(path: &[u8]) -> Result<Option<String>, String> {
    let path = str::from_utf8(path).map_err(|_| "it holds a path that is not UTF-8".to_owned())?;
    let outside = |part: &&str| matches!(*part, "" | "..") || part.contains(['\\', '\0']);
    let mut parts = path.split('/').filter(|part| *part != ".");
    let (top, inside) = (parts.next().unwrap_or_default(), parts.collect::<Vec<_>>());
    if inside.is_empty() || [top].iter().chain(&inside).any(outside) {
        return Err(format!("it holds the path {}", quote(path)));
    }
    let inside = inside.join("/");
    let is_kept =
        KEPT.iter().any(|ending| inside.ends_with(ending)) && !NOT_KEPT.iter().any(|ending| inside.ends_with(ending));
    Ok(is_kept.then(|| inside.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::npm_archive as archive;

    #[test]
    fn sources_are_kept_below_the_packages_directory() {
        let file = EntryType::Regular;
        let archive = archive(&[
            ("package/index.js", file, 3),
            ("package/lib", EntryType::Directory, 0),
            ("package/lib/a.d.ts", file, 3),
            ("package/README.md", file, 3),
            ("other/lib/a.json", file, 3),
            ("./package/./dist/./b.js", file, 3),
        ]);
        let files = unpack(&archive).unwrap();
        let paths: Vec<_> = files.iter().map(|file| &*file.path).collect();
        assert_eq!((paths, files[0].contents.len()), (vec!["index.js", "lib/a.json", "dist/b.js"], 3));
    }

    #[test]
    fn links_paths_outside_and_bombs_are_refused() {
        let refused = |path: &str, kind: EntryType, expected: &str| {
            let error = unpack(&archive(&[(path, kind, 0)])).expect_err(path);
            assert!(error.contains(expected), "{error}");
        };
        refused("package/a.js", EntryType::Symlink, "not a file");
        refused("package/a.js", EntryType::Link, "not a file");
        refused("package/../../a.js", EntryType::Regular, "the path");
        refused("/etc/a.js", EntryType::Regular, "the path");
        refused("./a.js", EntryType::Regular, "the path");
        refused("package//a.js", EntryType::Regular, "the path");
        refused("package/./../a.js", EntryType::Regular, "the path");
        refused("package/a\\b.js", EntryType::Regular, "the path");
        assert!(unpack(b"no archive").is_err());
        let bomb = archive(&[("package/a.js", EntryType::Regular, 200 << 20)]);
        assert!(unpack(&bomb).unwrap_err().contains("more than 134217728 bytes"));
        let sources = archive(&[("package/a.js", EntryType::Regular, 65 << 20)]);
        assert!(unpack(&sources).unwrap_err().contains("more than 67108864 bytes of sources"));
        let many: Vec<_> = std::iter::repeat_n(("package/a.js", EntryType::Regular, 0), ENTRIES_MAX + 1).collect();
        assert!(unpack(&archive(&many)).unwrap_err().contains("more than"));
    }
}
