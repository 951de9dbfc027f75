//! The thread that starts runners.
//!
//! The kernel ends a runner together with the thread that started it, so that none outlives its server. So it is a thread
//! that lives as long as anybody may ask for a runner; those of a runtime come and go.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::mpsc;

use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::started::StartError;

type Answer = oneshot::Sender<Result<Child, StartError>>;

struct Start {
    command: Vec<String>,
    socket: OwnedFd,
    answer: Answer,
}

/// Starts processes. They end when it is dropped, if not before.
pub struct Starter(mpsc::Sender<Start>);

impl Starter {
    /// # Errors
    /// When there is no runtime to watch over the processes, or the system has no thread to give.
    pub fn new() -> io::Result<Self> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let (requests, inbox) = mpsc::channel();
        std::thread::Builder::new().name("runners".to_owned()).spawn(move || {
            let _entered = runtime.enter();
            for Start { command, socket, answer } in inbox {
                drop(answer.send(spawn(&command, socket))); // nobody's process is killed
            }
        })?;
        Ok(Self(requests))
    }

    /// A process that has the socket as its standard input. It is killed when it is dropped.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn start(&self, command: &[String], socket: OwnedFd) -> Result<Child, StartError> {
        let (answer, started) = oneshot::channel();
        let gone = || io::Error::other("the thread that starts runners has ended");
        self.0.send(Start { command: command.to_vec(), socket, answer }).map_err(|_| gone())?;
        started.await.map_err(|_| gone())?
    }
}

/// Nothing of the server's environment comes along, and no descriptor but the socket and the log.
fn spawn(command: &[String], socket: OwnedFd) -> Result<Child, StartError> {
    let [program, arguments @ ..] = command else { return Err(StartError::NoProgram) };
    let spawned = Command::new(program)
        .args(arguments)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(socket))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn();
    Ok(spawned?)
}
