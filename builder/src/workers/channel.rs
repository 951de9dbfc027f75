//! Frames on a Unix socket: four bytes of length, and so many bytes.
//!
//! A length has a bound, and memory grows only with the bytes that are really there.

use std::io::{self, ErrorKind};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

const LENGTH_BYTES: usize = size_of::<u32>();
/// Read at once; most messages fit.
const CHUNK_BYTES: usize = 64 << 10;

#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    #[error("a frame of {bytes} bytes, where {bytes_max} are the limit")]
    TooLong { bytes: usize, bytes_max: usize },
    #[error("the connection ended within a frame")]
    Cut,
    #[error(transparent)]
    Socket(#[from] io::Error),
}

/// One side of a connection.
#[derive(Debug)]
pub struct Channel {
    stream: UnixStream,
    arrived: Vec<u8>,
}

impl Channel {
    #[must_use]
    pub const fn new(stream: UnixStream) -> Self {
        Self { stream, arrived: Vec::new() }
    }

    /// # Errors
    /// When the other side is gone, or the frame is longer than any.
    pub async fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        let length = u32::try_from(frame.len()).map_err(io::Error::other)?;
        self.stream.write_all(&length.to_le_bytes()).await?;
        self.stream.write_all(frame).await
    }

    /// The next frame; none when the other side has closed. What has arrived of one stays when the wait is given up.
    ///
    /// # Errors
    /// When it is longer than it may be, or the connection fails.
    pub async fn receive(&mut self, bytes_max: usize) -> Result<Option<Vec<u8>>, ChannelError> {
        loop {
            if let Some(frame) = self.take(bytes_max)? {
                return Ok(Some(frame));
            }
            self.arrived.reserve(CHUNK_BYTES);
            match self.stream.read_buf(&mut self.arrived).await {
                Ok(0) if self.arrived.is_empty() => return Ok(None),
                Ok(0) => return Err(ChannelError::Cut),
                Ok(_) => {}
                // A process that was killed.
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Err(ChannelError::Cut),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn take(&mut self, bytes_max: usize) -> Result<Option<Vec<u8>>, ChannelError> {
        let Some((prefix, rest)) = self.arrived.split_first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
        let bytes = u32::from_le_bytes(*prefix) as usize;
        if bytes > bytes_max {
            return Err(ChannelError::TooLong { bytes, bytes_max });
        }
        let Some(frame) = rest.get(..bytes) else { return Ok(None) };
        let frame = frame.to_vec();
        self.arrived.drain(..LENGTH_BYTES + bytes);
        Ok(Some(frame))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BYTES_MAX: usize = 300;

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    fn framed(frames: &[Vec<u8>]) -> Vec<u8> {
        let one = |frame: &Vec<u8>| [&u32::try_from(frame.len()).unwrap().to_le_bytes()[..], frame].concat();
        frames.iter().flat_map(one).collect()
    }

    /// What a channel makes of bytes that come in pieces.
    async fn read(bytes: Vec<u8>, piece: usize) -> Result<Vec<Vec<u8>>, ChannelError> {
        let (mut left, right) = UnixStream::pair().unwrap();
        let writing = tokio::spawn(async move {
            for piece in bytes.chunks(piece) {
                // The reader has gone when it did not like what came.
                if left.write_all(piece).await.is_err() {
                    return;
                }
                tokio::task::yield_now().await;
            }
        });
        let mut channel = Channel::new(right);
        let mut frames = Vec::new();
        let read = loop {
            match channel.receive(BYTES_MAX).await {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break Ok(frames),
                Err(error) => break Err(error),
            }
        };
        drop(channel);
        writing.await.unwrap();
        read
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn frames_arrive_in_whatever_pieces_they_come(
            frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..BYTES_MAX), 0..6),
            piece in 1_usize..200,
        ) {
            prop_assert_eq!(block_on(read(framed(&frames), piece)).unwrap(), frames);
        }

        #[test]
        fn what_is_cut_off_is_an_error(
            frame in prop::collection::vec(any::<u8>(), 1..BYTES_MAX),
            cut in 1_usize..4,
        ) {
            let mut bytes = framed(&[frame]);
            bytes.truncate(bytes.len() - cut.min(bytes.len() - 1));
            prop_assert!(matches!(block_on(read(bytes, 7)), Err(ChannelError::Cut)));
        }

        #[test]
        fn random_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            drop(block_on(read(bytes, 50)));
        }
    }

    #[test]
    fn a_length_beyond_the_bound_is_refused_before_anything_is_read() {
        for (length, expected) in [(u32::MAX, u32::MAX as usize), (301, 301)] {
            let read = block_on(read(length.to_le_bytes().to_vec(), 4));
            assert!(matches!(read, Err(ChannelError::TooLong { bytes, .. }) if bytes == expected), "{read:?}");
        }
    }

    #[tokio::test]
    async fn a_wait_that_is_given_up_loses_nothing() {
        let (left, right) = UnixStream::pair().unwrap();
        let (mut left, mut right) = (left, Channel::new(right));
        let bytes = framed(&[vec![7; 200]]);
        for piece in bytes.chunks(50) {
            assert!(futures_util::FutureExt::now_or_never(right.receive(BYTES_MAX)).is_none());
            left.write_all(piece).await.unwrap();
        }
        assert_eq!(right.receive(BYTES_MAX).await.unwrap(), Some(vec![7; 200]));
    }
}
