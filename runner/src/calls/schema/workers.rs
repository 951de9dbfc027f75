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
use crate::sandbox::child_end::ChildEnd;
use crate::sandbox::frames::{FrameError, FramedSocket};
use crate::sandbox::process::ProcessSpawner;

/// Calls after which a process is replaced. They stay below its CPU time limit.
const CALLS_MAX: u32 = 100;

/// Time for one call: ten times the time of the most expensive call, for a busy machine.
pub const DEADLINE: Duration = Duration::from_secs(5);

/// Processes that are started for one call.
const ATTEMPTS_MAX: u32 = 2;

/// Time for the exit of a process that has closed its socket.
const EXIT_TIME_MAX: Duration = Duration::from_secs(1);

/// The work of the processes, in messages.
const MATCHING: &str = "matching values against a schema";

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

/// A process that ended without a response.
struct Gone {
    /// `None` when the server ended it.
    end: Option<ChildEnd>,
    problem: String,
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
        let spawner = ProcessSpawner::new("schemas").map_err(|error| report_start_failure(&error))?;
        Ok(Self { command: command.to_vec(), deadline: DEADLINE, spawner, idle: Mutex::default() })
    }

    /// Sends a call to a process. An idle process may have died since its last call; then a new one is started. A new one that the
    /// system killed is replaced once.
    ///
    /// # Errors
    /// When no process can be started, or two were killed.
    pub async fn run(&self, call: &Call) -> Result<WorkResult, Error> {
        let idle = self.idle.lock().pop();
        if let Some(worker) = idle {
            match self.send(worker, call).await {
                Ok(result) => return Ok(result),
                Err(Gone { problem, .. }) => tracing::info!(problem, "an idle schema worker had ended and is replaced"),
            }
        }
        let mut problem = String::new();
        for _ in 0..ATTEMPTS_MAX {
            let gone = match self.send(self.start().await?, call).await {
                Ok(result) => return Ok(result),
                Err(gone) => gone,
            };
            tracing::warn!(problem = gone.problem, "a schema worker died during a call");
            if gone.end != Some(ChildEnd::Killed) {
                return Ok(WorkResult::Killed);
            }
            problem = gone.problem;
        }
        Err(Error::process_lost(MATCHING, problem))
    }

    /// # Errors
    /// When the process dies.
    async fn send(&self, mut worker: Worker, call: &Call) -> Result<WorkResult, Gone> {
        match tokio::time::timeout(self.deadline, worker.respond(call)).await {
            Ok(Ok(response)) => {
                worker.calls += 1;
                if worker.calls < CALLS_MAX {
                    self.idle.lock().push(worker);
                }
                Ok(WorkResult::Responded(response))
            }
            Ok(Err(error)) => Err(worker.explain(&error).await),
            Err(_) => {
                // Waits for the end of the process, so that it no longer uses a processor.
                match worker.end().await {
                    Ok(status) => tracing::warn!(%status, "a schema worker was killed at its deadline"),
                    Err(error) => tracing::warn!(%error, "a schema worker cannot be killed at its deadline"),
                }
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
        start.await.map_err(|error: io::Error| report_start_failure(&error))
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

    /// Describes a process that did not respond. One that goes on has sent something else than a response, and is killed.
    async fn explain(mut self, error: &FrameError) -> Gone {
        if let Ok(Ok(status)) = tokio::time::timeout(EXIT_TIME_MAX, self.child.wait()).await {
            return Gone { end: Some(ChildEnd::of(status)), problem: format!("{error} ({status})") };
        }
        let ended = self.end().await.map_or_else(|error| error.to_string(), |status| status.to_string());
        Gone { end: None, problem: format!("{error} ({ended})") }
    }

    /// Kills the process, and waits for its end.
    async fn end(mut self) -> io::Result<ExitStatus> {
        self.child.start_kill()?;
        self.child.wait().await
    }
}

fn report_start_failure(error: &io::Error) -> Error {
    Error::process_lost(MATCHING, format!("a schema worker cannot be started: {error}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::calls::schema::wire::Document;

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
        for script in ["kill -KILL $$", "kill -TERM $$"] {
            let lost = workers(script).run(&call()).await.map(|_| ()).unwrap_err();
            assert_eq!(lost.code(), "process_lost", "{script}: {lost}");
        }
        let absent = Workers::new(&["/nowhere/at/all".to_owned()]).unwrap();
        assert!(absent.run(&call()).await.is_err());
    }

    #[tokio::test]
    async fn a_worker_that_does_not_respond_is_killed_at_the_deadline() {
        let workers = Workers { deadline: Duration::from_millis(50), ..workers("exec sleep 600") };
        let worker = workers.start().await.unwrap();
        let process = worker.child.id().unwrap();
        assert!(matches!(workers.send(worker, &call()).await, Ok(WorkResult::Killed)));
        assert!(!std::path::Path::new(&format!("/proc/{process}")).exists());
        assert!(workers.idle.lock().is_empty());
    }
}
