//! Bundles sources in a child process. The author's top-level code runs there, inside the image and without network,
//! and the child can be killed. The child also asks a compiled tool for the schema of its input.

mod interpreter;
pub mod packages;

use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::resource::{Resource, setrlimit};
use runner::{Bundle, CompileFailure, Interpreter, NativeCode, Project};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::process::Command;

use crate::blocking::blocking;
use crate::error::{Error, Location};
use crate::steps::child::{self, ChildLimits};
use interpreter::{LIMITS, with_loaded};
use packages::{Loaded, Packages, Unloaded};

const STAGE: &str = "compile";
/// The work of the child, in messages.
const BUNDLING: &str = "importing the tool or its packages";

/// Time for the child, a little more than the guest's own deadlines: 90 seconds to compile, which only a busy machine takes, and
/// 30 to import.
const CHILD_WALL_MAX: Duration = Duration::from_secs(130);
const CHILD_LIMITS: ChildLimits = ChildLimits {
    cpu_seconds_max: 40,
    memory_bytes_max: 1 << 30,
    // The engine keeps the initial memory of an author's component in an unnamed file of up to this size.
    file_bytes_max: 64 << 20,
};
/// Bytes of a bundle, which is sent into every run of its version. The packages of a bundle without a snapshot are compressed;
/// sympy has 16 MiB.
pub const BUNDLE_BYTES_MAX: usize = 24 << 20;
const REQUEST_BYTES_MAX: u64 = 128 << 20;
/// Bytes of an answer.
const RESPONSE_BYTES_MAX: u64 = 64 << 20;
/// Bytes of an answer with the memory of an image with packages.
const MEMORY_ANSWER_BYTES_MAX: u64 = 512 << 20;

#[derive(Serialize, Deserialize)]
enum Request {
    /// Bundles a project with an image.
    Bundle { code: PathBuf, project: Project, derive_schema: bool },
    /// Asks an author's component for the schema of its input.
    InputSchema { code: PathBuf },
    /// Loads packages into an image.
    Packages { code: PathBuf, packages: Packages },
}

impl Request {
    const fn answer_bytes_max(&self) -> u64 {
        match self {
            Self::Bundle { .. } | Self::InputSchema { .. } => RESPONSE_BYTES_MAX,
            Self::Packages { .. } => MEMORY_ANSWER_BYTES_MAX,
        }
    }
}

/// The outer error is a failure of the child, the inner one of the author's code.
type ChildResult<T> = Result<Result<T, CompileFailure>, String>;

/// A project to bundle.
pub struct BundledProject {
    pub project: Project,
    /// Whether the bundler derives the schema of the input from the code.
    pub derive_schema: bool,
}

/// Compiles a project with the image in `code`.
///
/// # Errors
/// When a check of the author's code fails, with file and line, or when the child fails.
pub async fn bundle(code: &NativeCode, bundler: &[String], source: BundledProject) -> Result<Bundle, Error> {
    let BundledProject { project, derive_schema } = source;
    let request = |code| Request::Bundle { code, project, derive_schema };
    let bundle: Bundle = ask(code, bundler, request).await?;
    if bundle.bytes.len() > BUNDLE_BYTES_MAX {
        let message = format!(
            "the tool with its dependencies is {} bytes of code; {BUNDLE_BYTES_MAX} are the limit",
            bundle.bytes.len()
        );
        return Err(Error::failed(STAGE, "size", message));
    }
    Ok(bundle)
}

/// Asks a compiled tool for the schema of its input. The tool's code runs for that, confined as in bundling.
///
/// # Errors
/// When the tool ends before it answers.
pub async fn read_input_schema(code: &NativeCode, bundler: &[String]) -> Result<Option<String>, Error> {
    ask(code, bundler, |code| Request::InputSchema { code }).await
}

/// Imports packages with the image in `code`, and returns the image's memory after that.
///
/// # Errors
/// When the files cannot be loaded even without an import, or when the child fails.
pub async fn load_packages(
    code: &NativeCode,
    bundler: &[String],
    packages: Packages,
) -> Result<Result<(Loaded, Vec<u8>), Unloaded>, Error> {
    let mut bytes = request_answer(code, bundler, |code| Request::Packages { code, packages }).await?;
    let read = move || {
        let (answer, memory) = postcard::take_from_bytes::<Result<Loaded, Unloaded>>(&bytes)?;
        let header = bytes.len() - memory.len();
        Ok::<_, postcard::Error>(answer.map(|loaded| (loaded, bytes.split_off(header))))
    };
    blocking(read).await?.map_err(Error::internal)
}

