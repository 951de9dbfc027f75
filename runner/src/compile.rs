//! Compiles components ahead of time, in a child process that can be killed.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use nix::sys::resource::{Resource, setrlimit};
use registry::{ByteCache, CacheBound, Digest, HeapBytes};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::sync::Mutex;

use crate::code_cache::CodeCache;
use crate::code_store::{CodeStore, NativeCode};
use crate::component_memory::{AUTHOR_MEMORY_BYTES_MAX, PLATFORM_MEMORY_BYTES_MAX};
use crate::memory_reuse::{self, SharedCode};
use crate::{Config, Error, structure};

/// CPU time for an image. The Python image takes about 12 s on a slow core, and 60 s in a debug build.
const IMAGE_CPU_SECONDS_MAX: u64 = 240;
/// Memory for an image. The Python image takes about 450 MB.
const IMAGE_MEMORY_BYTES_MAX: u64 = 2 << 30;
/// CPU time for an author's component. A tool of a megabyte takes less than two seconds.
const TOOL_CPU_SECONDS_MAX: u64 = 30;
/// Memory for an author's component.
const TOOL_MEMORY_BYTES_MAX: u64 = 1 << 30;
/// Time limit of a child process.
const WALL_MAX: Duration = Duration::from_secs(300);
/// Time for which a refused component is not compiled again. Each attempt may take all of its time, and there is one at a time.
const REFUSAL_TTL: Duration = Duration::from_secs(600);
/// Refusals of some 2,000 components, with their reasons.
pub(crate) const REFUSALS: CacheBound = CacheBound { name: "refused components", bytes_max: 1 << 20 };
/// Size of a component; images are smaller, and can grow.
pub const COMPONENT_BYTES_MAX: usize = 64 << 20;

/// Maker of a component, which determines what compiling it may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Maker {
    /// The platform, for a language's image.
    Platform,
    /// The author of a tool.
    Author,
}

impl HeapBytes for Maker {
    fn heap_bytes(&self) -> usize {
        0
    }
}

/// Compiles components that the cache lacks, one at a time. Clones share the state.
#[derive(Clone)]
pub struct Compiler {
    command: Arc<[String]>,
    codes: CodeStore,
    /// Refused components, with the reason of the refusal.
    refused: Arc<ByteCache<(Digest, Maker), String>>,
    read_lock: Arc<Mutex<()>>,
    compile_lock: Arc<Mutex<()>>,
}

impl Compiler {
    pub(crate) fn new(command: &[String], codes: CodeStore) -> Self {
        let (read_lock, compile_lock) = <(Arc<Mutex<()>>, Arc<Mutex<()>>)>::default();
        let refused = Arc::new(ByteCache::new(REFUSALS).with_ttl(REFUSAL_TTL));
        Self { command: command.into(), codes, refused, read_lock, compile_lock }
    }

    /// Makes a compiler for a process that runs no components.
    ///
    /// # Errors
    /// When the cache cannot be used.
    pub fn open(config: &Config) -> Result<Self, Error> {
        let codes = CodeStore::new(CodeCache::open(&config.cache_dir, config.cache_key)?);
        Ok(Self::new(&config.compiler, codes))
    }

    /// Returns whether this process holds the component's code.
    pub(crate) fn holds(&self, digest: &Digest) -> bool {
        self.codes.held(digest).is_some()
    }

