//! The format of a file of the journal: a header, then frames.
//!
//! | part | bytes |
//! |---|---|
//! | header | `lathejnl`, the format version (4), the sequence number (8), a nonce (8), CRC-32 of the bytes before it (4) |
//! | frame | length of the contents (4), CRC-32 of the previous checksum, the length and the contents (4), the contents |
//!
//! Numbers are little-endian. Each checksum covers the previous one, back to that of the header. Frames after the last one
//! therefore do not match, whether an earlier use of the file or a failed write left them.

use std::path::Path;

use crate::error::{Error, Result};

const MAGIC: &[u8] = b"lathejnl";
const FORMAT_VERSION: u32 = 1;
const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 8;

/// The contents of a file.
pub(super) struct Segment {
    /// Number of files begun before this one.
    pub sequence: u64,
    pub frames: Vec<Vec<u8>>,
}

impl Segment {
    /// Reads the complete frames of a file. Returns `None` for a file without a header.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for a file in another format.
    pub fn read(path: &Path, bytes: &[u8]) -> Result<Option<Self>> {
        let Some((header, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let checksum = number(&header[28..]);
        if &header[..8] != MAGIC || checksum != crc32fast::hash(&header[..28]) {
            return Ok(None);
        }
        match number(&header[8..12]) {
            FORMAT_VERSION => {
                let sequence = header[12..20].try_into().map_or(0, u64::from_le_bytes);
                Ok(Some(Self { sequence, frames: Frames { rest, checksum }.map(<[u8]>::to_vec).collect() }))
            }
            other => Err(of_another_release(path, other)),
        }
    }
}

/// The contents of the frames, up to the first incomplete frame.
struct Frames<'a> {
    rest: &'a [u8],
    checksum: u32,
}

impl<'a> Iterator for Frames<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (header, rest) = self.rest.split_at_checked(FRAME_HEADER_BYTES)?;
        let (contents, rest) = rest.split_at_checked(usize::try_from(number(&header[..4])).ok()?)?;
        let mut hasher = crc32fast::Hasher::new();
        [&self.checksum.to_le_bytes(), &header[..4], contents].into_iter().for_each(|part| hasher.update(part));
        let checksum = hasher.finalize();
        if checksum != number(&header[4..]) {
            return None;
        }
        (self.rest, self.checksum) = (rest, checksum);
        Some(contents)
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}

fn of_another_release(path: &Path, version: u32) -> Error {
    let detail = format!(
        "{} has records of runs in format {version}, which this release cannot read. Start and stop the release that wrote \
         it, then start this one",
        path.display()
    );
    Error::Corrupt { what: "journal", detail }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn written(version: u32, frames: &[Vec<u8>]) -> Vec<u8> {
        let mut file = [MAGIC, &version.to_le_bytes(), &[7; 16]].concat();
        let mut checksum = crc32fast::hash(&file);
        file.extend_from_slice(&checksum.to_le_bytes());
        for frame in frames {
            let length = u32::try_from(frame.len()).unwrap().to_le_bytes();
            checksum = crc32fast::hash(&[&checksum.to_le_bytes(), &length[..], frame].concat());
            file.extend([&length[..], &checksum.to_le_bytes(), frame].concat());
        }
        file
    }

    fn read(file: &[u8]) -> Vec<Vec<u8>> {
        Segment::read(Path::new("journal-a"), file).unwrap().map_or_else(Vec::new, |segment| segment.frames)
    }

    fn some_frames() -> impl Strategy<Value = Vec<Vec<u8>>> {
        vec(vec(any::<u8>(), 0..40), 0..8)
    }

    proptest! {
        #[test]
        fn whole_frames_before_the_end_or_a_damaged_byte_are_read(frames in some_frames(), at: prop::sample::Index) {
            let file = written(1, &frames);
            prop_assert_eq!(read(&file), frames.clone());
            let at = at.index(file.len());
            let ends = frames.iter().scan(HEADER_BYTES, |end, frame| {
                *end += FRAME_HEADER_BYTES + frame.len();
                Some(*end)
            });
            let whole = if at < HEADER_BYTES { 0 } else { ends.take_while(|end| *end <= at).count() };
            prop_assert_eq!(read(&file[..at]), &frames[..whole]);
            let mut damaged = file;
            damaged[at] ^= 1;
            prop_assert_eq!(read(&damaged), &frames[..whole]);
        }
    }

    #[test]
    fn another_format_is_refused() {
        let refused = Segment::read(Path::new("journal-a"), &written(99, &[])).err().unwrap();
        assert!(refused.to_string().contains("format 99"), "{refused}");
    }
}
