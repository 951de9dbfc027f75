//! Compiles components ahead of time, in a child process that can be killed.

mod attempts;
mod child;
mod maker;

use std::num::NonZero;
use std::path::Path;
use std::process::{ExitStatus, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use registry::Digest;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::sync::Mutex;
use tokio::time::Instant;

use self::attempts::Attempts;
pub(crate) use self::attempts::REFUSALS;
pub(crate) use self::child::limit_self;
use self::child::{COMPILED, REFUSED};
pub use self::child::{COMPONENT_BYTES_MAX, child_check_main, child_compile_main, precompile};
pub use self::maker::Maker;
use crate::sandbox::child_end::ChildEnd;
use crate::sandbox::code::{CodeCache, CodeStore, NativeCode};
use crate::sandbox::memory_reuse::SharedCode;
use crate::{Config, Error};

/// Time limit of a child process.
const WALL_MAX: Duration = Duration::from_secs(300);
/// Attempts of one call. A child that was killed for lack of memory mostly succeeds at once again.
const ATTEMPTS_MAX: u32 = 2;

/// Compiles components that the cache lacks, one at a time. Clones share the state.
#[derive(Clone)]
pub struct Compiler {
    command: Arc<[String]>,
    codes: CodeStore,
    attempts: Arc<Attempts>,
    read_lock: Arc<Mutex<()>>,
    compile_lock: Arc<Mutex<()>>,
}

impl Compiler {
    pub(crate) fn new(command: &[String], codes: CodeStore) -> Self {
        let (read_lock, compile_lock) = <(Arc<Mutex<()>>, Arc<Mutex<()>>)>::default();
        Self { command: command.into(), codes, attempts: Arc::default(), read_lock, compile_lock }
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
        self.codes.find_held(digest).is_some()
    }

    /// Returns a component's code. Compiles it when the cache lacks it, or holds a file that is damaged or does not load on this
    /// machine. Only then `component` is awaited.
    ///
    /// # Errors
    /// `Rejected` when the bytes are not a component or cost too much to compile; `ProcessLost` when the child was killed or could
    /// not be started, and the next attempt may succeed; and the error of `component`.
    pub async fn ready<E: From<Error>>(
        &self,
        digest: &Digest,
        maker: Maker,
        component: impl Future<Output = Result<Vec<u8>, E>>,
    ) -> Result<Arc<NativeCode>, E> {
        if let Some(code) = self.codes.find_held(digest) {
            return Ok(code);
        }
        if let Some(code) = self.read_cached(digest).await {
            return Ok(code);
        }
        let key = (*digest, maker);
        if let Some(pause) = self.attempts.compute_pause(&key, Instant::now()) {
            tokio::time::sleep(pause).await;
        }
        let _locked = self.compile_lock.lock().await;
        if let Some(code) = self.codes.find_held(digest) {
            return Ok(code); // compiled while this call waited
        }
        if let Some(reason) = self.attempts.find_refusal(&key, Instant::now()) {
            return Err(Error::rejected(reason).into()); // refused while this call waited
        }
        if self.attempts.compute_pause(&key, Instant::now()).is_some() {
            return Err(Error::process_lost(COMPILING, "an attempt has just failed").into());
        }
        let component = component.await?;
        let shared = build_shared_code(&component, maker).await;
        let code = match shared.as_ref().and_then(|shared| shared.find(&self.codes)) {
            Some(code) => code,
            None => {
                tracing::info!(%digest, "a component is compiled");
                self.compile(&component, maker)
                    .await
                    .inspect_err(|error| self.attempts.add(key, error, Instant::now()))?
            }
        };
        self.attempts.forget(&key);
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
        self.codes.open_cache_at(directory)
    }

    /// Removes code from the cache. Holders of the code keep it, and it is compiled again when needed.
    pub fn forget(&self, digest: &Digest) {
        self.codes.forget(digest);
    }

    /// Returns code from the cache, when it loads on this machine.
    async fn read_cached(&self, digest: &Digest) -> Option<Arc<NativeCode>> {
        let _locked = self.read_lock.lock().await;
        let codes = self.codes.clone();
        if let Some(code) = codes.find_held(digest) {
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
        let stdin = code.clone_descriptor().map_err(|error| error.to_string())?;
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
        if output.status.success() { Ok(()) } else { Err(format!("{}: {}", output.status, read_stderr(&output))) }
    }

    /// Compiles a component, again if the child was killed.
    async fn compile(&self, component: &[u8], maker: Maker) -> Result<Vec<u8>, Error> {
        for _ in 1..ATTEMPTS_MAX {
            match self.compile_once(component, maker).await {
                Err(error @ Error::ProcessLost { .. }) => tracing::warn!(%error, "compiling is tried again"),
                ended => return ended,
            }
        }
        self.compile_once(component, maker).await
    }

    async fn compile_once(&self, component: &[u8], maker: Maker) -> Result<Vec<u8>, Error> {
        let [program, arguments @ ..] = &*self.command else {
            return Err(Error::internal("no compiler is configured"));
        };
        let mut child = Command::new(program)
            .args(arguments)
            .args((maker == Maker::Author).then_some("--author"))
            .env_clear()
            .env(THREADS_VARIABLE, count_threads(maker).to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| report_lost(format!("cannot start {program}: {error}")))?;
        let mut input = child.stdin.take().ok_or_else(|| Error::internal("no pipe to the child"))?;
        let feed = async move { input.write_all(component).await };
        let both = async { tokio::join!(feed, child.wait_with_output()).1 };
        let output = tokio::time::timeout(WALL_MAX, both)
            .await
            .map_err(|_| report_lost(format!("it took longer than {} s", WALL_MAX.as_secs())))?
            .map_err(|error| report_lost(error.to_string()))?;
        read_code(output)
    }
}

/// Threads that compile for an author, whose component must not take the cores of others.
const AUTHOR_THREADS: usize = 1;
/// Threads that compile an image, on which every tool of its language waits. Each needs some megabytes of the child's memory, and
/// more threads than functions of similar size wait for each other.
const IMAGE_THREADS_MAX: usize = 8;
/// The variable from which Wasmtime's thread pool takes its size.
const THREADS_VARIABLE: &str = "RAYON_NUM_THREADS";

fn count_threads(maker: Maker) -> usize {
    match maker {
        Maker::Author => AUTHOR_THREADS,
        Maker::Platform => std::thread::available_parallelism().map_or(1, NonZero::get).min(IMAGE_THREADS_MAX),
    }
}

/// The work of the child, in messages.
const COMPILING: &str = "compiling code";

fn report_lost(reason: impl Into<String>) -> Error {
    Error::process_lost(COMPILING, reason)
}

/// The compiled code in the child's output, or the reason why there is none.
fn read_code(mut output: Output) -> Result<Vec<u8>, Error> {
    match (ChildEnd::of(output.status), output.stdout.pop()) {
        (ChildEnd::Succeeded, Some(COMPILED)) => Ok(output.stdout),
        (ChildEnd::Succeeded, Some(REFUSED)) => Err(Error::rejected(String::from_utf8_lossy(&output.stdout))),
        (ChildEnd::LimitReached, _) => {
            tracing::warn!(status = %output.status, "a compiling child reached its limits");
            Err(Error::rejected("compiling the component takes more time or memory than the limit"))
        }
        _ => Err(report_lost(describe(output.status, &output))),
    }
}

fn describe(status: ExitStatus, output: &Output) -> String {
    match read_stderr(output) {
        text if text.is_empty() => status.to_string(),
        text => format!("{status}: {text}"),
    }
}

fn read_stderr(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let text = text.trim();
    text.strip_prefix("error: ").unwrap_or(text).to_owned()
}

/// Describes the code that an image shares with its snapshots. Reads some megabytes, on a blocking thread.
async fn build_shared_code(component: &[u8], maker: Maker) -> Option<SharedCode> {
    if maker != Maker::Platform {
        return None;
    }
    let component = component.to_vec();
    tokio::task::spawn_blocking(move || SharedCode::of(&component)).await.ok()?
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
        let compiler = compiler(directory.path(), "ulimit -S -t 1; while :; do :; done");
        let error = ready(&compiler, b"bomb", Maker::Author).await.unwrap_err();
        assert!(error.to_string().ends_with("takes more time or memory than the limit"), "{error}");
    }

    #[tokio::test]
    async fn a_refused_component_is_not_compiled_again() {
        let directory = tempfile::tempdir().unwrap();
        let tries = directory.path().join("tries");
        let script = format!("echo \"$0 $1\" >> {}; printf 'too oddr'", tries.display());
        let compiler = compiler(directory.path(), &script);
        for component in [b"one", b"one", b"two"] {
            let error = ready(&compiler, component, Maker::Author).await.unwrap_err();
            assert!(error.to_string().ends_with("too odd"), "{error}");
        }
        assert_eq!(std::fs::read_to_string(&tries).unwrap(), "--author \n--author \n");
        // The limits of the platform's components are others.
        assert!(ready(&compiler, b"one", Maker::Platform).await.is_err());
        assert_eq!(std::fs::read_to_string(&tries).unwrap(), "--author \n--author \n/bin/sh \n");
        compiler.attempts.forget(&(Digest::of(b"one"), Maker::Author));
        assert!(ready(&compiler, b"one", Maker::Author).await.is_err());
        assert_eq!(std::fs::read_to_string(&tries).unwrap(), "--author \n--author \n/bin/sh \n--author \n");
    }

    /// A script that fails as often as a file has lines, and then compiles.
    fn failing(directory: &Path, failure: &str, times: usize) -> String {
        let left = directory.join("left");
        std::fs::write(&left, "x\n".repeat(times)).unwrap();
        let left = left.display();
        format!("cat >/dev/null; if [ -s {left} ]; then sed -i 1d {left}; {failure}; fi; printf codec")
    }

    #[tokio::test]
    async fn a_child_that_was_killed_once_is_started_again() {
        for failure in ["kill -KILL $$", "kill -TERM $$", "echo no space >&2; exit 1", "printf half; exit 0"] {
            let directory = tempfile::tempdir().unwrap();
            let compiler = compiler(directory.path(), &failing(directory.path(), failure, 1));
            ready(&compiler, b"one", Maker::Platform).await.unwrap_or_else(|error| panic!("{failure}: {error}"));
        }
    }

    #[tokio::test]
    async fn a_passing_failure_is_no_property_of_the_component() {
        let directory = tempfile::tempdir().unwrap();
        let compiler = compiler(directory.path(), &failing(directory.path(), "kill -KILL $$", 2));
        let error = ready(&compiler, b"one", Maker::Platform).await.unwrap_err();
        assert!(matches!(error, Error::ProcessLost { .. }), "{error}");
        assert_eq!(error.kind(), crate::ErrorKind::Unavailable);
        // The next call waits for the pause, and compiles.
        ready(&compiler, b"one", Maker::Platform).await.unwrap();
    }

    #[tokio::test]
    async fn a_program_that_does_not_start_is_tried_again() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("compiler");
        let command = [program.to_str().unwrap().to_owned()];
        let compiler = Compiler::new(&command, CodeStore::new(CodeCache::open(directory.path(), [7; 32]).unwrap()));
        let error = ready(&compiler, b"one", Maker::Platform).await.unwrap_err();
        assert!(matches!(error, Error::ProcessLost { .. }), "{error}");
        std::os::unix::fs::symlink("/bin/sh", &program).unwrap();
        assert!(ready(&compiler, b"cat >/dev/null; printf codec", Maker::Platform).await.is_ok());
    }

    /// Later processes find code that the first one compiled.
    #[tokio::test]
    async fn code_that_does_not_load_is_compiled_again() {
        let directory = tempfile::tempdir().unwrap();
        let tries = directory.path().join("tries");
        for (loads, expected) in [("true", "compiled\n"), ("true", ""), ("false", "compiled\n")] {
            let compile = format!("cat >/dev/null; echo compiled >> {}; printf codec", tries.display());
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
