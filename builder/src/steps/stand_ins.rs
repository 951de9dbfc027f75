//! Files whose bytes only stand for their content: pointers of Git LFS and of git-annex, and what git-crypt encrypted.
//!
//! The filters of such tools run in the clones of authors, and never here. A build with such a file would take the pointer for the data.

use std::collections::BTreeMap;

use crate::error::{Error, Location};

const STAGE: &str = "checkout";
/// Bytes of a pointer. Git LFS writes fewer than 1,024, git-annex the longest name of a file.
const POINTER_BYTES_MAX: usize = 4_096;
/// The first line of a pointer of Git LFS, now and before it had this name.
const LFS: [&[u8]; 3] = [
    b"version https://git-lfs.github.com/spec/",
    b"version https://hawser.github.com/spec/",
    b"version http://git-media.io/v/",
];
const ANNEX: &[u8] = b"/annex/objects/";
const CRYPT: &[u8] = b"\0GITCRYPT\0";

/// Refuses a project with a file that only stands for its content.
///
/// # Errors
/// The first such file, with the commands that commit its content.
pub fn refuse(files: &BTreeMap<String, Vec<u8>>) -> Result<(), Error> {
    for (path, bytes) in files {
        if let Some(message) = find_stand_in(path, bytes) {
            return Err(Error::failed(STAGE, "stand-in", message).at(Location::file(path)));
        }
    }
    Ok(())
}

fn find_stand_in(path: &str, bytes: &[u8]) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if bytes.starts_with(CRYPT) {
        return Some(
            "the file is encrypted by git-crypt, and a build has no key of it. Give a secret as a variable (`lathe envvar set --secret`), or \
             commit the file without its filter in .gitattributes"
                .to_owned(),
        );
    }
    if bytes.len() > POINTER_BYTES_MAX {
        return None;
    }
    if LFS.iter().any(|start| bytes.starts_with(start)) {
        let size = read_size(bytes).map_or_else(String::new, |size| format!(" of {size} bytes"));
        return Some(format!(
            "the file is a pointer of Git LFS for a file{size}, which is not in this repository. Commit the file itself: `git lfs pull && \
             git lfs untrack {name} && git add --renormalize .`, then commit and push"
        ));
    }
    bytes.starts_with(ANNEX).then(|| {
        format!(
            "the file is a pointer of git-annex for a file that is not in this repository. Commit the file itself: `git annex get {name} && \
             git annex unannex {name} && git -c annex.largefiles=nothing add {name}`, then commit and push"
        )
    })
}

/// The size that a pointer of Git LFS gives.
fn read_size(pointer: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(pointer).ok()?;
    text.lines().find_map(|line| line.strip_prefix("size ")?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(bytes: &[u8]) -> Option<String> {
        let files = BTreeMap::from([("data/model.bin".to_owned(), bytes.to_vec()), ("tool.py".to_owned(), Vec::new())]);
        refuse(&files).err().map(|error| error.to_string())
    }

    #[test]
    fn files_that_stand_for_others_are_refused_by_name() {
        let lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";
        for (bytes, words) in [
            (lfs.as_bytes(), ["pointer of Git LFS for a file of 12345 bytes", "git lfs untrack model.bin"]),
            (&b"version https://hawser.github.com/spec/v1\n"[..], ["pointer of Git LFS for a file,", "git lfs pull"]),
            (&b"/annex/objects/SHA256E-s5--0.bin\n"[..], ["pointer of git-annex", "git annex unannex model.bin"]),
            (&b"\0GITCRYPT\0\x01\x02"[..], ["encrypted by git-crypt", "lathe envvar set --secret"]),
        ] {
            let refusal = refused(bytes).expect("a refusal");
            assert!(refusal.contains("data/model.bin: "), "{refusal}");
            assert!(words.iter().all(|word| refusal.contains(word)), "{refusal}");
        }
    }

    #[test]
    fn other_files_are_taken() {
        let long = [b"version https://git-lfs.github.com/spec/v1\n".as_slice(), &[b'x'; POINTER_BYTES_MAX]].concat();
        for bytes in [
            &b""[..],
            b"version 1\n",
            b"# version https://git-lfs.github.com/spec/v1\n",
            b"see /annex/objects/",
            &long[..],
        ] {
            assert_eq!(refused(bytes), None, "{}", bytes.escape_ascii());
        }
    }
}
