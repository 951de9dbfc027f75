//! Compiling a component ahead of time, in a child that can be killed.

mod twin;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
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
use crate::codes::{Codes, NativeCode};
use crate::engine::{self, Room};
use crate::{Config, Error, packed, split, structure};

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
#[derive(Clone)]
pub struct Compiler {
    command: Arc<[String]>,
    codes: Codes,
    /// Until when, and why.
    refused: Arc<DashMap<Digest, (Instant, String)>>,
    one_reads: Arc<Mutex<()>>,
    one_compiles: Arc<Mutex<()>>,
}

impl Compiler {
    pub(crate) fn new(command: &[String], codes: Codes) -> Self {
        let (one_reads, one_compiles) = <(Arc<Mutex<()>>, Arc<Mutex<()>>)>::default();
        Self { command: command.into(), codes, refused: Arc::default(), one_reads, one_compiles }
    }

    /// That of a process that runs nothing.
    ///
    /// # Errors
    /// When the cache cannot be used.
    pub fn open(config: &Config) -> Result<Self, Error> {
        let codes = Codes::new(Compiled::open(&config.cache_dir, config.cache_key)?);
        Ok(Self::new(&config.compiler, codes))
    }

    /// Whether this process has the component's code.
    pub(crate) fn has(&self, digest: &Digest) -> bool {
        self.codes.holds(digest)
    }

    /// A component's code. It is compiled when it is not in the cache, or is damaged there, or does not load on this
    /// machine; only then `component` is asked for its bytes.
    ///
    /// # Errors
    /// `Rejected` when the component is no component or too costly to compile; and what `component` says.
    pub async fn ready<E: From<Error>>(
        &self,
        digest: &Digest,
        maker: Maker,
        component: impl Future<Output = Result<Vec<u8>, E>>,
    ) -> Result<Arc<NativeCode>, E> {
        if let Some(code) = self.codes.held(digest) {
            return Ok(code);
        }
        if let Some(code) = self.cached(digest).await {
            return Ok(code);
        }
        let _turn = self.one_compiles.lock().await;
        if let Some(code) = self.codes.held(digest) {
            return Ok(code); // the one before us compiled it
        }
        if let Some(reason) = self.refusal(digest) {
            return Err(Error::rejected(reason).into()); // or was refused
        }
        let component = component.await?;
        let kin = self.kin(&component, maker).await;
        let code = match kin.as_ref().and_then(|kin| self.codes.of_kin(kin)) {
            Some(code) => code,
            None => {
                tracing::info!(%digest, "a component is compiled");
                self.compile(&component, maker).await.inspect_err(|error| self.remember(digest, error))?
            }
        };
        let native = self.codes.keep(digest, &code)?;
        if let Some(kin) = kin {
            self.codes.keep_kin(digest, &kin);
        }
        Ok(native)
    }

    /// A directory for what else this node keeps and has to find as it was.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn shelf(&self, directory: &Path) -> Result<Compiled, Error> {
        self.codes.shelf(directory)
    }

    /// Takes code out of the cache. Who has it keeps it, and it is made again when it is wanted.
    pub fn forget(&self, digest: &Digest) {
        self.codes.forget(digest);
    }

    /// What is in the cache, if it is of use here.
    async fn cached(&self, digest: &Digest) -> Option<Arc<NativeCode>> {
        let _turn = self.one_reads.lock().await;
        let codes = self.codes.clone();
        if let Some(code) = codes.held(digest) {
            return Some(code); // the one before us read it
        }
        let of = *digest;
        let code = tokio::task::spawn_blocking(move || codes.read(&of)).await.ok()??;
        match self.check(&code).await {
            Ok(()) => Some(self.codes.hold(digest, code)),
            Err(problem) => {
                tracing::warn!(%digest, problem, "compiled code does not load on this machine and is not used");
                None
            }
        }
    }

    /// Whether code that verifies can be loaded: another release may have made it, or a processor that can do more. A
    /// child looks, since no guest's code is loaded into this process.
    async fn check(&self, code: &NativeCode) -> Result<(), String> {
        let [program, arguments @ ..] = &*self.command else { return Err("no compiler is configured".into()) };
        let stdin = code.descriptor().map_err(|error| error.to_string())?;
        let checked = Command::new(program)
            .args(arguments)
            .arg("--check")
            .env_clear()
            .stdin(Stdio::from(stdin))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(WALL_MAX, checked).await.map_err(|_| "it takes too long".to_owned())?;
        let output = output.map_err(|error| error.to_string())?;
        if output.status.success() { Ok(()) } else { Err(format!("{}: {}", output.status, said(&output))) }
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
    said(output)
}

