//! The socket at which workers come in, and who may.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::sync::Arc;
use std::time::Duration;

use nix::unistd::geteuid;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::Place;
use super::attend::{End, attend};
use super::channel::Channel;
use super::hello::{self, GreetingError, Role, Welcome};
use super::pool::Pool;
use crate::error::Error;
use crate::worker::sweep_rooms;

/// More than any machine has cores for builds.
const CONNECTIONS_MAX: usize = 64;
/// Only the server's own user: whoever may connect gets authors' sources, and says what they become.
const PRIVATE_DIRECTORY: u32 = 0o700;
const PRIVATE_SOCKET: u32 = 0o600;
/// A process that was killed lets go of its files a moment after its sockets.
const SWEEP_DELAY: Duration = Duration::from_secs(1);
/// What keeps `accept` from working, such as a lack of descriptors, does not go in an instant.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Makes the socket. What an earlier server left there goes, since no other has the place.
///
/// # Errors
/// When that cannot be.
pub fn bind(place: &Place) -> Result<UnixListener, Error> {
    let socket = place.socket();
    let failed = |error: std::io::Error| {
        Error::internal(format!(
            "no socket for build workers can be made at {}: {error}; a data directory with a path of less than 90 bytes \
             has room for its name",
            socket.display()
        ))
    };
    fs::DirBuilder::new().recursive(true).mode(PRIVATE_DIRECTORY).create(place.directory()).map_err(failed)?;
    match fs::remove_file(&socket) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let listener = UnixListener::bind(&socket).map_err(failed)?;
    fs::set_permissions(&socket, fs::Permissions::from_mode(PRIVATE_SOCKET)).map_err(failed)?;
    Ok(listener)
}

/// Lets workers in until it is given up, which ends all conversations.
pub async fn keep(listener: UnixListener, place: Place, pool: Arc<Pool>) {
    let seats = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut conversations = JoinSet::new();
    loop {
        while conversations.try_join_next().is_some() {}
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "no build worker can come in");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Ok(seat) = seats.clone().try_acquire_owned() else {
            tracing::warn!(CONNECTIONS_MAX, "too many build workers; one was sent away");
            continue;
        };
        let (place, pool) = (place.clone(), pool.clone());
        conversations.spawn(async move {
            receive(stream, &place, &pool).await;
            drop(seat);
        });
    }
}

async fn receive(stream: UnixStream, place: &Place, pool: &Arc<Pool>) {
    let stranger = stranger(&stream);
    let process = stream.peer_cred().ok().and_then(|peer| peer.pid());
    let mut channel = Channel::new(stream);
    match welcome(&mut channel, stranger, place, pool).await {
        Ok(Role::Onlooker) => {}
        Ok(Role::Worker) => {
            tracing::info!(process, "a build worker is there");
            let end = attend(&mut channel, pool).await;
            tracing::info!(process, reason = end.reason(), "a build worker is gone");
            drop(channel);
            if !matches!(end, End::Left) {
                sweep(place).await;
            }
        }
        Err(error) => tracing::warn!(process, %error, "somebody came to the socket of build workers and was sent away"),
    }
}

/// Says who may stay.
async fn welcome(
    channel: &mut Channel,
    stranger: Option<String>,
    place: &Place,
    pool: &Pool,
) -> Result<Role, GreetingError> {
    let refusal = |reason| Welcome::Refused { reason };
    if let Some(reason) = stranger {
        hello::answer(channel, &refusal(reason.clone())).await?;
        return Err(GreetingError::Refused { reason });
    }
    let hello = hello::hear(channel).await?;
    let (workers, busy) = pool.counts();
    if hello.role == Role::Worker {
        let program = place.digest().await.map_err(|error| GreetingError::Strange(error.to_string()))?;
        if let Some(reason) = hello.misfit(&program) {
            hello::answer(channel, &refusal(reason.clone())).await?;
            return Err(GreetingError::Refused { reason });
        }
    }
    hello::answer(channel, &Welcome::Accepted { workers, busy }).await?;
    Ok(hello.role)
}

/// The modes of directory and socket keep others out already; whatever becomes of these, nobody else is let in.
fn stranger(stream: &UnixStream) -> Option<String> {
    let ours = geteuid().as_raw();
    match stream.peer_cred().map(|peer| peer.uid()) {
        Ok(theirs) if theirs == ours => None,
        Ok(theirs) => Some(format!("it belongs to user {theirs}, and the server to {ours}; run both as the same user")),
        Err(error) => Some(format!("nobody knows whose it is: {error}")),
    }
}

/// Removes what the builds of a dead worker had in hand.
async fn sweep(place: &Place) {
    tokio::time::sleep(SWEEP_DELAY).await;
    let scratch = place.scratch();
    let swept = tokio::task::spawn_blocking(move || sweep_rooms(&scratch)).await;
    if let Ok(Err(error)) = swept {
        tracing::warn!(%error, "what a dead build worker left behind cannot be removed");
    }
}
