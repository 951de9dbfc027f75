//! What has been read from a socket and not been taken apart yet.

use std::ops::Range;

use serde::de::DeserializeOwned;

use super::frames::{CHUNK_BYTES, FRAME_BYTES_MAX, FrameError, LENGTH_BYTES};

/// Bytes that have arrived and are in no message yet. Their memory is used again and not cleared in between.
#[derive(Default)]
pub struct Arrived {
    memory: Vec<u8>,
    bytes: Range<usize>,
}

impl Arrived {
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Where more goes. No larger than what is there already, so that a great length alone costs nothing.
    pub fn room(&mut self) -> &mut [u8] {
        if self.is_empty() {
            // What was for a long message is not kept.
            self.memory.truncate(CHUNK_BYTES);
            self.memory.shrink_to(CHUNK_BYTES);
            self.bytes = 0..0;
        } else if self.bytes.start > 0 {
            self.memory.copy_within(self.bytes.clone(), 0);
            self.bytes = 0..self.bytes.len();
        }
        let end = self.bytes.end;
        if end == self.memory.len() {
            self.memory.resize(end + CHUNK_BYTES.max(end), 0);
        }
        &mut self.memory[end..]
    }

    /// So much of the room has been filled.
    pub const fn add(&mut self, count: usize) {
        self.bytes.end += count;
    }

    /// The first message, if all of it is there.
    ///
    /// # Errors
    /// When it is too long, or none.
    pub fn take<T: DeserializeOwned>(&mut self) -> Result<Option<T>, FrameError> {
        let arrived = &self.memory[self.bytes.clone()];
        let Some((prefix, rest)) = arrived.split_first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
        let length = u32::from_le_bytes(*prefix) as usize;
        if length > FRAME_BYTES_MAX {
            return Err(FrameError::TooLong { bytes: length });
        }
        let Some(message) = rest.get(..length) else { return Ok(None) };
        let message = postcard::from_bytes(message)?;
        self.bytes.start += LENGTH_BYTES + length;
        Ok(Some(message))
    }
}
