//! Accepts the connections of build workers.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::sync::Arc;
use std::time::Duration;

use nix::unistd::geteuid;
use runner::FramedSocket;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::handshake::{self, HandshakeError, Hello, HelloReply, Role};
use super::pool::Pool;
use super::scratch_lease;
use super::session::{Session, SessionEnd};
use crate::error::Error;
use crate::worker_endpoint::WorkerEndpoint;

/// Connections at a time: more than any machine has cores for builds.
const CONNECTIONS_MAX: usize = 64;
/// Modes for the server's own user only: a worker receives authors' sources and determines what they compile to.
const PRIVATE_DIRECTORY: u32 = 0o700;
const PRIVATE_SOCKET: u32 = 0o600;
/// Time between the end of a worker's connection and the removal of its files: a killed process closes sockets before
/// files.
const SWEEP_DELAY: Duration = Duration::from_secs(1);
/// Pause after a failed `accept`; its causes, such as a lack of descriptors, take time to go away.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Makes the socket, and removes that of an earlier server. No other server may use the endpoint.
///
/// # Errors
/// When the socket cannot be made.
pub fn bind(endpoint: &WorkerEndpoint) -> Result<UnixListener, Error> {
    let socket = endpoint.socket();
    let failed = |error: std::io::Error| {
        Error::internal(format!(
            "cannot make the socket for build workers at {}: {error}; if the path is too long, choose a data directory \
             with a path of less than 90 bytes",
            socket.display()
        ))
    };
    fs::DirBuilder::new().recursive(true).mode(PRIVATE_DIRECTORY).create(endpoint.directory()).map_err(failed)?;
    match fs::remove_file(&socket) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let listener = UnixListener::bind(&socket).map_err(failed)?;
    fs::set_permissions(&socket, fs::Permissions::from_mode(PRIVATE_SOCKET)).map_err(failed)?;
    Ok(listener)
}

/// Serves workers at an endpoint.
#[derive(Clone)]
pub struct Acceptor {
    pub endpoint: WorkerEndpoint,
    pub pool: Arc<Pool>,
}

impl Acceptor {
    /// Accepts workers. Dropping the future ends all sessions.
    pub async fn run(self, listener: UnixListener) {
        let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let mut sessions = JoinSet::new();
        loop {
            while sessions.try_join_next().is_some() {}
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "cannot accept build workers");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            let Ok(permit) = permits.clone().try_acquire_owned() else {
                tracing::warn!(CONNECTIONS_MAX, "a build worker was refused: too many are connected");
                continue;
            };
            let acceptor = self.clone();
            sessions.spawn(async move {
                acceptor.serve(stream).await;
                drop(permit);
            });
        }
    }

    async fn serve(&self, stream: UnixStream) {
        let refusal = refuse_other_user(&stream);
        let process = stream.peer_cred().ok().and_then(|peer| peer.pid());
        let mut channel = FramedSocket::new(stream);
        match self.shake_hands(&mut channel, refusal).await {
            Ok(Role::Observer) => {}
            Ok(Role::Worker) => {
                tracing::info!(process, "a build worker has connected");
                let end = Session { channel: &mut channel, pool: &self.pool }.run().await;
                tracing::info!(process, reason = end.reason(), "a build worker has disconnected");
                drop(channel);
                if !matches!(end, SessionEnd::Left) {
                    self.sweep().await;
                }
            }
            Err(error) => tracing::warn!(process, %error, "a connection to the socket of build workers was refused"),
        }
    }

    /// Answers the handshake, and returns the role of an accepted connection.
    async fn shake_hands(&self, channel: &mut FramedSocket, refusal: Option<String>) -> Result<Role, HandshakeError> {
        let hello = match refusal {
            Some(reason) => return refuse(channel, reason).await,
            None => handshake::receive::<Hello>(channel).await?,
        };
        if hello.role == Role::Worker {
            let program = self.endpoint.digest().await.map_err(|error| HandshakeError::Failed(error.to_string()))?;
            if let Some(reason) = hello.find_mismatch(&program) {
                return refuse(channel, reason).await;
            }
        }
        let (workers, busy) = self.pool.counts();
        handshake::send(channel, &HelloReply::Accepted { workers, busy }).await?;
        Ok(hello.role)
    }

    /// Removes the temporary files of a worker that died.
    async fn sweep(&self) {
        tokio::time::sleep(SWEEP_DELAY).await;
        let scratch = self.endpoint.scratch();
        let swept = tokio::task::spawn_blocking(move || scratch_lease::sweep(&scratch)).await;
        if let Ok(Err(error)) = swept {
            tracing::warn!(%error, "the temporary files of a dead build worker cannot be removed");
        }
    }
}

async fn refuse(channel: &mut FramedSocket, reason: String) -> Result<Role, HandshakeError> {
    handshake::send(channel, &HelloReply::Refused { reason: reason.clone() }).await?;
    Err(HandshakeError::Refused { reason })
}

/// The reason to refuse a process of another user. The modes of directory and socket already exclude other users; this
/// check holds even if somebody changes the modes.
fn refuse_other_user(stream: &UnixStream) -> Option<String> {
    let ours = geteuid().as_raw();
    match stream.peer_cred().map(|peer| peer.uid()) {
        Ok(theirs) if theirs == ours => None,
        Ok(theirs) => {
            Some(format!("it runs as user {theirs}, and the server as user {ours}; run both as the same user"))
        }
        Err(error) => Some(format!("the kernel does not name its user: {error}")),
    }
}