fn said(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim();
    said.strip_prefix("error: ").unwrap_or(said).to_owned()
}

/// The child that looks at code: the open file is its standard input.
///
/// # Errors
/// When this release cannot load it on this machine.
pub fn child_check_main() -> io::Result<()> {
    limit_self(IMAGE_CPU_SECONDS_MAX, IMAGE_MEMORY_BYTES_MAX)?;
    let code = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    // SAFETY: the parent has verified the file, and nothing of it is run.
    unsafe { engine::check(&code) }.map_err(io::Error::other)
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
    let code = precompile(&component, maker).map_err(io::Error::other)?;
    io::stdout().lock().write_all(&code)
}

/// Compiles in this process: for components that are trusted. What its memory begins with is kept beside the code, where that
/// is known.
///
/// # Errors
/// When the component is invalid or uses a feature that is switched off.
pub fn precompile(component: &[u8], maker: Maker) -> Result<Vec<u8>, Error> {
    let engine = engine::engine(Room::new(1)).map_err(Error::engine)?;
    let bytes_max = match maker {
        Maker::Platform => split::PLATFORM_BYTES_MAX,
        Maker::Author => split::AUTHOR_BYTES_MAX,
    };
    let split = split::split(component, bytes_max).map_err(|error| Error::rejected(error.to_string()))?;
    let (component, image) = split.as_ref().map_or((component, &[][..]), |split| (&split.component, &split.image));
    let code = engine.precompile_component(component).map_err(|error| Error::rejected(format!("{error:#}")))?;
    Ok(packed::pack(code, image))
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

    fn compiler(directory: &Path, script: &str) -> Compiler {
        let command = ["/bin/sh", "-c", script].map(str::to_owned);
        Compiler::new(&command, Codes::new(Compiled::open(directory, [7; 32]).unwrap()))
    }

    async fn ready(compiler: &Compiler, component: &[u8], maker: Maker) -> Result<Arc<NativeCode>, Error> {
        compiler.ready(&Digest::of(component), maker, async { Ok(component.to_vec()) }).await
    }

    #[tokio::test]
    async fn a_child_that_takes_too_much_is_killed() {
        let directory = tempfile::tempdir().unwrap();
        let compiler = compiler(directory.path(), "ulimit -t 1; while :; do :; done");
        let error = ready(&compiler, b"bomb", Maker::Author).await.unwrap_err();
        assert!(error.to_string().ends_with("takes more time or memory than it may"), "{error}");
    }

    #[tokio::test]
    async fn a_refused_component_is_not_compiled_again() {
        let directory = tempfile::tempdir().unwrap();
        let tries = directory.path().join("tries");
        let script = format!("echo \"$0 $1\" >> {}; echo too odd >&2; exit 1", tries.display());
        let compiler = compiler(directory.path(), &script);
        for component in [b"one", b"one", b"two"] {
            let error = ready(&compiler, component, Maker::Author).await.unwrap_err();
            assert!(error.to_string().ends_with("too odd"), "{error}");
        }
        assert_eq!(std::fs::read_to_string(&tries).unwrap(), "--author \n--author \n");
        compiler.refused.insert(Digest::of(b"one"), (Instant::now(), "until now".to_owned()));
        assert!(ready(&compiler, b"one", Maker::Platform).await.is_err());
        assert_eq!(std::fs::read_to_string(&tries).unwrap(), "--author \n--author \n/bin/sh \n");
    }

    /// A process that comes later, with what the first one compiled.
    #[tokio::test]
    async fn code_that_does_not_load_is_compiled_again() {
        let directory = tempfile::tempdir().unwrap();
        let tries = directory.path().join("tries");
        for (loads, expected) in [("true", "compiled\n"), ("true", ""), ("false", "compiled\n")] {
            let compile = format!("cat >/dev/null; echo compiled >> {}", tries.display());
            let script = format!("if [ \"$0\" = --check ]; then {loads}; else {compile}; fi");
            std::fs::write(&tries, "").unwrap();
            let compiler = compiler(directory.path(), &script);
            for _ in 0..2 {
                ready(&compiler, b"one", Maker::Platform).await.unwrap();
            }
            assert_eq!(std::fs::read_to_string(&tries).unwrap(), expected, "{loads}");
        }
    }
}
