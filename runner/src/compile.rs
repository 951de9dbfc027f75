//! Compiling a component ahead of time, in a child that can be killed.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use nix::sys::resource::{Resource, setrlimit};
use registry::Digest;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::sync::Mutex;

use crate::cache::Compiled;
use crate::{Error, Limits, engine, structure};

/// The Python image takes about 12 CPU seconds on a slow core, in a debug build 60.
const CPU_SECONDS_MAX: u64 = 240;
const WALL_MAX: Duration = Duration::from_secs(300);
/// The Python image takes about 450 MB.
const MEMORY_BYTES_MAX: u64 = 2 << 30;
/// The largest component that is compiled: the image with room to grow.
pub const COMPONENT_BYTES_MAX: usize = 64 << 20;

/// Compiles what is missing in the cache, one component at a time.
#[derive(Debug, Clone)]
pub struct Compiler {
    command: Arc<[String]>,
    compiled: Compiled,
    /// What this process has read through once; reading 30 MB again proves nothing.
    verified: Arc<DashMap<Digest, ()>>,
    one_at_a_time: Arc<Mutex<()>>,
}

impl Compiler {
    pub(crate) fn new(command: &[String], compiled: Compiled) -> Self {
        Self { command: command.into(), compiled, verified: Arc::default(), one_at_a_time: Arc::default() }
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
    pub async fn ensure(&self, digest: &Digest, component: &[u8]) -> Result<(), Error> {
        if self.has(digest) {
            return Ok(());
        }
        let _turn = self.one_at_a_time.lock().await;
        if self.has(digest) {
            return Ok(()); // the one before us compiled it
        }
        let code = self.compile(component).await?;
        self.compiled.keep(digest, &code)?;
        Ok(())
    }

    async fn compile(&self, component: &[u8]) -> Result<Vec<u8>, Error> {
        let [program, arguments @ ..] = &*self.command else {
            return Err(Error::internal("no compiler is configured"));
        };
        let mut child = Command::new(program)
            .args(arguments)
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
            let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(Error::rejected(format!("{}: {reason}", output.status)));
        }
        Ok(output.stdout)
    }
}

/// The child: a component on standard input, its code on standard output.
///
/// # Errors
/// When the component does not compile within the child's limits.
pub fn child_compile_main() -> io::Result<()> {
    limit_self(CPU_SECONDS_MAX, MEMORY_BYTES_MAX)?;
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