    /// Returns a component's code. Compiles it when the cache lacks it, or holds a file that is damaged or does not load on this
    /// machine. Only then `component` is awaited.
    ///
    /// # Errors
    /// `Rejected` when the bytes are not a component or cost too much to compile; and the error of `component`.
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
        let _locked = self.compile_lock.lock().await;
        if let Some(code) = self.codes.held(digest) {
            return Ok(code); // compiled while this call waited
        }
        if let Some(reason) = self.refusal((*digest, maker)) {
            return Err(Error::rejected(reason).into()); // refused while this call waited
        }
        let component = component.await?;
        let shared = shared_code(&component, maker).await;
        let code = match shared.as_ref().and_then(|shared| shared.find(&self.codes)) {
            Some(code) => code,
            None => {
                tracing::info!(%digest, "a component is compiled");
                self.compile(&component, maker).await.inspect_err(|error| self.remember((*digest, maker), error))?
            }
        };
        let native = self.codes.keep(digest, &code)?;
        if let Some(shared) = shared {
            shared.remember(&self.codes, digest);
        }
        Ok(native)
    }

    /// The same compiler with an empty cache in another directory, and without memory of refusals.
    ///
    /// # Errors
    /// When the directory cannot be made.
    pub fn with_empty_cache(&self, directory: &Path) -> Result<Self, Error> {
        Ok(Self::new(&self.command, CodeStore::new(self.cache_at(directory)?)))
    }

    /// Opens another authenticated cache under the same key.
    ///
    /// # Errors
    /// When the directory cannot be made.
    pub fn cache_at(&self, directory: &Path) -> Result<CodeCache, Error> {
        self.codes.cache_at(directory)
    }

    /// Removes code from the cache. Holders of the code keep it, and it is compiled again when needed.
    pub fn forget(&self, digest: &Digest) {
        self.codes.forget(digest);
    }

    /// Returns code from the cache, when it loads on this machine.
    async fn cached(&self, digest: &Digest) -> Option<Arc<NativeCode>> {
        let _locked = self.read_lock.lock().await;
        let codes = self.codes.clone();
        if let Some(code) = codes.held(digest) {
            return Some(code); // read while this call waited
        }
        let name = *digest;
        let code = tokio::task::spawn_blocking(move || codes.read(&name)).await.ok()??;
        match self.check(&code).await {
            Ok(()) => Some(self.codes.hold(digest, code)),
            Err(problem) => {
                tracing::warn!(%digest, problem, "compiled code does not load on this machine and is not used");
                None
            }
        }
    }

    /// Checks that verified code can be loaded: another release may have made it, or a processor with more features. A child
    /// process loads it, since this process loads no guest's code.
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
        let output = tokio::time::timeout(WALL_MAX, checked).await.map_err(|_| "the check took too long".to_owned())?;
        let output = output.map_err(|error| error.to_string())?;
        if output.status.success() { Ok(()) } else { Err(format!("{}: {}", output.status, stderr_text(&output))) }
    }

    fn refusal(&self, component: (Digest, Maker)) -> Option<String> {
        self.refused.get(&component)
    }

    fn remember(&self, component: (Digest, Maker), error: &Error) {
        if let Error::Rejected { reason } = error {
            self.refused.insert(component, reason.clone());
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

/// The child's error message, or the reason for which it was killed.
fn reason(output: &Output) -> String {
    if output.status.code().is_none() {
        tracing::warn!(status = %output.status, "a compiling child was killed");
        return "compiling the component takes more time or memory than the limit".to_owned();
    }
    stderr_text(output)
}

fn stderr_text(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let text = text.trim();
    text.strip_prefix("error: ").unwrap_or(text).to_owned()
}

/// Describes the code that an image shares with its snapshots. Reads some megabytes, on a blocking thread.
async fn shared_code(component: &[u8], maker: Maker) -> Option<SharedCode> {
    if maker != Maker::Platform {
        return None;
    }
    let component = component.to_vec();
    tokio::task::spawn_blocking(move || SharedCode::of(&component)).await.ok()?
}

/// Main of the child that checks compiled code, whose open file is its standard input.
///
/// # Errors
/// When this release cannot load the code on this machine.
pub fn child_check_main() -> io::Result<()> {
    limit_self(IMAGE_CPU_SECONDS_MAX, IMAGE_MEMORY_BYTES_MAX)?;
    let code = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    // SAFETY: the parent has verified the file, and its code is not executed.
    unsafe { memory_reuse::check(&code) }.map_err(io::Error::other)
}

/// Main of the child that compiles: reads a component from standard input, writes its code to standard output.
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
        return Err(io::Error::other(format!(
            "the component has more than {COMPONENT_BYTES_MAX} bytes, which is the limit"
        )));
    }
    structure::check(&component).map_err(io::Error::other)?;
    let code = precompile(&component, maker).map_err(io::Error::other)?;
    io::stdout().lock().write_all(&code)
}

/// Compiles a trusted component in this process.
///
/// # Errors
/// When the component is invalid or uses a disabled feature.
pub fn precompile(component: &[u8], maker: Maker) -> Result<Vec<u8>, Error> {
    let memory_bytes_max = match maker {
        Maker::Platform => PLATFORM_MEMORY_BYTES_MAX,
        Maker::Author => AUTHOR_MEMORY_BYTES_MAX,
    };
    memory_reuse::compile(component, memory_bytes_max)
}

/// Limits CPU time and memory of this process and its children.
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
        Compiler::new(&command, CodeStore::new(CodeCache::open(directory, [7; 32]).unwrap()))
    }

    async fn ready(compiler: &Compiler, component: &[u8], maker: Maker) -> Result<Arc<NativeCode>, Error> {
        compiler.ready(&Digest::of(component), maker, async { Ok(component.to_vec()) }).await
    }

    #[tokio::test]
    async fn a_child_beyond_its_limits_is_killed() {
        let directory = tempfile::tempdir().unwrap();
        let compiler = compiler(directory.path(), "ulimit -t 1; while :; do :; done");
        let error = ready(&compiler, b"bomb", Maker::Author).await.unwrap_err();
        assert!(error.to_string().ends_with("takes more time or memory than the limit"), "{error}");
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
        // The limits of the platform's components are others.
        assert!(ready(&compiler, b"one", Maker::Platform).await.is_err());
        assert_eq!(std::fs::read_to_string(&tries).unwrap(), "--author \n--author \n/bin/sh \n");
        compiler.refused.remove(&(Digest::of(b"one"), Maker::Author));
        assert!(ready(&compiler, b"one", Maker::Author).await.is_err());
        assert_eq!(std::fs::read_to_string(&tries).unwrap(), "--author \n--author \n/bin/sh \n--author \n");
    }

    /// Later processes find code that the first one compiled.
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
