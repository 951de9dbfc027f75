//! Compiling a component ahead of time, in a child that can be killed.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use nix::sys::resource::{Resource, setrlimit};
use registry::Digest;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::cache::Compiled;
use crate::{Error, Limits, engine, structure};

/// The Python image takes about 12 CPU seconds on a slow core, in a debug build 60.
const IMAGE_CPU_SECONDS_MAX: u64 = 240;
/// The Python image takes about 450 MB.
const IMAGE_MEMORY_BYTES_MAX: u64 = 2 << 30;
/// A tool of a megabyte takes less than two.
const TOOL_CPU_SECONDS_MAX: u64 = 30;
const TOOL_MEMORY_BYTES_MAX: u64 = 1 << 30;
const WALL_MAX: Duration = Duration::from_secs(300);
/// A component that was refused is not tried again for so long: each try may take all of its time, one after the other.
const REFUSAL_KEPT: Duration = Duration::from_secs(600);
/// Beyond so many the refusals are forgotten.
const REFUSALS_MAX: usize = 1_000;
/// The largest component that is compiled: the image with room to grow.
pub const COMPONENT_BYTES_MAX: usize = 64 << 20;

/// Whose component it is, which tells how much compiling it may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maker {
    /// A language's image.
    Platform,
    /// A tool of its own.
    Author,
}

/// Compiles what is missing in the cache, one component at a time.
#[derive(Debug, Clone)]
pub struct Compiler {
    command: Arc<[String]>,
    compiled: Compiled,
    /// What this process has read through once; reading 30 MB again proves nothing.
    verified: Arc<DashMap<Digest, ()>>,
    /// Until when, and why.
    refused: Arc<DashMap<Digest, (Instant, String)>>,
    one_at_a_time: Arc<Mutex<()>>,
}

impl Compiler {
    pub(crate) fn new(command: &[String], compiled: Compiled) -> Self {
        Self {
            command: command.into(),
            compiled,
            verified: Arc::default(),
            refused: Arc::default(),
            one_at_a_time: Arc::default(),
        }
    }

    /// Whether the component's code is in the cache and verifies.
    #[must_use]
    pub fn has(&self, digest: &Digest) -> bool {
        self.code(digest).is_some()
    }

    /// The file of a component's verified code.
    #[must_use]
    pub fn code(&self, digest: &Digest) -> Option<PathBuf> {
        let path = self.compiled.path(digest);
        if self.verified.contains_key(digest) && path.exists() {
            return Some(path);
        }
        let found = self.compiled.find(digest)?;
        self.verified.insert(*digest, ());
        Some(found)
    }

    /// Makes sure that the component's code is in the cache.
    ///
    /// # Errors
    /// `Rejected` when the component is no component or too costly to compile.
    pub async fn ensure(&self, digest: &Digest, component: &[u8], maker: Maker) -> Result<(), Error> {
        if self.has(digest) {
            return Ok(());
        }
        let _turn = self.one_at_a_time.lock().await;
        if self.has(digest) {
            return Ok(()); // the one before us compiled it
        }
        if let Some(reason) = self.refusal(digest) {
            return Err(Error::rejected(reason)); // or was refused
        }
        let code = self.compile(component, maker).await.inspect_err(|error| self.remember(digest, error))?;
        self.compiled.keep(digest, &code)?;
        Ok(())
    }

    fn refusal(&self, digest: &Digest) -> Option<String> {
        let found = self.refused.get(digest)?;
        let (until, reason) = found.value();
        (Instant::now() < *until).then(|| reason.clone())
    }

    fn remember(&self, digest: &Digest, error: &Error) {
        if let Error::Rejected { reason } = error {
            if self.refused.len() >= REFUSALS_MAX {
                self.refused.clear();
            }
            self.refused.insert(*digest, (Instant::now() + REFUSAL_KEPT, reason.clone()));
        }
    }

