//! Queue of messages to the other side of a runner's socket.

use std::io;
use std::os::fd::OwnedFd;

use serde::Serialize;
use tokio::net::UnixStream;
use tokio::sync::mpsc;

use crate::Error;
use crate::sandbox::frames::{self, CHUNK_BYTES, FrameError, LENGTH_BYTES};

/// Size of a message. The largest is the end of a run with its tape: 24 MiB of bodies and 8 MiB of other entries at most.
pub const MESSAGE_BYTES_MAX: usize = 40 << 20;

/// A queued message, encoded as a frame.
#[derive(Debug)]
pub struct OutgoingFrame {
    bytes: Vec<u8>,
    descriptor: Option<OwnedFd>,
}

impl OutgoingFrame {
    fn new(message: &impl Serialize, descriptor: Option<OwnedFd>) -> Result<Self, FrameError> {
        let mut bytes = postcard::to_extend(message, vec![0_u8; LENGTH_BYTES])?;
        let length = bytes.len() - LENGTH_BYTES;
        let prefix = u32::try_from(length).ok().filter(|_| length <= MESSAGE_BYTES_MAX);
        let prefix = prefix.ok_or(FrameError::TooLong { bytes: length, bytes_max: MESSAGE_BYTES_MAX })?;
        bytes[..LENGTH_BYTES].copy_from_slice(&prefix.to_le_bytes());
        Ok(Self { bytes, descriptor })
    }

    /// Appends queued frames. Returns a frame that must be sent separately, since a descriptor belongs to the first byte of its
    /// frame.
    fn append(&mut self, queue: &mut mpsc::UnboundedReceiver<Self>) -> Option<Self> {
        while self.bytes.len() < CHUNK_BYTES {
            let next = queue.try_recv().ok()?;
            if next.descriptor.is_some() {
                return Some(next);
            }
            self.bytes.extend_from_slice(&next.bytes);
        }
        None
    }

    #[cfg(test)]
    pub fn message<T: serde::de::DeserializeOwned>(&self) -> T {
        postcard::from_bytes(&self.bytes[LENGTH_BYTES..]).unwrap()
    }
}

/// Accepts messages without waiting; the callers bound the number of outstanding ones. Clones share the queue.
#[derive(Clone, Debug)]
pub struct Mailbox(mpsc::UnboundedSender<OutgoingFrame>);

impl Mailbox {
    /// Makes a mailbox, and the queue for [`send_all`].
    pub fn new() -> (Self, mpsc::UnboundedReceiver<OutgoingFrame>) {
        let (sender, queue) = mpsc::unbounded_channel();
        (Self(sender), queue)
    }

    /// Queues a message.
    ///
    /// # Errors
    /// When the message is too large.
    pub fn post(&self, message: &impl Serialize) -> Result<(), FrameError> {
        self.post_with(message, None)
    }

    /// Queues a message with a descriptor.
    ///
    /// # Errors
    /// When the message is too large.
    pub fn post_with(&self, message: &impl Serialize, descriptor: Option<OwnedFd>) -> Result<(), FrameError> {
        // Without a receiver the connection has ended, which the reading side reports.
        drop(self.0.send(OutgoingFrame::new(message, descriptor)?));
        Ok(())
    }
}

/// Describes a message of a run that cannot be sent.
pub fn unsent(error: FrameError) -> Error {
    Error::internal(format!("the run cannot be sent to its runner: {error}"))
}

/// Sends queued messages in order, until the queue is closed. Messages queued together are sent together, since each write wakes
/// the other side.
///
/// # Errors
/// When the other side is gone.
pub async fn send_all(stream: &UnixStream, mut queue: mpsc::UnboundedReceiver<OutgoingFrame>) -> io::Result<()> {
    let mut next = queue.recv().await;
    while let Some(mut frame) = next {
        next = frame.append(&mut queue);
        frames::write(stream, &frame.bytes, frame.descriptor.as_ref()).await?;
        if next.is_none() {
            next = queue.recv().await;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;
    use crate::sandbox::frames::FramedSocket;
    use crate::sandbox::process::messages::FromRunner;

    type Message = (u64, String, Vec<u8>);

    proptest! {
        #[test]
        fn random_bytes_decode_or_fail(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            drop(postcard::from_bytes::<FromRunner>(&bytes));
        }
    }

    #[test]
    fn a_message_beyond_the_bound_is_refused() {
        let long = Mailbox::new().0.post(&vec![0_u8; MESSAGE_BYTES_MAX + 1]);
        assert!(matches!(long, Err(FrameError::TooLong { .. })));
    }

    #[tokio::test]
    async fn descriptors_arrive_with_their_messages() {
        let (left, right) = UnixStream::pair().unwrap();
        let (mailbox, queue) = Mailbox::new();
        let mut socket = FramedSocket::accepting_descriptors(right);
        for number in 0..20_u64 {
            let mut file = tempfile::tempfile().unwrap();
            write!(file, "file {number}").unwrap();
            mailbox.post(&(number, String::new(), vec![0_u8; 30_000])).unwrap();
            mailbox.post_with(&(number, "with".to_owned(), Vec::<u8>::new()), Some(file.into())).unwrap();
        }
        drop(mailbox);
        let sending = tokio::spawn(async move { send_all(&left, queue).await });
        let mut seen = 0;
        while let Some((number, text, _)) = socket.receive_message::<Message>(MESSAGE_BYTES_MAX).await.unwrap() {
            if text == "with" {
                let file = File::from(socket.take_descriptor().expect("its descriptor"));
                let mut bytes = [0; 20];
                let length = std::os::unix::fs::FileExt::read_at(&file, &mut bytes, 0).unwrap();
                assert_eq!(&bytes[..length], format!("file {number}").as_bytes());
                seen += 1;
            }
        }
        sending.await.unwrap().unwrap();
        assert_eq!(seen, 20);
        assert!(socket.take_descriptor().is_none());
    }
}