async fn ask<T: DeserializeOwned + Send + 'static>(
    code: &NativeCode,
    bundler: &[String],
    request: impl FnOnce(PathBuf) -> Request,
) -> Result<T, Error> {
    let bytes = request_answer(code, bundler, request).await?;
    let answer = blocking(move || postcard::from_bytes::<ChildResult<T>>(&bytes)).await?.map_err(Error::internal)?;
    answer.map_err(Error::internal)?.map_err(from_check)
}

/// The answer of a child to a request.
async fn request_answer(
    code: &NativeCode,
    bundler: &[String],
    request: impl FnOnce(PathBuf) -> Request,
) -> Result<Vec<u8>, Error> {
    let mut child = child::build_command(bundler)?;
    let code = code.pass_to(&mut child).map_err(Error::internal)?;
    let request = request(code);
    let answer_bytes_max = request.answer_bytes_max();
    let request = blocking(move || postcard::to_allocvec(&request)).await?.map_err(Error::internal)?;
    tokio::time::timeout(CHILD_WALL_MAX, exchange(child, request, answer_bytes_max))
        .await
        .map_err(|_| child::lost(BUNDLING, format!("it took longer than {} s", CHILD_WALL_MAX.as_secs())))?
}

async fn exchange(child: Command, request: Vec<u8>, answer_bytes_max: u64) -> Result<Vec<u8>, Error> {
    let failed = |error: io::Error| match error.kind() {
        ErrorKind::FileTooLarge => Error::internal(format!("a bundling child failed: {error}")),
        _ => child::lost(BUNDLING, error.to_string()),
    };
    let ended = child::exchange(child, request, answer_bytes_max).await.map_err(failed)?;
    ended.require_own_end(BUNDLING)?;
    if !ended.status.success() {
        tracing::warn!(status = %ended.status, reason = ended.errors, "a bundling child died");
        let message = format!("importing the tool ended the interpreter ({})", ended.status);
        return Err(Error::failed(STAGE, "import", message));
    }
    Ok(ended.answer)
}

fn from_check(failure: CompileFailure) -> Error {
    let CompileFailure { check, message, file, line } = failure;
    Error::failed(STAGE, &check, message).at(Location { file, line })
}

/// The child process, which reads a request from standard input and writes the answer to standard output.
///
/// # Errors
/// When the pipes fail. The author's failures are part of the answer.
pub fn child_bundle_main() -> io::Result<()> {
    CHILD_LIMITS.apply()?;
    let mut request = Vec::new();
    io::stdin().lock().take(REQUEST_BYTES_MAX).read_to_end(&mut request)?;
    let request: Request = postcard::from_bytes(&request).map_err(io::Error::other)?;
    if !matches!(request, Request::InputSchema { .. }) {
        // An image comes with the file of its memory.
        setrlimit(Resource::RLIMIT_FSIZE, 0, 0)?;
    }
    let answer = match request {
        Request::Bundle { code, project, derive_schema } => {
            answer(&code, async |image| image.compile(project, derive_schema, LIMITS).await)
        }
        Request::InputSchema { code } => answer(&code, async |tool| tool.input_schema(LIMITS).await),
        Request::Packages { code, packages } => return packages::run_child(&code, packages),
    };
    io::stdout().lock().write_all(&answer?)
}

fn answer<T: Serialize>(
    code: &Path,
    work: impl AsyncFnOnce(Interpreter) -> Result<Result<T, CompileFailure>, runner::Error>,
) -> io::Result<Vec<u8>> {
    let answer: ChildResult<T> = with_loaded(code, work)?.map_err(|error| error.to_string());
    postcard::to_allocvec(&answer).map_err(io::Error::other)
}

/// An answer with a bundle, for the fuzz target.
#[cfg(test)]
pub fn sample_answer(source: &str) -> Vec<u8> {
    let bundle = Bundle { bytes: source.as_bytes().to_vec(), input_schema: Some("{}".into()) };
    postcard::to_allocvec::<ChildResult<Bundle>>(&Ok(Ok(bundle))).unwrap_or_default()
}

/// Reads an answer of each kind, for the fuzz target.
#[cfg(test)]
pub fn read_answers(bytes: &[u8]) {
    drop(postcard::from_bytes::<ChildResult<Bundle>>(bytes));
    drop(postcard::from_bytes::<ChildResult<Option<String>>>(bytes));
    drop(postcard::take_from_bytes::<Result<Loaded, Unloaded>>(bytes));
}
