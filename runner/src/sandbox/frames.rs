//! Frames on a Unix socket: a length of four bytes, then the payload, and beside it at most one descriptor.
//!
//! The other side may be controlled by a guest that escaped its sandbox, or by a build. So each length has a bound, memory grows
//! only with the bytes that have arrived, and a payload that does not decode is an error.

mod receive_buffer;

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
use serde::de::DeserializeOwned;
use tokio::io::Interest;
use tokio::net::UnixStream;

use receive_buffer::ReceiveBuffer;
pub use receive_buffer::{CHUNK_BYTES, FrameError, LENGTH_BYTES};

/// Descriptors per read. A frame has one at most, and the kernel ends a read after bytes that carry any.
const DESCRIPTORS_MAX: usize = 1;

/// One end of a connection.
#[derive(Debug)]
pub struct FramedSocket {
    stream: Arc<UnixStream>,
    received: ReceiveBuffer,
    descriptors: VecDeque<OwnedFd>,
    accepts_descriptors: bool,
}

impl FramedSocket {
    /// Frames a connection without descriptors: the kernel closes any that the other side sends.
    #[must_use]
    pub fn new(stream: UnixStream) -> Self {
        let (received, descriptors) = (ReceiveBuffer::default(), VecDeque::new());
        Self { stream: Arc::new(stream), received, descriptors, accepts_descriptors: false }
    }

    /// Frames a connection whose other side may send descriptors.
    #[must_use]
    pub fn accepting_descriptors(stream: UnixStream) -> Self {
        Self { accepts_descriptors: true, ..Self::new(stream) }
    }

