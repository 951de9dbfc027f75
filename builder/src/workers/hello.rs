//! How the two sides find out that they belong together. The greeting is JSON, so that every release can read that of another.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use registry::Digest;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::channel::{Channel, ChannelError};
use super::wire::PROTOCOL;

/// A greeting has a few short fields.
const GREETING_BYTES_MAX: usize = 4 << 10;
/// The other side reads its own program first, once.
const GREETING_TIME_MAX: Duration = Duration::from_secs(30);

/// Who comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Worker,
    /// Only wants to know who is there.
    Onlooker,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    pub role: Role,
    pub protocol: u32,
    /// The digest of the program's file.
    pub program: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Welcome {
    Accepted { workers: usize, busy: usize },
    Refused { reason: String },
}

/// What an onlooker learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Onlooked {
    pub workers: usize,
    pub busy: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum GreetingError {
    #[error("the server refuses this worker: {reason}")]
    Refused { reason: String },
    #[error("the other side does not greet: {0}")]
    Strange(String),
    #[error("the other side did not greet within {} s", GREETING_TIME_MAX.as_secs())]
    TooSlow,
    #[error(transparent)]
    Channel(#[from] ChannelError),
}

impl GreetingError {
    /// Whether there was nobody to greet: no socket, or one whose server has ended.
    #[must_use]
    pub fn is_nobody(&self) -> bool {
        let Self::Channel(ChannelError::Socket(error)) = self else { return false };
        matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
    }
}

impl Hello {
    #[must_use]
    pub fn new(role: Role, program: &Digest) -> Self {
        Self { role, protocol: PROTOCOL, program: program.to_string() }
    }

    /// Why a worker that says this cannot work here.
    pub fn misfit(&self, program: &Digest) -> Option<String> {
        if self.protocol != PROTOCOL {
            let (theirs, ours) = (self.protocol, PROTOCOL);
            return Some(format!(
                "it speaks version {theirs} of the protocol, and the server version {ours}; run both from the same release"
            ));
        }
        (self.program != program.to_string()).then(|| {
            "it is another build of lathe than the server; start both from the same file, the server first".to_owned()
        })
    }
}

/// The greeting of whoever came in.
///
/// # Errors
/// When it is none, or does not come.
pub async fn hear(channel: &mut Channel) -> Result<Hello, GreetingError> {
    greeting(channel).await
}

/// Answers it.
///
/// # Errors
/// When the other side is gone.
pub async fn answer(channel: &mut Channel, welcome: &Welcome) -> Result<(), GreetingError> {
    say(channel, welcome).await
}

/// Greets a server.
///
/// # Errors
/// When it refuses, or does not answer.
pub async fn greet(channel: &mut Channel, hello: &Hello) -> Result<Onlooked, GreetingError> {
    say(channel, hello).await?;
    match greeting(channel).await? {
        Welcome::Accepted { workers, busy } => Ok(Onlooked { workers, busy }),
        Welcome::Refused { reason } => Err(GreetingError::Refused { reason }),
    }
}

/// Asks the server behind a socket for its workers.
///
/// # Errors
/// When none answers.
pub async fn look(socket: &Path) -> Result<Onlooked, GreetingError> {
    let stream = UnixStream::connect(socket).await.map_err(ChannelError::from)?;
    let hello = Hello { role: Role::Onlooker, protocol: PROTOCOL, program: String::new() };
    greet(&mut Channel::new(stream), &hello).await
}

async fn say(channel: &mut Channel, what: &impl Serialize) -> Result<(), GreetingError> {
    let text = serde_json::to_vec(what).map_err(|error| GreetingError::Strange(error.to_string()))?;
    Ok(channel.send(&text).await.map_err(ChannelError::from)?)
}

async fn greeting<T: DeserializeOwned>(channel: &mut Channel) -> Result<T, GreetingError> {
    let frame = timeout(GREETING_TIME_MAX, channel.receive(GREETING_BYTES_MAX)).await;
    let frame = frame.map_err(|_| GreetingError::TooSlow)??.ok_or(ChannelError::Cut)?;
    serde_json::from_slice(&frame).map_err(|error| GreetingError::Strange(error.to_string()))
}

/// The digest of a file, without all of it in memory.
///
/// # Errors
/// When it cannot be read.
pub fn digest_of_file(path: &Path) -> io::Result<Digest> {
    let mut hasher = Sha256::new();
    io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(Digest::from_bytes(hasher.finalize().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_program_fits() {
        let (ours, other) = (Digest::of(b"ours"), Digest::of(b"other"));
        let hello = Hello::new(Role::Worker, &ours);
        assert_eq!(hello.misfit(&ours), None);
        assert!(hello.misfit(&other).unwrap().contains("another build of lathe"));
        let later = Hello { protocol: PROTOCOL + 1, ..hello };
        assert!(later.misfit(&ours).unwrap().contains(&format!("version {} of the protocol", PROTOCOL + 1)));
    }

    /// What another release may add, or leave out of what nobody asked it for.
    #[test]
    fn a_greeting_of_another_release_is_read() {
        let text = r#"{"role": "worker", "protocol": 7, "program": "x", "later": [1]}"#;
        assert_eq!(serde_json::from_str::<Hello>(text).unwrap().protocol, 7);
    }
}
