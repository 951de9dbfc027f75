//! The handshake between server and worker. Its messages are JSON, so that releases can read each other's.

use std::io;
use std::path::Path;
use std::time::Duration;

use registry::Digest;
use runner::{FrameError, FramedSocket};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::protocol::PROTOCOL;

/// Bytes of a message, which has a few short fields.
const MESSAGE_BYTES_MAX: usize = 4 << 10;
/// Time for a message. The other side may first have to hash its own program.
const MESSAGE_TIME_MAX: Duration = Duration::from_secs(30);

/// The purpose of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Worker,
    /// Asks for the status of the pool.
    Observer,
}

/// The first message of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    pub role: Role,
    pub protocol: u32,
    /// The digest of the program's file.
    pub program: String,
}

/// The server's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum HelloReply {
    Accepted { workers: usize, busy: usize },
    Refused { reason: String },
}

/// The numbers of connected and of busy workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolStatus {
    pub workers: usize,
    pub busy: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    #[error("the server refuses this worker: {reason}")]
    Refused { reason: String },
    #[error("the handshake failed: {0}")]
    Failed(String),
    #[error("the other side did not complete the handshake within {} s", MESSAGE_TIME_MAX.as_secs())]
    TooSlow,
    #[error(transparent)]
    Frame(#[from] FrameError),
}

impl HandshakeError {
    /// Whether no server is listening: there is no socket, or its server has ended.
    #[must_use]
    pub fn is_no_server(&self) -> bool {
        let Self::Frame(FrameError::Socket(error)) = self else { return false };
        matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
    }
}

impl Hello {
    #[must_use]
    pub fn new(role: Role, program: &Digest) -> Self {
        Self { role, protocol: PROTOCOL, program: program.to_string() }
    }

    /// The reason why a worker with this message cannot work for this server.
    pub fn find_mismatch(&self, program: &Digest) -> Option<String> {
        if self.protocol != PROTOCOL {
            let (theirs, ours) = (self.protocol, PROTOCOL);
            return Some(format!(
                "it uses version {theirs} of the protocol, and the server version {ours}; run both from the same release"
            ));
        }
        (self.program != program.to_string()).then(|| {
            "its program file differs from the server's; start both from the same file, the server first".to_owned()
        })
    }
}

/// Shakes hands with a server.
///
/// # Errors
/// When the server refuses or does not answer.
pub async fn connect(channel: &mut FramedSocket, hello: &Hello) -> Result<PoolStatus, HandshakeError> {
    send(channel, hello).await?;
    match receive(channel).await? {
        HelloReply::Accepted { workers, busy } => Ok(PoolStatus { workers, busy }),
        HelloReply::Refused { reason } => Err(HandshakeError::Refused { reason }),
    }
}

/// Asks a server for the status of its workers.
///
/// # Errors
/// When no server answers at the socket.
pub async fn pool_status(socket: &Path) -> Result<PoolStatus, HandshakeError> {
    let stream = UnixStream::connect(socket).await.map_err(FrameError::from)?;
    let hello = Hello { role: Role::Observer, protocol: PROTOCOL, program: String::new() };
    connect(&mut FramedSocket::new(stream), &hello).await
}

/// Sends a message of the handshake.
///
/// # Errors
/// When the connection is closed.
pub async fn send(channel: &mut FramedSocket, message: &impl Serialize) -> Result<(), HandshakeError> {
    let text = serde_json::to_vec(message).map_err(|error| HandshakeError::Failed(error.to_string()))?;
    Ok(channel.send(&text).await.map_err(FrameError::from)?)
}

/// Receives a message of the handshake.
///
/// # Errors
/// When the message is malformed or late.
pub async fn receive<T: DeserializeOwned>(channel: &mut FramedSocket) -> Result<T, HandshakeError> {
    let frame = timeout(MESSAGE_TIME_MAX, channel.receive(MESSAGE_BYTES_MAX)).await;
    let frame = frame.map_err(|_| HandshakeError::TooSlow)??.ok_or(FrameError::Cut)?;
    serde_json::from_slice(&frame).map_err(|error| HandshakeError::Failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_worker_with_the_same_program_is_accepted() {
        let (ours, other) = (Digest::of(b"ours"), Digest::of(b"other"));
        let hello = Hello::new(Role::Worker, &ours);
        assert_eq!(hello.find_mismatch(&ours), None);
        assert!(hello.find_mismatch(&other).unwrap().contains("program file differs"));
        let later = Hello { protocol: PROTOCOL + 1, ..hello };
        assert!(later.find_mismatch(&ours).unwrap().contains(&format!("version {} of the protocol", PROTOCOL + 1)));
    }

    /// Another release may add fields.
    #[test]
    fn the_message_of_another_release_is_read() {
        let text = r#"{"role": "worker", "protocol": 7, "program": "x", "later": [1]}"#;
        assert_eq!(serde_json::from_str::<Hello>(text).unwrap().protocol, 7);
    }
}