    /// The stream, for [`write()`] while a frame is awaited.
    pub(crate) fn stream(&self) -> Arc<UnixStream> {
        self.stream.clone()
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// When the other side is gone, or the payload has more than 4 GiB.
    pub async fn send(&self, payload: &[u8]) -> io::Result<()> {
        let length = u32::try_from(payload.len()).map_err(io::Error::other)?;
        write(&self.stream, &length.to_le_bytes(), None).await?;
        write(&self.stream, payload, None).await
    }

    /// Returns the next frame's payload; `None` when the other side has closed. Cancelling the wait loses no bytes.
    ///
    /// # Errors
    /// When the payload has more than `bytes_max` bytes, or the connection fails.
    pub async fn receive(&mut self, bytes_max: usize) -> Result<Option<Vec<u8>>, FrameError> {
        loop {
            if let Some(payload) = self.received.take(bytes_max)? {
                return Ok(Some(payload));
            }
            if self.read().await? == 0 {
                return if self.received.is_empty() { Ok(None) } else { Err(FrameError::Cut) };
            }
        }
    }

    /// Returns the next frame as a message, as [`FramedSocket::receive`] does.
    ///
    /// # Errors
    /// As [`FramedSocket::receive`], and when the payload does not decode.
    pub(crate) async fn receive_message<T: DeserializeOwned>(
        &mut self,
        bytes_max: usize,
    ) -> Result<Option<T>, FrameError> {
        let payload = self.receive(bytes_max).await?;
        Ok(payload.map(|payload| postcard::from_bytes(&payload)).transpose()?)
    }

    /// Takes the descriptor that arrived with a frame.
    pub(crate) fn take_descriptor(&mut self) -> Option<OwnedFd> {
        self.descriptors.pop_front()
    }

    /// Reads what has arrived; returns the number of bytes, 0 at the end of the connection.
    async fn read(&mut self) -> io::Result<usize> {
        let Self { stream, received, descriptors, accepts_descriptors } = self;
        let read = stream.async_io(Interest::READABLE, || match accepts_descriptors {
            true => read_with_descriptors(stream, received.free(), descriptors),
            false => Ok(nix::unistd::read(&**stream, received.free())?),
        });
        match read.await {
            Ok(count) => {
                received.add(count);
                Ok(count)
            }
            // The other process was killed.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(0),
            Err(error) => Err(error),
        }
    }
}

/// Writes all bytes of whole frames, with a descriptor beside the first byte.
///
/// # Errors
/// When the other side is gone.
pub(crate) async fn write(stream: &UnixStream, bytes: &[u8], descriptor: Option<&OwnedFd>) -> io::Result<()> {
    let mut sent = 0;
    while sent < bytes.len() {
        let descriptor = descriptor.filter(|_| sent == 0);
        sent += stream.async_io(Interest::WRITABLE, || send(stream, &bytes[sent..], descriptor)).await?;
    }
    Ok(())
}

fn send(stream: &UnixStream, bytes: &[u8], descriptor: Option<&OwnedFd>) -> io::Result<usize> {
    let descriptors: Vec<RawFd> = descriptor.iter().map(|descriptor| descriptor.as_raw_fd()).collect();
    let rights = [ControlMessage::ScmRights(&descriptors)];
    let rights = if descriptors.is_empty() { &[][..] } else { &rights[..] };
    Ok(sendmsg::<()>(stream.as_raw_fd(), &[IoSlice::new(bytes)], rights, MsgFlags::MSG_NOSIGNAL, None)?)
}

fn read_with_descriptors(
    stream: &UnixStream,
    free: &mut [u8],
    descriptors: &mut VecDeque<OwnedFd>,
) -> io::Result<usize> {
    let mut control = nix::cmsg_space!([RawFd; DESCRIPTORS_MAX]);
    let mut parts = [IoSliceMut::new(free)];
    let received = recvmsg::<()>(stream.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::MSG_CMSG_CLOEXEC)?;
    for message in received.cmsgs()? {
        if let ControlMessageOwned::ScmRights(raw) = message {
            // SAFETY: the kernel has just made these descriptors for this process, and there is no other owner.
            descriptors.extend(raw.into_iter().map(|raw| unsafe { OwnedFd::from_raw_fd(raw) }));
        }
    }
    Ok(received.bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    const BYTES_MAX: usize = 300;

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    fn framed(frames: &[Vec<u8>]) -> Vec<u8> {
        let one = |frame: &Vec<u8>| [&u32::try_from(frame.len()).unwrap().to_le_bytes()[..], frame].concat();
        frames.iter().flat_map(one).collect()
    }

    /// Sends bytes in pieces, and returns the frames that arrive.
    async fn received(bytes: Vec<u8>, piece: usize, accepts_descriptors: bool) -> Result<Vec<Vec<u8>>, FrameError> {
        let (mut left, right) = UnixStream::pair().unwrap();
        let writing = tokio::spawn(async move {
            for piece in bytes.chunks(piece) {
                // The reader closes the connection at its first error.
                if left.write_all(piece).await.is_err() {
                    return;
                }
                tokio::task::yield_now().await;
            }
        });
        let mut socket = FramedSocket { accepts_descriptors, ..FramedSocket::new(right) };
        let mut frames = Vec::new();
        let result = loop {
            match socket.receive(BYTES_MAX).await {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break Ok(frames),
                Err(error) => break Err(error),
            }
        };
        drop(socket);
        writing.await.unwrap();
        result
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn frames_arrive_in_any_pieces(
            frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..BYTES_MAX), 0..6),
            piece in 1_usize..200,
            accepts_descriptors in any::<bool>(),
        ) {
            prop_assert_eq!(block_on(received(framed(&frames), piece, accepts_descriptors)).unwrap(), frames);
        }

        #[test]
        fn a_truncated_frame_is_an_error(
            frame in prop::collection::vec(any::<u8>(), 1..BYTES_MAX),
            cut in 1_usize..4,
        ) {
            let mut bytes = framed(&[frame]);
            bytes.truncate(bytes.len() - cut.min(bytes.len() - 1));
            prop_assert!(matches!(block_on(received(bytes, 7, false)), Err(FrameError::Cut)));
        }

        /// The result is frames, an error or an end, and never a panic or a lot of memory.
        #[test]
        fn random_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..400), piece in 1_usize..100) {
            drop(block_on(received(bytes, piece, false)));
        }
    }

    #[test]
    fn a_length_beyond_the_bound_is_refused_before_the_payload_arrives() {
        for (length, expected) in [(u32::MAX, u32::MAX as usize), (301, 301)] {
            let result = block_on(received(length.to_le_bytes().to_vec(), 4, true));
            assert!(matches!(result, Err(FrameError::TooLong { bytes, .. }) if bytes == expected), "{result:?}");
        }
    }

    #[tokio::test]
    async fn a_cancelled_wait_loses_nothing() {
        let (mut left, right) = UnixStream::pair().unwrap();
        let mut right = FramedSocket::accepting_descriptors(right);
        let payload = vec![7; 50_000]; // fits into the buffer of the socket
        for piece in framed(std::slice::from_ref(&payload)).chunks(5_000) {
            assert!(futures_util::FutureExt::now_or_never(right.receive(payload.len())).is_none());
            left.write_all(piece).await.unwrap();
        }
        assert_eq!(right.receive(payload.len()).await.unwrap(), Some(payload));
    }
}
