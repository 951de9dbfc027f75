//! Format of a file of compiled code: the code, the initial memory after it, and the lengths of both.
//!
//! One keyed digest covers both parts, and one sealed descriptor carries both to the processes that run them.

use std::io;
use std::ops::Range;

use crate::sandbox::code::component_memory::WASM_PAGE_BYTES;

/// Last bytes of a file of this format.
const MAGIC: [u8; 8] = *b"lathe-2\n";
/// Two lengths and the magic.
const TRAILER_BYTES: usize = 24;

/// Positions of the parts of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct CodePositions {
    pub code: Range<usize>,
    /// Initial memory, which begins at a whole page of any machine; empty when the code contains it.
    pub image: Range<usize>,
}

/// Makes a file of code and an initial memory of whole pages.
pub fn pack(mut code: Vec<u8>, image: &[u8]) -> Vec<u8> {
    let code_bytes = code.len() as u64;
    if !image.is_empty() {
        code.resize(code.len().next_multiple_of(WASM_PAGE_BYTES), 0);
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
/// When [`pack`] did not make the file.
pub fn split_parts(file: &[u8]) -> io::Result<CodePositions> {
    try_parts(file).ok_or_else(|| io::Error::other("the file does not have the format of compiled code"))
}

fn try_parts(file: &[u8]) -> Option<CodePositions> {
    let end = file.len().checked_sub(TRAILER_BYTES)?;
    let (lengths, magic) = file.get(end..)?.split_at_checked(TRAILER_BYTES - MAGIC.len())?;
    let (code, image) = lengths.split_at_checked(lengths.len() / 2)?;
    let length = |bytes: &[u8]| usize::try_from(u64::from_le_bytes(bytes.try_into().ok()?)).ok();
    let (code, image) = (length(code)?, length(image)?);
    let start = if image == 0 { code } else { code.checked_next_multiple_of(WASM_PAGE_BYTES)? };
    let is_whole = magic == MAGIC && image % WASM_PAGE_BYTES == 0 && start.checked_add(image) == Some(end);
    is_whole.then_some(CodePositions { code: 0..code, image: start..end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_parts_are_found() {
        for code in [0, 1, WASM_PAGE_BYTES - 1, WASM_PAGE_BYTES, WASM_PAGE_BYTES + 1] {
            for image in [0, WASM_PAGE_BYTES, 3 * WASM_PAGE_BYTES] {
                let file = pack(vec![1; code], &vec![2; image]);
                let parts = split_parts(&file).unwrap();
                assert_eq!((parts.code.len(), parts.image.len()), (code, image));
                assert!(file[parts.code].iter().all(|byte| *byte == 1));
                assert!(parts.image.start.is_multiple_of(WASM_PAGE_BYTES) || image == 0);
                assert!(file[parts.image].iter().all(|byte| *byte == 2));
            }
        }
    }

    #[test]
    fn other_and_truncated_files_are_refused() {
        let file = pack(b"code".to_vec(), &[3; WASM_PAGE_BYTES]);
        for length in 0..file.len() {
            assert!(split_parts(&file[..length]).is_err(), "{length}");
        }
        let mut longer = file.clone();
        longer.insert(0, 0);
        assert!(split_parts(&longer).is_err() && split_parts(&[0; 100]).is_err());
    }
}
