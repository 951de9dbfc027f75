//! Frames on a Unix socket: four bytes of length, then a message in postcard, and beside it at most one descriptor.
//!
//! What comes from a runner may come from a guest that got out of its sandbox. So a length has a bound, memory grows
//! only with the bytes that are really there, and what does not decode is an error and nothing worse.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::sync::mpsc;

use super::arrived::Arrived;
use crate::Error;

/// The largest message is the end of a run with its tape, which has 24 MiB of bodies and 8 MiB of the rest at most.
pub(super) const FRAME_BYTES_MAX: usize = 40 << 20;
pub(super) const LENGTH_BYTES: usize = size_of::<u32>();
/// Read at once; most messages fit.
pub(super) const CHUNK_BYTES: usize = 64 << 10;
/// What the message of a run, or of its end, seldom needs more than.
const BYTES_USUAL: usize = 2 << 10;
/// A message has one at most, and the kernel ends a read behind bytes that have some.
const DESCRIPTORS_AT_ONCE: usize = 1;

#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("a frame of {bytes} bytes; {FRAME_BYTES_MAX} are the limit")]
    TooLong { bytes: usize },
    #[error("the connection ended within a frame")]
    Cut,
    #[error("a frame that is no message: {0}")]
    Malformed(#[from] postcard::Error),
    #[error(transparent)]
    Socket(#[from] io::Error),
}

impl FrameError {
    /// For what cannot be sent.
    pub fn unsent(self) -> Error {
        Error::internal(format!("the run cannot be told to its runner: {self}"))
    }
}

/// A message on its way.
#[derive(Debug)]
pub struct Outgoing {
    bytes: Vec<u8>,
    descriptor: Option<OwnedFd>,
}

impl Outgoing {
    /// # Errors
    /// When the message is larger than a frame.
    pub fn new(message: &impl Serialize, descriptor: Option<OwnedFd>) -> Result<Self, FrameError> {
        let mut bytes = Vec::with_capacity(BYTES_USUAL);
        bytes.extend([0; LENGTH_BYTES]);
        let mut bytes = postcard::to_extend(message, bytes)?;
        let length = bytes.len() - LENGTH_BYTES;
        let prefix = u32::try_from(length).ok().filter(|_| length <= FRAME_BYTES_MAX);
        let prefix = prefix.ok_or(FrameError::TooLong { bytes: length })?;
        bytes[..LENGTH_BYTES].copy_from_slice(&prefix.to_le_bytes());
        Ok(Self { bytes, descriptor })
    }

    /// Takes in what is queued behind it, and gives back what must not be: a descriptor goes with the first bytes of its own.
    fn join(&mut self, queue: &mut mpsc::UnboundedReceiver<Self>) -> Option<Self> {
        while self.bytes.len() < CHUNK_BYTES {
            let next = queue.try_recv().ok()?;
            if next.descriptor.is_some() {
                return Some(next);
            }
            self.bytes.extend_from_slice(&next.bytes);
        }
        None
    }

    /// What will arrive.
    #[cfg(test)]
    pub fn message<T: DeserializeOwned>(&self) -> T {
        postcard::from_bytes(&self.bytes[LENGTH_BYTES..]).unwrap()
    }
}

/// Takes messages to be sent, at once and without waiting: who sends counts what may be under way.
#[derive(Clone, Debug)]
pub struct Mailbox(mpsc::UnboundedSender<Outgoing>);

impl Mailbox {
    /// A mailbox and what [`send_all`] empties.
    pub fn new() -> (Self, mpsc::UnboundedReceiver<Outgoing>) {
        let (sender, queue) = mpsc::unbounded_channel();
        (Self(sender), queue)
    }

    /// # Errors
    /// When the message is larger than a frame.
    pub fn post(&self, message: &impl Serialize) -> Result<(), FrameError> {
        self.post_with(message, None)
    }

    /// # Errors
    /// When the message is larger than a frame.
    pub fn post_with(&self, message: &impl Serialize, descriptor: Option<OwnedFd>) -> Result<(), FrameError> {
        // Without a receiver the other side has gone, which its reader tells.
        drop(self.0.send(Outgoing::new(message, descriptor)?));
        Ok(())
    }
}

/// Sends what is queued, in its order, until the queue is closed. What is queued at once goes in one piece: each wakes the
/// other side.
///
/// # Errors
/// When the other side is gone.
pub async fn send_all(stream: &UnixStream, mut queue: mpsc::UnboundedReceiver<Outgoing>) -> io::Result<()> {
    let mut next = queue.recv().await;
    while let Some(mut outgoing) = next {
        next = outgoing.join(&mut queue);
        let Outgoing { bytes, descriptor } = outgoing;
        let mut sent = 0;
        while sent < bytes.len() {
            // The descriptor goes with the first bytes.
            let descriptor = descriptor.as_ref().filter(|_| sent == 0);
            sent += stream.async_io(Interest::WRITABLE, || send(stream, &bytes[sent..], descriptor)).await?;
        }
        if next.is_none() {
            next = queue.recv().await;
        }
    }
    Ok(())
}

fn send(stream: &UnixStream, bytes: &[u8], descriptor: Option<&OwnedFd>) -> io::Result<usize> {
    let descriptors: Vec<RawFd> = descriptor.iter().map(|descriptor| descriptor.as_raw_fd()).collect();
    let rights = [ControlMessage::ScmRights(&descriptors)];
    let rights = if descriptors.is_empty() { &[][..] } else { &rights[..] };
    Ok(sendmsg::<()>(stream.as_raw_fd(), &[IoSlice::new(bytes)], rights, MsgFlags::MSG_NOSIGNAL, None)?)
}

/// Takes frames apart. What has arrived of one stays when a read is given up.
pub struct Reader {
    stream: Arc<UnixStream>,
    arrived: Arrived,
    descriptors: VecDeque<OwnedFd>,
    /// Whoever takes none has the kernel close what comes.
    takes_descriptors: bool,
}

impl Reader {
    pub fn new(stream: Arc<UnixStream>, takes_descriptors: bool) -> Self {
        Self { stream, arrived: Arrived::default(), descriptors: VecDeque::new(), takes_descriptors }
    }

    /// The next message; none when the other side has closed.
    ///
    /// # Errors
    /// When what comes is no message, or the connection fails.
    pub async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, FrameError> {
        loop {
            if let Some(message) = self.arrived.take()? {
                return Ok(Some(message));
            }
            if self.receive().await? == 0 {
                return if self.arrived.is_empty() { Ok(None) } else { Err(FrameError::Cut) };
            }
        }
    }

    /// The descriptor that came with a message.
    pub fn descriptor(&mut self) -> Option<OwnedFd> {
        self.descriptors.pop_front()
    }

    /// Waits without holding anything, so that it can be given up at any time.
    async fn receive(&mut self) -> io::Result<usize> {
        loop {
            self.stream.readable().await?;
            match self.try_receive() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(0),
                received => return received,
            }
        }
    }

    fn try_receive(&mut self) -> io::Result<usize> {
        let Self { stream, arrived, descriptors, takes_descriptors } = self;
        let room = arrived.room();
        let (room_bytes, descriptors_before) = (room.len(), descriptors.len());
        let received = stream.try_io(Interest::READABLE, || match takes_descriptors {
            true => receive_with_descriptors(stream, room, descriptors),
            false => Ok(nix::unistd::read(&**stream, room)?),
        })?;
        arrived.add(received);
        // A read that could have taken more has taken all, unless it ended behind a descriptor: the next one need not ask.
        if received < room_bytes && descriptors.len() == descriptors_before {
            drop(stream.try_io(Interest::READABLE, || Err::<(), _>(ErrorKind::WouldBlock.into())));
        }
        Ok(received)
    }
}