    async fn compile(&self, component: &[u8], maker: Maker) -> Result<Vec<u8>, Error> {
        let [program, arguments @ ..] = &*self.command else {
            return Err(Error::internal("no compiler is configured"));
        };
        let mut child = Command::new(program)
            .args(arguments)
            .args((maker == Maker::Author).then_some("--author"))
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| Error::internal(format!("cannot start {program}: {error}")))?;
        let mut input = child.stdin.take().ok_or_else(|| Error::internal("no pipe to the child"))?;
        let feed = async move { input.write_all(component).await };
        let both = async { tokio::join!(feed, child.wait_with_output()).1 };
        let output = tokio::time::timeout(WALL_MAX, both)
            .await
            .map_err(|_| Error::rejected("compiling took too long"))?
            .map_err(|error| Error::internal(format!("the compiling child failed: {error}")))?;
        if !output.status.success() {
            return Err(Error::rejected(reason(&output)));
        }
        Ok(output.stdout)
    }
}

/// What the child says, or that it was killed before it could.
fn reason(output: &Output) -> String {
    if output.status.code().is_none() {
        tracing::warn!(status = %output.status, "a compiling child was killed");
        return "compiling it takes more time or memory than it may".to_owned();
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim();
    said.strip_prefix("error: ").unwrap_or(said).to_owned()
}

/// The child: a component on standard input, its code on standard output.
///
/// # Errors
/// When the component does not compile within the child's limits.
pub fn child_compile_main(maker: Maker) -> io::Result<()> {
    match maker {
        Maker::Platform => limit_self(IMAGE_CPU_SECONDS_MAX, IMAGE_MEMORY_BYTES_MAX)?,
        Maker::Author => limit_self(TOOL_CPU_SECONDS_MAX, TOOL_MEMORY_BYTES_MAX)?,
    }
    let mut component = Vec::new();
    io::stdin().lock().take(COMPONENT_BYTES_MAX as u64 + 1).read_to_end(&mut component)?;
    if component.len() > COMPONENT_BYTES_MAX {
        return Err(io::Error::other("the component is too large to compile"));
    }
    structure::check(&component).map_err(io::Error::other)?;
    let code = precompile(&component).map_err(io::Error::other)?;
    io::stdout().lock().write_all(&code)
}

/// Compiles in this process: for components that are trusted.
///
/// # Errors
/// When the component is invalid or uses a feature that is switched off.
pub fn precompile(component: &[u8]) -> Result<Vec<u8>, Error> {
    let engine = engine::engine(1, Limits::MAX.memory_bytes).map_err(Error::engine)?;
    engine.precompile_component(component).map_err(|error| Error::rejected(format!("{error:#}")))
}

/// Bounds this process and everything it starts.
pub(crate) fn limit_self(cpu_seconds: u64, memory_bytes: u64) -> io::Result<()> {
    setrlimit(Resource::RLIMIT_CPU, cpu_seconds, cpu_seconds)?;
    setrlimit(Resource::RLIMIT_DATA, memory_bytes, memory_bytes)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_child_that_takes_too_much_is_killed() {
        let directory = tempfile::tempdir().unwrap();
        let command = ["/bin/sh", "-c", "ulimit -t 1; while :; do :; done"].map(str::to_owned);
        let compiler = Compiler::new(&command, Compiled::open(directory.path(), [7; 32]).unwrap());
        let error = compiler.ensure(&Digest::of(b"bomb"), b"bomb", Maker::Author).await.unwrap_err();
        assert!(error.to_string().ends_with("takes more time or memory than it may"), "{error}");
    }

    #[tokio::test]
    async fn a_refused_component_is_not_compiled_again() {
        let directory = tempfile::tempdir().unwrap();
        let tries = directory.path().join("tries");
        let script = format!("echo \"$0 $1\" >> {}; echo too odd >&2; exit 1", tries.display());
        let command = ["/bin/sh".to_owned(), "-c".to_owned(), script];
        let compiler = Compiler::new(&command, Compiled::open(directory.path(), [7; 32]).unwrap());
        for component in [b"one", b"one", b"two"] {
            let error = compiler.ensure(&Digest::of(component), component, Maker::Author).await.unwrap_err();
            assert!(error.to_string().ends_with("too odd"), "{error}");
        }
        assert_eq!(std::fs::read_to_string(&tries).unwrap(), "--author \n--author \n");
        compiler.refused.insert(Digest::of(b"one"), (Instant::now(), "until now".to_owned()));
        assert!(compiler.ensure(&Digest::of(b"one"), b"one", Maker::Platform).await.is_err());
        assert_eq!(std::fs::read_to_string(&tries).unwrap(), "--author \n--author \n/bin/sh \n");
    }
}
