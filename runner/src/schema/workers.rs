//! Schema worker processes, seen from the server. They are started on demand, kept for later calls, and killed at a
//! deadline.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::net::UnixStream;
use tokio::process::Child;

use super::wire::{Call, MatchResponse, RESPONSE_BYTES_MAX};
use crate::error::Error;
use crate::frames::{FrameError, FramedSocket};
use crate::process::ProcessSpawner;

/// Calls after which a process is replaced. They stay below its CPU time limit.
const CALLS_MAX: u32 = 100;

/// Time for one call: ten times the time of the most expensive call, for a busy machine.
pub const DEADLINE: Duration = Duration::from_secs(5);

/// The result of a call that another process or thread handled.
pub enum WorkResult {
    Responded(MatchResponse),
    /// The process was killed at the deadline, or died of its work.
    Killed,
}

/// Starts workers, and keeps idle ones. The caller's admission bounds their number.
pub struct Workers {
    command: Vec<String>,
    deadline: Duration,
    spawner: ProcessSpawner,
    idle: Mutex<Vec<Worker>>,
}

/// One process. Dropping it kills the process.
struct Worker {
    child: Child,
    socket: FramedSocket,
    calls: u32,
}

impl Workers {
    /// # Errors
    /// When the system cannot start a thread.
    pub fn new(command: &[String]) -> Result<Self, Error> {
        let spawner = ProcessSpawner::new("schemas").map_err(|error| failed(&error))?;
        Ok(Self { command: command.to_vec(), deadline: DEADLINE, spawner, idle: Mutex::default() })
    }

    /// Sends a call to a process. An idle process may have died since its last call; then a new one is started.
    ///
    /// # Errors
    /// When no process can be started.
    pub async fn run(&self, call: &Call) -> Result<WorkResult, Error> {
        let idle = self.idle.lock().pop();
        if let Some(worker) = idle {
            match self.send(worker, call).await {
                Ok(result) => return Ok(result),
                Err(problem) => tracing::info!(%problem, "an idle schema worker had ended and is replaced"),
            }
        }
        match self.send(self.start().await?, call).await {
            Ok(result) => Ok(result),
            Err(problem) => {
                tracing::warn!(%problem, "a schema worker died during a call");
                Ok(WorkResult::Killed)
            }
        }
    }

    /// # Errors
    /// When the process dies.
    async fn send(&self, mut worker: Worker, call: &Call) -> io::Result<WorkResult> {
        match tokio::time::timeout(self.deadline, worker.respond(call)).await {
            Ok(Ok(response)) => {
                worker.calls += 1;
                if worker.calls < CALLS_MAX {
                    self.idle.lock().push(worker);
                }
                Ok(WorkResult::Responded(response))
            }
            Ok(Err(error)) => Err(io::Error::other(format!("{error} ({})", worker.end().await?))),
            Err(_) => {
                // Waits for the end of the process, so that it no longer uses a processor.
                let status = worker.end().await?;
                tracing::warn!(%status, "a schema worker was killed at its deadline");
                Ok(WorkResult::Killed)
            }
        }
    }

    async fn start(&self) -> Result<Worker, Error> {
        let start = async {
            let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
            let mut child = self.spawner.spawn(&self.command, theirs.into()).await.map_err(io::Error::other)?;
            // Closes the pipe of standard error, which nobody reads.
            drop(child.stderr.take());
            ours.set_nonblocking(true)?;
            Ok(Worker { child, socket: FramedSocket::new(UnixStream::from_std(ours)?), calls: 0 })
        };
        start.await.map_err(|error: io::Error| failed(&error))
    }
}

impl Worker {
    async fn respond(&mut self, call: &Call) -> Result<MatchResponse, FrameError> {
        for frame in [call.schema.bytes(), &call.inputs] {
            self.socket.send(frame).await?;
        }
        let response = self.socket.receive_message(RESPONSE_BYTES_MAX).await?;
        response.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof).into())
    }

    /// Kills the process, and waits for its end.
    async fn end(mut self) -> io::Result<ExitStatus> {
        self.child.start_kill()?;
        self.child.wait().await
    }
}

fn failed(error: &io::Error) -> Error {
    Error::internal(format!("a schema worker cannot be started: {error}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::wire::Document;

    fn workers(script: &str) -> Workers {
        Workers::new(&["sh", "-c", script].map(str::to_owned)).unwrap()
    }

    fn call() -> Call {
        Call::new(Document::of(&json!({})).unwrap(), &[json!(1)]).unwrap()
    }

    #[tokio::test]
    async fn a_program_that_is_not_a_worker_ends_the_call() {
        for script in ["true", "exit 1", "cat >&0", r"printf '\377\377\377\377' >&0; sleep 60"] {
            assert!(matches!(workers(script).run(&call()).await.unwrap(), WorkResult::Killed), "{script}");
        }
        let absent = Workers::new(&["/nowhere/at/all".to_owned()]).unwrap();
        assert!(absent.run(&call()).await.is_err());
    }

    #[tokio::test]
    async fn a_worker_that_does_not_respond_is_killed_at_the_deadline() {
        let workers = Workers { deadline: Duration::from_millis(50), ..workers("exec sleep 600") };
        let worker = workers.start().await.unwrap();
        let process = worker.child.id().unwrap();
        assert!(matches!(workers.send(worker, &call()).await.unwrap(), WorkResult::Killed));
        assert!(!std::path::Path::new(&format!("/proc/{process}")).exists());
        assert!(workers.idle.lock().is_empty());
    }
}
