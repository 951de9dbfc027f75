//! The child processes of build steps, which run code and parsers that the server does not trust.

use std::io::{self, ErrorKind};
use std::process::{ExitStatus, Stdio};

use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::Signal;
use runner::{CPU_SECONDS_GRACE, ChildEnd};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

use crate::error::Error;

/// Bytes of a child's error messages that are kept.
const ERRORS_BYTES_MAX: u64 = 64 << 10;

/// The command of a child with an empty environment, which is killed when it is dropped. It consists of a program and its
/// arguments.
///
/// # Errors
/// When it is empty.
pub fn build_command(command: &[String]) -> Result<Command, Error> {
    let [program, arguments @ ..] = command else {
        return Err(Error::internal("the program of a child process is not configured"));
    };
    let mut child = Command::new(program);
    child.args(arguments).env_clear().kill_on_drop(true);
    Ok(child)
}

/// The exit status of a child, its answer, and its first error messages.
pub struct Ended {
    pub status: ExitStatus,
    pub answer: Vec<u8>,
    pub errors: String,
}

impl Ended {
    /// Refuses the end of a child that a signal from outside ended: it says nothing about the request.
    ///
    /// # Errors
    /// When the child was killed. `what` is its work.
    pub fn require_own_end(&self, what: &'static str) -> Result<(), Error> {
        match ChildEnd::of(self.status) {
            ChildEnd::Killed => Err(lost(what, self.status.to_string())),
            _ => Ok(()),
        }
    }
}

/// The error of a child that was killed, did not start, or took too long on a busy machine. Nothing remembers it.
pub fn lost(what: &'static str, reason: impl Into<String>) -> Error {
    Error::Runner(runner::Error::process_lost(what, reason))
}

/// Runs a child with `request` as its standard input, and reads at most `answer_bytes_max` bytes of its standard output.
///
/// # Errors
/// When it does not start, its pipes fail, or its answer is longer ([`ErrorKind::FileTooLarge`]).
pub async fn exchange(mut child: Command, request: Vec<u8>, answer_bytes_max: u64) -> io::Result<Ended> {
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (Some(mut input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(io::Error::other("a child process without pipes"));
    };
    // A child that ends early does not read its whole request, so that writing may fail.
    let feed = async move { drop(input.write_all(&request).await) };
    let answer = async move {
        let mut answer = Vec::new();
        output.take(answer_bytes_max + 1).read_to_end(&mut answer).await.map(|_| answer)
    };
    let ((), answer, errors, status) = tokio::join!(feed, answer, read_first_errors(errors), child.wait());
    let ended = Ended { status: status?, answer: answer?, errors: errors? };
    if ended.answer.len() as u64 > answer_bytes_max {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("it wrote more than {answer_bytes_max} bytes")));
    }
    Ok(ended)
}

/// The first error messages. The rest is discarded, so that the child never blocks on a full pipe.
async fn read_first_errors(pipe: impl AsyncRead + Unpin) -> io::Result<String> {
    let (mut kept, mut limited) = (Vec::new(), pipe.take(ERRORS_BYTES_MAX));
    limited.read_to_end(&mut kept).await?;
    tokio::io::copy(&mut limited.into_inner(), &mut tokio::io::sink()).await?;
    Ok(String::from_utf8_lossy(&kept).trim_end().to_owned())
}

/// The limits that a child sets for itself.
pub struct ChildLimits {
    pub cpu_seconds_max: u64,
    pub memory_bytes_max: u64,
    /// Bytes of each file that it writes.
    pub file_bytes_max: u64,
}

impl ChildLimits {
    /// Limits this process, ends it with its parent, and removes its network if the kernel allows that.
    ///
    /// # Errors
    /// When a limit cannot be set.
    pub fn apply(&self) -> io::Result<()> {
        set_pdeathsig(Signal::SIGKILL)?;
        setrlimit(Resource::RLIMIT_CPU, self.cpu_seconds_max, self.cpu_seconds_max + CPU_SECONDS_GRACE)?;
        setrlimit(Resource::RLIMIT_DATA, self.memory_bytes_max, self.memory_bytes_max)?;
        setrlimit(Resource::RLIMIT_FSIZE, self.file_bytes_max, self.file_bytes_max)?;
        setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
        if unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET).is_err() {
            // Without user namespaces the child still has no reason to open a connection.
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn shell(script: &str) -> io::Result<Ended> {
        let command = build_command(&["/bin/sh", "-c", script].map(str::to_owned)).unwrap();
        exchange(command, b"asked".repeat(100_000), 1_000).await
    }

    #[tokio::test]
    async fn a_long_answer_is_refused_without_reading_it() {
        for script in ["while echo y; do :; done", "head -c 1001 /dev/zero"] {
            let error = shell(script).await.map(|ended| ended.answer.len()).unwrap_err();
            assert_eq!(error.to_string(), "it wrote more than 1000 bytes");
        }
        assert_eq!(shell("head -c 1000 /dev/zero").await.unwrap().answer.len(), 1_000);
    }

    #[tokio::test]
    async fn the_first_errors_are_kept_and_the_rest_is_read() {
        let ended =
            shell("cat > /dev/null; echo answer; head -c 1000000 /dev/zero | tr '\\0' e >&2 && exit 3").await.unwrap();
        assert_eq!((ended.status.code(), ended.answer.as_slice()), (Some(3), &b"answer\n"[..]));
        assert_eq!(ended.errors, "e".repeat(64 << 10));
    }
}
