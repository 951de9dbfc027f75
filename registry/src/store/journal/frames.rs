//! The form of a segment: a head, and frames one after another.
//!
//! | what | bytes |
//! |---|---|
//! | head | `lathejnl`, the form (4), the lap (8), chance (8), CRC-32 of what comes before it (4) |
//! | frame | the length of its contents (4), CRC-32 of the checksum before it, of the length and of the contents (4), the contents |
//!
//! Numbers are little-endian. Each checksum has the one before it in it, up to the head's, in which there is chance: of
//! what an earlier lap left behind the last frame, or a write that failed, nothing fits.

use crate::random;

const MAGIC: [u8; 8] = *b"lathejnl";
/// Another one for another form of frames, or of what is in them.
const FORM: u32 = 1;
pub const HEAD_BYTES: usize = 32;
pub const FRAME_HEAD_BYTES: usize = 8;

/// What a segment begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Counts the segments that were begun.
    pub lap: u64,
    chance: u64,
}

/// What the first bytes of a segment are.
#[derive(Debug, PartialEq, Eq)]
pub enum Beginning {
    Head(Head),
    /// No segment was begun there, or not to the end of its head.
    Nothing,
    /// Of another release.
    OtherForm(u32),
}

/// The checksum that the next frame's goes on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain(u32);

impl Head {
    pub fn new(lap: u64) -> Self {
        Self { lap, chance: u64::from_le_bytes(random::bytes()) }
    }

    pub fn bytes(&self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&FORM.to_le_bytes());
        bytes[12..20].copy_from_slice(&self.lap.to_le_bytes());
        bytes[20..28].copy_from_slice(&self.chance.to_le_bytes());
        let checksum = crc32fast::hash(&bytes[..28]);
        bytes[28..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Its own checksum. (That of bytes with their checksum behind them would be the same for all.)
    pub fn chain(&self) -> Chain {
        Chain(number(&self.bytes()[28..]))
    }
}

impl Beginning {
    /// Of a segment.
    pub fn of(segment: &[u8]) -> Self {
        let Some(head) = segment.first_chunk::<HEAD_BYTES>() else { return Self::Nothing };
        if head[..8] != MAGIC || number(&head[28..]) != crc32fast::hash(&head[..28]) {
            return Self::Nothing;
        }
        match number(&head[8..12]) {
            FORM => Self::Head(Head { lap: long(&head[12..20]), chance: long(&head[20..28]) }),
            other => Self::OtherForm(other),
        }
    }
}

impl Chain {
    /// Adds a frame to `group`.
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

/// The contents of a segment's frames, up to the first that is not whole.
pub struct Frames<'a> {
    rest: &'a [u8],
    chain: Chain,
}

impl<'a> Frames<'a> {
    pub fn of(segment: &'a [u8], head: &Head) -> Self {
        Self { rest: segment.get(HEAD_BYTES..).unwrap_or_default(), chain: head.chain() }
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(FRAME_HEAD_BYTES)?;
        let length = number(&head[..4]);
        let (contents, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        let chain = self.chain.over(length, contents);
        if chain.0 != number(&head[4..]) {
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

    fn written(head: &Head, frames: &[Vec<u8>]) -> Vec<u8> {
        let (mut segment, mut chain) = (head.bytes().to_vec(), head.chain());
        frames.iter().for_each(|frame| chain.add(frame, &mut segment));
        segment
    }

    fn read(segment: &[u8]) -> Vec<Vec<u8>> {
        match Beginning::of(segment) {
            Beginning::Head(head) => Frames::of(segment, &head).map(<[u8]>::to_vec).collect(),
            _ => Vec::new(),
        }
    }

    fn some_frames() -> impl Strategy<Value = Vec<Vec<u8>>> {
        vec(vec(any::<u8>(), 0..40), 0..8)
    }

    proptest! {
        #[test]
        fn frames_are_read_as_they_were_written(frames in some_frames(), lap: u64) {
            let head = Head::new(lap);
            let segment = written(&head, &frames);
            prop_assert_eq!(Beginning::of(&segment), Beginning::Head(head));
            prop_assert_eq!(read(&segment), frames);
        }

        #[test]
        fn of_a_segment_that_ends_early_the_whole_frames_are_read(frames in some_frames(), cut: proptest::sample::Index) {
            let mut segment = written(&Head::new(7), &frames);
            let whole = |bytes: usize| {
                let ends = frames.iter().scan(HEAD_BYTES, |end, frame| {
                    *end += FRAME_HEAD_BYTES + frame.len();
                    Some(*end)
                });
                ends.take_while(|end| *end <= bytes).count()
            };
            let bytes = cut.index(segment.len() + 1);
            segment.truncate(bytes);
            prop_assert_eq!(read(&segment), &frames[..whole(bytes)]);
        }

        #[test]
        fn behind_a_damaged_byte_nothing_is_read(frames in some_frames(), place: proptest::sample::Index, bit in 0_u8..8) {
            let mut segment = written(&Head::new(7), &frames);
            let place = place.index(segment.len());
            segment[place] ^= 1_u8 << bit;
            let found = read(&segment);
            prop_assert_eq!(&found[..], &frames[..found.len()]);
            let before = frames.iter().scan(HEAD_BYTES, |end, frame| {
                *end += FRAME_HEAD_BYTES + frame.len();
                Some(*end)
            });
            prop_assert_eq!(found.len(), if place < HEAD_BYTES { 0 } else { before.take_while(|end| *end <= place).count() });
        }

        /// Also when the frames are of the same lengths, so that a new one ends where an old one begins.
        #[test]
        fn what_an_earlier_lap_left_is_not_read(old in some_frames(), kept in 0_usize..8) {
            let mut segment = written(&Head::new(7), &old);
            let kept = kept.min(old.len());
            let new: Vec<_> = old[..kept].iter().map(|frame| vec![1; frame.len()]).collect();
            let head = written(&Head::new(9), &new);
            segment[..head.len()].copy_from_slice(&head);
            prop_assert_eq!(read(&segment), new);
        }
    }

    #[test]
    fn another_form_is_told_from_nothing() {
        let mut bytes = Head::new(1).bytes();
        bytes[8] = 99;
        assert_eq!(Beginning::of(&bytes), Beginning::Nothing, "damaged");
        let checksum = crc32fast::hash(&bytes[..28]);
        bytes[28..].copy_from_slice(&checksum.to_le_bytes());
        assert_eq!(Beginning::of(&bytes), Beginning::OtherForm(99));
        assert_eq!(Beginning::of(&[0; 100]), Beginning::Nothing);
    }
}
