//! Bytes received from a socket that are in no complete frame yet.

use std::io;
use std::ops::Range;

use crate::sandbox::wiping::wipe;

pub const LENGTH_BYTES: usize = size_of::<u32>();
/// Bytes per read; most frames fit.
pub const CHUNK_BYTES: usize = 64 << 10;

/// Failure of a connection.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("a frame has {bytes} bytes; the limit is {bytes_max}")]
    TooLong { bytes: usize, bytes_max: usize },
    #[error("the connection ended within a frame")]
    Cut,
    #[error("a frame does not decode: {0}")]
    Malformed(#[from] postcard::Error),
    #[error(transparent)]
    Socket(#[from] io::Error),
}

/// A reused buffer. Each frame is overwritten when it is taken, since it may contain secrets of a run.
#[derive(Debug, Default)]
pub struct ReceiveBuffer {
    memory: Vec<u8>,
    bytes: Range<usize>,
}

impl ReceiveBuffer {
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The part to read into. It is no larger than what has arrived, so that a great length alone costs no memory.
    pub fn free(&mut self) -> &mut [u8] {
        if self.is_empty() {
            // The memory of a long frame is not kept.
            self.memory.truncate(CHUNK_BYTES);
            self.memory.shrink_to(CHUNK_BYTES);
            self.bytes = 0..0;
        } else if self.bytes.start > 0 {
            self.memory.copy_within(self.bytes.clone(), 0);
            let (moved, end) = (self.bytes.len(), self.bytes.end);
            wipe(&mut self.memory[moved..end]);
            self.bytes = 0..moved;
        }
        let end = self.bytes.end;
        if end == self.memory.len() {
            self.memory.resize(end + CHUNK_BYTES.max(end), 0);
        }
        &mut self.memory[end..]
    }

    /// Adds bytes that were read into the free part.
    pub const fn add(&mut self, count: usize) {
        self.bytes.end += count;
    }

    /// Takes the payload of the first frame, if it is complete.
    ///
    /// # Errors
    /// When the payload has more than `bytes_max` bytes.
    pub fn take(&mut self, bytes_max: usize) -> Result<Option<Vec<u8>>, FrameError> {
        let received = &self.memory[self.bytes.clone()];
        let Some((prefix, rest)) = received.split_first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
        let bytes = u32::from_le_bytes(*prefix) as usize;
        if bytes > bytes_max {
            return Err(FrameError::TooLong { bytes, bytes_max });
        }
        let Some(payload) = rest.get(..bytes).map(<[u8]>::to_vec) else { return Ok(None) };
        let end = self.bytes.start + LENGTH_BYTES + bytes;
        wipe(&mut self.memory[self.bytes.start..end]);
        self.bytes.start = end;
        Ok(Some(payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_frame_is_overwritten() {
        let framed = |text: &[u8]| [u32::try_from(text.len()).unwrap().to_le_bytes().as_slice(), text].concat();
        let mut buffer = ReceiveBuffer::default();
        let sent = [framed(b"a first secret"), framed(b"a second secret, which arrives in two parts")].concat();
        let (now, later) = sent.split_at(30);
        for part in [now, later] {
            buffer.free()[..part.len()].copy_from_slice(part);
            buffer.add(part.len());
            while buffer.take(100).unwrap().is_some() {}
        }
        assert!(buffer.is_empty() && buffer.memory.iter().all(|byte| *byte == 0));
    }
}
