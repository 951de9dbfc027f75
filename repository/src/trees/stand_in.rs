//! Contents of files that only stand for others: pointers of Git LFS and of git-annex, and what git-crypt encrypted.
//!
//! The filters of these tools run in the clones of authors, and never here.

/// Bytes of a pointer. Git LFS writes fewer than 1,024, git-annex the longest name of a file.
pub const POINTER_BYTES_MAX: usize = 4_096;
/// The first line of a pointer of Git LFS, now and before it had this name.
const LFS: [&[u8]; 3] = [
    b"version https://git-lfs.github.com/spec/",
    b"version https://hawser.github.com/spec/",
    b"version http://git-media.io/v/",
];
const ANNEX: &[u8] = b"/annex/objects/";
const CRYPT: &[u8] = b"\0GITCRYPT\0";

/// What a content stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandIn {
    /// A file of Git LFS, with its size if the pointer has it.
    Lfs {
        bytes: Option<u64>,
    },
    Annex,
    Crypt,
}

/// What a content stands for. `None` for the content of a file itself.
#[must_use]
pub fn find_stand_in(content: &[u8]) -> Option<StandIn> {
    if content.starts_with(CRYPT) {
        return Some(StandIn::Crypt);
    }
    if content.len() > POINTER_BYTES_MAX {
        return None;
    }
    if LFS.iter().any(|start| content.starts_with(start)) {
        return Some(StandIn::Lfs { bytes: read_size(content) });
    }
    content.starts_with(ANNEX).then_some(StandIn::Annex)
}

/// The size that a pointer of Git LFS gives.
fn read_size(pointer: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(pointer).ok()?;
    text.lines().find_map(|line| line.strip_prefix("size ")?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_that_stand_for_others_are_told_from_files() {
        let lfs = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
        assert_eq!(find_stand_in(lfs), Some(StandIn::Lfs { bytes: Some(12_345) }));
        let old = b"version https://hawser.github.com/spec/v1\n";
        assert_eq!(find_stand_in(old), Some(StandIn::Lfs { bytes: None }));
        assert_eq!(find_stand_in(b"/annex/objects/SHA256E-s5--0.bin\n"), Some(StandIn::Annex));
        let encrypted = [CRYPT, &[7; 2 * POINTER_BYTES_MAX]].concat();
        assert_eq!(find_stand_in(&encrypted), Some(StandIn::Crypt));
        let long = [&lfs[..], &[b'x'; POINTER_BYTES_MAX]].concat();
        for file in [
            &b""[..],
            b"version 1\n",
            b"# version https://git-lfs.github.com/spec/v1\n",
            b"see /annex/objects/",
            &long[..],
        ] {
            assert_eq!(find_stand_in(file), None, "{}", file.escape_ascii());
        }
    }
}