fn receive_with_descriptors(
    stream: &UnixStream,
    room: &mut [u8],
    descriptors: &mut VecDeque<OwnedFd>,
) -> io::Result<usize> {
    let mut control = nix::cmsg_space!([RawFd; DESCRIPTORS_AT_ONCE]);
    let mut parts = [IoSliceMut::new(room)];
    let flags = MsgFlags::MSG_CMSG_CLOEXEC;
    let received = recvmsg::<()>(stream.as_raw_fd(), &mut parts, Some(&mut control), flags)?;
    for message in received.cmsgs()? {
        if let ControlMessageOwned::ScmRights(raw) = message {
            // SAFETY: the kernel has just made these descriptors for this process, and nobody else knows them.
            descriptors.extend(raw.into_iter().map(|raw| unsafe { OwnedFd::from_raw_fd(raw) }));
        }
    }
    Ok(received.bytes)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;
    use std::time::Duration;

    use proptest::prelude::*;
    use tokio::io::AsyncWriteExt as _;

    use super::*;
    use crate::process::messages::FromRunner;

    type Message = (u64, String, Vec<u8>);

    fn pair() -> (Arc<UnixStream>, Arc<UnixStream>) {
        let (left, right) = UnixStream::pair().unwrap();
        (Arc::new(left), Arc::new(right))
    }

    /// What a reader makes of bytes that come in pieces.
    async fn read(pieces: Vec<Vec<u8>>) -> Result<Vec<Message>, FrameError> {
        let (mut left, right) = UnixStream::pair().unwrap();
        let writing = tokio::spawn(async move {
            for piece in pieces {
                // The reader has gone when it did not like what came.
                if left.write_all(&piece).await.is_err() {
                    return;
                }
                tokio::task::yield_now().await;
            }
        });
        let mut reader = Reader::new(Arc::new(right), false);
        let mut messages = Vec::new();
        let read = loop {
            match reader.next().await {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break Ok(messages),
                Err(error) => break Err(error),
            }
        };
        drop(reader);
        writing.await.unwrap();
        read
    }

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    fn framed(messages: &[Message]) -> Vec<u8> {
        messages.iter().flat_map(|message| Outgoing::new(message, None).unwrap().bytes).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn messages_arrive_in_whatever_pieces_they_come(
            messages in prop::collection::vec((any::<u64>(), ".{0,40}", prop::collection::vec(any::<u8>(), 0..300)), 0..6),
            size in 1_usize..200,
        ) {
            let pieces = framed(&messages).chunks(size).map(<[u8]>::to_vec).collect();
            prop_assert_eq!(block_on(read(pieces)).unwrap(), messages);
        }

        #[test]
        fn what_is_cut_off_is_an_error(
            messages in prop::collection::vec((any::<u64>(), ".{0,40}", prop::collection::vec(any::<u8>(), 0..300)), 1..4),
            cut in 1_usize..4,
        ) {
            let mut bytes = framed(&messages);
            bytes.truncate(bytes.len() - cut.min(bytes.len() - 1));
            prop_assert!(matches!(block_on(read(vec![bytes])), Err(FrameError::Cut)));
        }

        /// Whatever a runner sends: messages, an error or an end, and never a panic or a lot of memory.
        #[test]
        fn random_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..400), honest in any::<bool>()) {
            let mut sent = if honest { u32::try_from(bytes.len()).unwrap().to_le_bytes().to_vec() } else { Vec::new() };
            sent.extend(&bytes);
            drop(block_on(read(vec![sent])));
            drop(postcard::from_bytes::<FromRunner>(&bytes));
        }
    }

    #[test]
    fn a_length_beyond_the_bound_is_refused_before_anything_is_read() {
        let read = block_on(read(vec![u32::MAX.to_le_bytes().to_vec()]));
        assert!(matches!(read, Err(FrameError::TooLong { bytes: 4_294_967_295 })), "{read:?}");
        let long = Outgoing::new(&vec![0_u8; FRAME_BYTES_MAX + 1], None);
        assert!(matches!(long, Err(FrameError::TooLong { .. })));
    }

    #[tokio::test]
    async fn a_read_that_is_given_up_loses_nothing() {
        let (left, right) = pair();
        let message: Message = (7, "x".repeat(100_000), vec![1; 200_000]);
        let bytes = framed(std::slice::from_ref(&message));
        let sending = tokio::spawn(async move {
            for piece in bytes.chunks(5_000) {
                let mut sent = 0;
                while sent < piece.len() {
                    sent += left.async_io(Interest::WRITABLE, || send(&left, &piece[sent..], None)).await.unwrap();
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
        let mut reader = Reader::new(right, true);
        let mut given_up = 0;
        let read = loop {
            match tokio::time::timeout(Duration::from_micros(100), reader.next::<Message>()).await {
                Ok(read) => break read,
                Err(_) => given_up += 1,
            }
        };
        sending.await.unwrap();
        assert_eq!(read.unwrap(), Some(message));
        assert!(given_up > 5, "{given_up}");
    }

    #[tokio::test]
    async fn descriptors_come_with_their_messages() {
        let (left, right) = pair();
        let (mailbox, queue) = Mailbox::new();
        let mut reader = Reader::new(right, true);
        let mut files = Vec::new();
        for number in 0..20_u64 {
            let mut file = tempfile::tempfile().unwrap();
            write!(file, "file {number}").unwrap();
            mailbox.post(&(number, String::new(), vec![0_u8; 30_000])).unwrap();
            mailbox
                .post_with(&(number, "with".to_owned(), Vec::<u8>::new()), Some(file.try_clone().unwrap().into()))
                .unwrap();
            files.push(file);
        }
        drop(mailbox);
        let sending = tokio::spawn(async move { send_all(&left, queue).await });
        let mut seen = 0;
        while let Some((number, text, _)) = reader.next::<Message>().await.unwrap() {
            if text == "with" {
                let file = File::from(reader.descriptor().expect("its descriptor"));
                let mut bytes = [0; 20];
                let length = std::os::unix::fs::FileExt::read_at(&file, &mut bytes, 0).unwrap();
                assert_eq!(&bytes[..length], format!("file {number}").as_bytes());
                seen += 1;
            }
        }
        sending.await.unwrap().unwrap();
        assert_eq!(seen, 20);
        assert!(reader.descriptor().is_none());
    }
}
