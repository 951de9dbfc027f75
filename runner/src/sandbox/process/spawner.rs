//! The threads that start runners and schema workers.
//!
//! The kernel kills such a process when the thread that started it ends, so that no process outlives its server. So each kind of
//! process has a thread that lives as long as its spawner; threads of an async runtime come and go.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::mpsc;

use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

struct SpawnRequest {
    command: Vec<String>,
    socket: OwnedFd,
    answer: oneshot::Sender<io::Result<Child>>,
}

/// Starts processes, which end no later than the spawner.
pub struct ProcessSpawner(mpsc::Sender<SpawnRequest>);

impl ProcessSpawner {
    /// Starts the thread under a name.
    ///
    /// # Errors
    /// When there is no async runtime to watch the processes, or the system has no thread.
    pub fn new(thread: &str) -> io::Result<Self> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let (requests, inbox) = mpsc::channel();
        std::thread::Builder::new().name(thread.to_owned()).spawn(move || {
            let _entered = runtime.enter();
            for SpawnRequest { command, socket, answer } in inbox {
                drop(answer.send(spawn(&command, socket))); // kills the process when the caller is gone
            }
        })?;
        Ok(Self(requests))
    }

    /// Starts a process with the socket as its standard input. The process is killed when the child is dropped.
    ///
    /// # Errors
    /// When the process does not start.
    pub async fn spawn(&self, command: &[String], socket: OwnedFd) -> io::Result<Child> {
        let (answer, spawned) = oneshot::channel();
        let gone = || io::Error::other("the thread that starts processes has ended");
        self.0.send(SpawnRequest { command: command.to_vec(), socket, answer }).map_err(|_| gone())?;
        spawned.await.map_err(|_| gone())?
    }
}

/// Starts a process without the server's environment, and with no descriptors but the socket and the log.
fn spawn(command: &[String], socket: OwnedFd) -> io::Result<Child> {
    let [program, arguments @ ..] = command else { return Err(io::Error::other("no program is configured")) };
    Command::new(program)
        .args(arguments)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(socket))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
}
