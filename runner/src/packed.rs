//! The file of compiled code: the code, behind it the memory that a language's image begins with, and how long both are.
//!
//! One file, so that one keyed digest covers both, and one sealed descriptor carries both to the processes that run them.

use std::io;
use std::ops::Range;

/// Places in the file are whole pages of any machine, and whole pages of WebAssembly.
pub const PAGE_BYTES: usize = 64 << 10;
/// The last bytes of a file say what it is.
const MAGIC: [u8; 8] = *b"lathe-2\n";
/// Two lengths and the magic.
const TRAILER_BYTES: usize = 24;

/// Where the parts of a file are.
#[derive(Debug, PartialEq, Eq)]
pub struct Parts {
    pub code: Range<usize>,
    /// Empty when the component brings its memory along.
    pub image: Range<usize>,
}

/// Makes a file of code and an image of whole pages.
pub fn pack(mut code: Vec<u8>, image: &[u8]) -> Vec<u8> {
    let code_bytes = code.len() as u64;
    if !image.is_empty() {
        code.resize(code.len().next_multiple_of(PAGE_BYTES), 0);
        code.extend_from_slice(image);
    }
    code.extend_from_slice(&code_bytes.to_le_bytes());
    code.extend_from_slice(&(image.len() as u64).to_le_bytes());
    code.extend_from_slice(&MAGIC);
    code
}

/// Finds the parts of a file.
///
/// # Errors
/// When it was not made by [`pack`].
pub fn parts(file: &[u8]) -> io::Result<Parts> {
    try_parts(file).ok_or_else(|| io::Error::other("it is no file of compiled code"))
}

fn try_parts(file: &[u8]) -> Option<Parts> {
    let end = file.len().checked_sub(TRAILER_BYTES)?;
    let (lengths, magic) = file.get(end..)?.split_at_checked(TRAILER_BYTES - MAGIC.len())?;
    let (code, image) = lengths.split_at_checked(lengths.len() / 2)?;
    let length = |bytes: &[u8]| usize::try_from(u64::from_le_bytes(bytes.try_into().ok()?)).ok();
    let (code, image) = (length(code)?, length(image)?);
    let start = if image == 0 { code } else { code.checked_next_multiple_of(PAGE_BYTES)? };
    let is_whole = magic == MAGIC && image % PAGE_BYTES == 0 && start.checked_add(image) == Some(end);
    is_whole.then_some(Parts { code: 0..code, image: start..end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_found() {
        for code in [0, 1, PAGE_BYTES - 1, PAGE_BYTES, PAGE_BYTES + 1] {
            for image in [0, PAGE_BYTES, 3 * PAGE_BYTES] {
                let file = pack(vec![1; code], &vec![2; image]);
                let parts = parts(&file).unwrap();
                assert_eq!((parts.code.len(), parts.image.len()), (code, image));
                assert!(file[parts.code].iter().all(|byte| *byte == 1));
                assert!(parts.image.start.is_multiple_of(PAGE_BYTES) || image == 0);
                assert!(file[parts.image].iter().all(|byte| *byte == 2));
            }
        }
    }

    #[test]
    fn what_was_not_packed_or_is_cut_has_no_parts() {
        let file = pack(b"code".to_vec(), &[3; PAGE_BYTES]);
        for length in 0..file.len() {
            assert!(parts(&file[..length]).is_err(), "{length}");
        }
        let mut longer = file.clone();
        longer.insert(0, 0);
        assert!(parts(&longer).is_err() && parts(&[0; 100]).is_err());
    }
}
