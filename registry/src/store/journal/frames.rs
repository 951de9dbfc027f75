//! The format of a segment: a header, then frames.
//!
//! | part | bytes |
//! |---|---|
//! | header | `lathejnl`, the format version (4), the sequence number (8), a nonce (8), CRC-32 of the bytes before it (4) |
//! | frame | length of the contents (4), CRC-32 of the previous checksum, the length and the contents (4), the contents |
//!
//! Numbers are little-endian. Each checksum covers the previous one, back to that of the header, which covers the nonce.
//! Frames after the last one therefore do not match, whether an earlier segment or a failed write left them.

use crate::random;

const MAGIC: [u8; 8] = *b"lathejnl";
/// Changes with the format of the frames or of their contents.
const FORMAT_VERSION: u32 = 1;
pub const HEADER_BYTES: usize = 32;
pub const FRAME_HEADER_BYTES: usize = 8;

/// The header of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number of segments begun before this one.
    pub sequence: u64,
    nonce: u64,
}

/// The result of reading a header.
#[derive(Debug, PartialEq, Eq)]
pub enum HeaderResult {
    Header(Header),
    /// The file has no header, or an incomplete one.
    Missing,
    /// Another release wrote the segment.
    OtherVersion(u32),
}

/// The last checksum, which the checksum of the next frame covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain(u32);

impl Header {
    pub fn new(sequence: u64) -> Self {
        Self { sequence, nonce: u64::from_le_bytes(random::bytes()) }
    }

    pub fn bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        bytes[12..20].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[20..28].copy_from_slice(&self.nonce.to_le_bytes());
        let checksum = crc32fast::hash(&bytes[..28]);
        bytes[28..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Returns the header's own checksum. The checksum of bytes that end with their checksum would be equal for all headers.
    pub fn chain(&self) -> Chain {
        Chain(number(&self.bytes()[28..]))
    }
}

impl HeaderResult {
    pub fn read(segment: &[u8]) -> Self {
        let Some(header) = segment.first_chunk::<HEADER_BYTES>() else { return Self::Missing };
        if header[..8] != MAGIC || number(&header[28..]) != crc32fast::hash(&header[..28]) {
            return Self::Missing;
        }
        match number(&header[8..12]) {
            FORMAT_VERSION => Self::Header(Header { sequence: long(&header[12..20]), nonce: long(&header[20..28]) }),
            other => Self::OtherVersion(other),
        }
    }
}

impl Chain {
    /// Appends a frame to `group`.
    pub fn add(&mut self, contents: &[u8], group: &mut Vec<u8>) {
        let length = u32::try_from(contents.len()).unwrap_or(u32::MAX);
        *self = self.over(length, contents);
        group.extend_from_slice(&length.to_le_bytes());
        group.extend_from_slice(&self.0.to_le_bytes());
        group.extend_from_slice(contents);
    }

    fn over(self, length: u32, contents: &[u8]) -> Self {
        let mut hasher = crc32fast::Hasher::new();
        for part in [&self.0.to_le_bytes(), &length.to_le_bytes(), contents] {
            hasher.update(part);
        }
        Self(hasher.finalize())
    }
}

/// The contents of a segment's frames, up to the first incomplete frame.
pub struct Frames<'a> {
    rest: &'a [u8],
    chain: Chain,
}

impl<'a> Frames<'a> {
    pub fn of(segment: &'a [u8], header: &Header) -> Self {
        Self { rest: segment.get(HEADER_BYTES..).unwrap_or_default(), chain: header.chain() }
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (header, rest) = self.rest.split_at_checked(FRAME_HEADER_BYTES)?;
        let length = number(&header[..4]);
        let (contents, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        let chain = self.chain.over(length, contents);
        if chain.0 != number(&header[4..]) {
            return None;
        }
        (self.rest, self.chain) = (rest, chain);
        Some(contents)
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}

fn long(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn written(header: &Header, frames: &[Vec<u8>]) -> Vec<u8> {
        let (mut segment, mut chain) = (header.bytes().to_vec(), header.chain());
        frames.iter().for_each(|frame| chain.add(frame, &mut segment));
        segment
    }

    fn read(segment: &[u8]) -> Vec<Vec<u8>> {
        match HeaderResult::read(segment) {
            HeaderResult::Header(header) => Frames::of(segment, &header).map(<[u8]>::to_vec).collect(),
            _ => Vec::new(),
        }
    }

    fn some_frames() -> impl Strategy<Value = Vec<Vec<u8>>> {
        vec(vec(any::<u8>(), 0..40), 0..8)
    }

    proptest! {
        #[test]
        fn frames_are_read_as_they_were_written(frames in some_frames(), sequence: u64) {
            let header = Header::new(sequence);
            let segment = written(&header, &frames);
            prop_assert_eq!(HeaderResult::read(&segment), HeaderResult::Header(header));
            prop_assert_eq!(read(&segment), frames);
        }

        #[test]
        fn complete_frames_of_a_truncated_segment_are_read(frames in some_frames(), cut: proptest::sample::Index) {
            let mut segment = written(&Header::new(7), &frames);
            let whole = |bytes: usize| {
                let ends = frames.iter().scan(HEADER_BYTES, |end, frame| {
                    *end += FRAME_HEADER_BYTES + frame.len();
                    Some(*end)
                });
                ends.take_while(|end| *end <= bytes).count()
            };
            let bytes = cut.index(segment.len() + 1);
            segment.truncate(bytes);
            prop_assert_eq!(read(&segment), &frames[..whole(bytes)]);
        }

        #[test]
        fn frames_behind_a_damaged_byte_are_not_read(frames in some_frames(), position: proptest::sample::Index, bit in 0_u8..8) {
            let mut segment = written(&Header::new(7), &frames);
            let position = position.index(segment.len());
            segment[position] ^= 1_u8 << bit;
            let found = read(&segment);
            prop_assert_eq!(&found[..], &frames[..found.len()]);
            let before = frames.iter().scan(HEADER_BYTES, |end, frame| {
                *end += FRAME_HEADER_BYTES + frame.len();
                Some(*end)
            });
            prop_assert_eq!(found.len(), if position < HEADER_BYTES { 0 } else { before.take_while(|end| *end <= position).count() });
        }

        /// The frames have equal lengths, so that a new frame ends where an old one begins.
        #[test]
        fn frames_of_an_earlier_segment_are_not_read(old in some_frames(), kept in 0_usize..8) {
            let mut segment = written(&Header::new(7), &old);
            let kept = kept.min(old.len());
            let new: Vec<_> = old[..kept].iter().map(|frame| vec![1; frame.len()]).collect();
            let header = written(&Header::new(9), &new);
            segment[..header.len()].copy_from_slice(&header);
            prop_assert_eq!(read(&segment), new);
        }
    }

    #[test]
    fn another_version_differs_from_a_missing_header() {
        let mut bytes = Header::new(1).bytes();
        bytes[8] = 99;
        assert_eq!(HeaderResult::read(&bytes), HeaderResult::Missing, "damaged");
        let checksum = crc32fast::hash(&bytes[..28]);
        bytes[28..].copy_from_slice(&checksum.to_le_bytes());
        assert_eq!(HeaderResult::read(&bytes), HeaderResult::OtherVersion(99));
        assert_eq!(HeaderResult::read(&[0; 100]), HeaderResult::Missing);
    }
}
