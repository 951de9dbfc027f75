//! Sources to bundle, in a child process: the author's top-level code runs
//! there, inside the image, without network, and the child can be killed. There
//! a compiled tool is asked about its input, too.

pub mod packages;

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::Signal;
use runner::{Bundle, CompileFailure, Interpreter, Limits, NativeCode, Project};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::error::{Error, Place};

const STAGE: &str = "compile";

/// Importing a tool with large dependencies takes a few seconds.
const LIMITS: Limits = Limits { wall_ms: 30_000, cpu_ms: 30_000, memory_bytes: 256 << 20, ..Limits::DEFAULT };
/// A little more than the guest's own deadline, for the child around it.
const CHILD_WALL_MAX: Duration = Duration::from_secs(40);
const CHILD_CPU_SECONDS_MAX: u64 = 40;
const CHILD_MEMORY_BYTES_MAX: u64 = 1 << 30;
/// A bundle is sent into every run of its version.
pub const BUNDLE_BYTES_MAX: usize = 8 << 20;
/// The engine keeps in a file without a name what the memory of a tool of its own begins with; an image brings such a file.
const MEMORY_FILE_BYTES_MAX: u64 = 64 << 20;
const REQUEST_BYTES_MAX: u64 = 128 << 20;

#[derive(Serialize, Deserialize)]
enum Request {
    /// Of an image.
    Bundle { code: PathBuf, project: Project, derive_schema: bool },
    /// Of a tool of its own.
    InputSchema { code: PathBuf },
    /// Of an image.
    Packages { code: PathBuf, packages: packages::Packages },
}

/// The author's failure, or that of the child.
type Answer<T> = Result<Result<T, CompileFailure>, String>;

/// Has the image behind `code` compile a project.
///
/// # Errors
/// The author's failing check with file and line; or a child that failed.
pub async fn bundle(
    code: &NativeCode,
    bundler: &[String],
    project: Project,
    derive_schema: bool,
) -> Result<Bundle, Error> {
    let request = |code| Request::Bundle { code, project, derive_schema };
    let bundle: Bundle = ask(code, bundler, request).await?;
    if bundle.bytes.len() > BUNDLE_BYTES_MAX {
        let message = format!(
            "the tool with its dependencies is {} bytes of code; {BUNDLE_BYTES_MAX} are the limit",
            bundle.bytes.len()
        );
        return Err(refuse("size", &message));
    }
    Ok(bundle)
}

/// Asks a compiled tool for the schema of its input. Its code runs for that, confined as a bundle's does.
///
/// # Errors
/// When it stops before it answers.
pub async fn input_schema(code: &NativeCode, bundler: &[String]) -> Result<Option<String>, Error> {
    ask(code, bundler, |code| Request::InputSchema { code }).await
}

async fn ask<T: DeserializeOwned>(
    code: &NativeCode,
    bundler: &[String],
    request: impl FnOnce(PathBuf) -> Request,
) -> Result<T, Error> {
    let said = say(code, bundler, request).await?;
    let answer: Answer<T> = postcard::from_bytes(&said).map_err(Error::internal)?;
    answer.map_err(Error::internal)?.map_err(from_check)
}

/// What a child says to a request.
async fn say(
    code: &NativeCode,
    bundler: &[String],
    request: impl FnOnce(PathBuf) -> Request,
) -> Result<Vec<u8>, Error> {
    let mut child = child(bundler)?;
    let code = code.give_to(&mut child).map_err(Error::internal)?;
    let request = postcard::to_allocvec(&request(code)).map_err(Error::internal)?;
    tokio::time::timeout(CHILD_WALL_MAX, converse(child, request))
        .await
        .map_err(|_| refuse("import", "importing the tool took too long"))?
}

fn child(command: &[String]) -> Result<Command, Error> {
    let [program, arguments @ ..] = command else {
        return Err(Error::internal("no bundling program is configured"));
    };
    let mut child = Command::new(program);
    let pipes = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    pipes.args(arguments).env_clear().kill_on_drop(true);
    Ok(child)
}

async fn converse(mut child: Command, request: Vec<u8>) -> Result<Vec<u8>, Error> {
    let mut child = child.spawn().map_err(|error| Error::internal(format!("no bundling child starts: {error}")))?;
    let mut input = child.stdin.take().ok_or_else(|| Error::internal("no pipe to the child"))?;
    let feed = async move { input.write_all(&request).await };
    let output = tokio::join!(feed, child.wait_with_output()).1.map_err(Error::internal)?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        tracing::warn!(status = %output.status, reason, "a bundling child died");
        return Err(refuse("import", &format!("importing the tool ended the interpreter ({})", output.status)));
    }
    Ok(output.stdout)
}

fn refuse(check: &str, message: &str) -> Error {
    Error::failed(STAGE, check, message, Place::default())
}

fn from_check(failure: CompileFailure) -> Error {
    let CompileFailure { check, message, file, line } = failure;
    Error::Failed { stage: STAGE, check, message, place: Place { file, line } }
}

/// The child: a request on standard input, an answer on standard output.
///
/// # Errors
/// When the pipes fail. The author's failures are part of the answer.
pub fn child_bundle_main() -> io::Result<()> {
    confine()?;
    let mut request = Vec::new();
    io::stdin().lock().take(REQUEST_BYTES_MAX).read_to_end(&mut request)?;
    let request: Request = postcard::from_bytes(&request).map_err(io::Error::other)?;
    let file_bytes_max = if matches!(request, Request::InputSchema { .. }) { MEMORY_FILE_BYTES_MAX } else { 0 };
    setrlimit(Resource::RLIMIT_FSIZE, file_bytes_max, file_bytes_max)?;
    let answer = match request {
        Request::Bundle { code, project, derive_schema } => {
            answer(&code, async |image| image.compile(project, derive_schema, LIMITS).await)
        }
        Request::InputSchema { code } => answer(&code, async |tool| tool.input_schema(LIMITS).await),
        Request::Packages { code, packages } => return packages::child_main(&code, packages),
    };
    io::stdout().lock().write_all(&answer?)
}

fn answer<T: Serialize>(
    code: &Path,
    work: impl AsyncFnOnce(Interpreter) -> Result<Result<T, CompileFailure>, runner::Error>,
) -> io::Result<Vec<u8>> {
    let answer: Answer<T> = with_loaded(code, work)?.map_err(|error| error.to_string());
    postcard::to_allocvec(&answer).map_err(io::Error::other)
}

fn with_loaded<T>(
    code: &Path,
    work: impl AsyncFnOnce(Interpreter) -> Result<T, runner::Error>,
) -> io::Result<Result<T, runner::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // SAFETY: the parent names an open file, which it has verified.
    let loaded = unsafe { Interpreter::load(code) };
    Ok(loaded.and_then(|loaded| runtime.block_on(work(loaded))))
}

/// Bounds this process, ends it with its parent, and takes its network away
/// where the kernel lets it; the guest inside has none either way.
fn confine() -> io::Result<()> {
    set_pdeathsig(Signal::SIGKILL)?;
    setrlimit(Resource::RLIMIT_CPU, CHILD_CPU_SECONDS_MAX, CHILD_CPU_SECONDS_MAX)?;
    setrlimit(Resource::RLIMIT_DATA, CHILD_MEMORY_BYTES_MAX, CHILD_MEMORY_BYTES_MAX)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    if unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET).is_err() {
        // No user namespaces here: the guest's own sandbox stands alone.
    }
    Ok(())
}
