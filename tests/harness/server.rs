//! A running `lathe serve`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::Duration;

use nix::sys::signal::Signal;
use tempfile::TempDir;

use super::process::Process;
use super::{Request, Team, repository, seed};

/// A server with nothing to do stops at once; this is for busy machines.
const STOP_TIME_MAX: Duration = Duration::from_secs(20);

static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
/// Whether the image's code is compiled. Only looked at under the lock of the shared server.
static WARM: AtomicBool = AtomicBool::new(false);

/// How a private server differs from the shared one.
#[derive(Clone, Default)]
pub struct Options {
    pub python_index: Option<String>,
    /// A cache beside its data, for tests that spoil it. It begins with the image's code.
    pub has_own_cache: bool,
    /// `ulimit -S -f` for the server and its children: no file grows beyond so many KiB.
    pub file_kib_max: Option<u64>,
    pub arguments: Vec<String>,
    pub environment: Vec<(String, String)>,
}

pub struct Server {
    pub url: String,
    data: PathBuf,
    options: Options,
    process: Mutex<Process>,
    /// Kept open, since the server may write to it.
    _stdout: BufReader<ChildStdout>,
    directory: Option<Arc<TempDir>>,
}

impl Server {
    /// The one that most tests share; it lives as long as anybody uses it.
    pub fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = shared.upgrade() {
            return server;
        }
        let server = Arc::new(Self::start(&Options::default(), None));
        *shared = Arc::downgrade(&server);
        // Not by several servers at the same time.
        if !WARM.load(Ordering::Relaxed) {
            Team::on(&server).warm_up();
            WARM.store(true, Ordering::Relaxed);
        }
        server
    }

    /// One that a test has for itself.
    pub fn private(options: &Options) -> Arc<Self> {
        let shared = Self::shared();
        let image = shared.artifacts().into_iter().max_by_key(|(_, bytes)| *bytes);
        drop(shared);
        Arc::new(Self::start(options, image.map(|(path, _)| path)))
    }

    fn start(options: &Options, image: Option<PathBuf>) -> Self {
        let directory = Arc::new(TempDir::new().expect("a directory"));
        let data = directory.path().join("data");
        seed::plant_keys(&data);
        if let Some(image) = image.filter(|_| options.has_own_cache) {
            seed::copy_code(&image, &own_cache(&data));
        }
        Self::start_on(&data, Some(directory), options)
    }

    fn start_on(data: &Path, directory: Option<Arc<TempDir>>, options: &Options) -> Self {
        repository::require_git();
        let log = File::options().create(true).append(true).open(log_file(data)).expect("a log");
        let mut command = command(data, options);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        let mut process = Process::start(command);
        let mut stdout = BufReader::new(process.child().stdout.take().expect("a pipe"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("the server's first line");
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| {
            panic!(
                "the server did not start: {line:?}\n{}",
                std::fs::read_to_string(log_file(data)).unwrap_or_default()
            )
        });
        let (url, process) = (url.to_owned(), Mutex::new(process));
        Self { url, data: data.to_owned(), options: options.clone(), process, _stdout: stdout, directory }
    }

    /// Another server on the same data directory; the old one must have ended.
    pub fn restarted(&self, change: impl FnOnce(&mut Options)) -> Arc<Self> {
        let mut options = self.options.clone();
        change(&mut options);
        Arc::new(Self::start_on(&self.data, self.directory.clone(), &options))
    }

    /// The files of images and bundles, with their sizes.
    pub fn artifacts(&self) -> Vec<(PathBuf, u64)> {
        seed::files_below(&self.data.join("artifacts"))
    }

    /// The files of compiled code in a cache of its own.
    pub fn compiled(&self) -> Vec<(PathBuf, u64)> {
        assert!(self.options.has_own_cache, "others use it, too");
        let mut files = seed::files_below(&own_cache(&self.data).join("compiled"));
        files.retain(|(path, _)| path.extension().is_some_and(|extension| extension == "cwasm"));
        files
    }

    /// Takes an image's compiled code from all servers of these tests.
    pub fn forget_code(&self, image: &str) {
        seed::forget_code(image);
    }

    /// Takes the snapshots that are kept for builds from all servers of these tests.
    pub fn forget_snapshots(&self) {
        seed::forget_snapshots();
    }

    pub fn data(&self) -> &Path {
        &self.data
    }

    pub fn address(&self) -> SocketAddr {
        self.url.trim_start_matches("http://").parse().expect("an address")
    }

    pub fn request(&self, method: &str, path: &str) -> Request<'_> {
        Request::new(self, method, path)
    }

    /// The command that serves the same data at the same address again.
    pub fn command_line(&self) -> Vec<String> {
        let command = command(&self.data, &self.options);
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let word =
            |word: &std::ffi::OsStr| word.to_str().expect("UTF-8").replace("127.0.0.1:0", &self.address().to_string());
        words.map(word).collect()
    }

    pub fn signal(&self, signal: Signal) {
        self.process().signal(signal);
    }

    /// Like a power cut, as far as a process can have one.
    pub fn kill(&self) {
        self.process().kill();
    }

    pub fn ended_within(&self, limit: Duration) -> Option<ExitStatus> {
        self.process().ended_within(limit)
    }

    pub fn process_id(&self) -> u32 {
        self.process().child().id()
    }

    /// What the server wrote to its log about something.
    pub fn log_about(&self, word: &str) -> String {
        let log = std::fs::read_to_string(log_file(&self.data)).unwrap_or_default();
        log.lines().filter(|line| line.contains(word)).collect::<Vec<_>>().join("\n")
    }

    fn process(&self) -> std::sync::MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The server must end by itself and in order, unless the test has ended it.
impl Drop for Server {
    fn drop(&mut self) {
        let mut process = self.process();
        if process.ended_within(Duration::ZERO).is_some() {
            return;
        }
        process.signal(Signal::SIGTERM);
        let ended = process.ended_within(STOP_TIME_MAX);
        if !std::thread::panicking() {
            assert!(ended.is_some_and(|status| status.success()), "a server with nothing to do ended with {ended:?}");
        }
    }
}

/// A cache home for tests without a server, in which the image's code is there already.
pub fn local_cache() -> &'static Path {
    static LOCAL: LazyLock<PathBuf> = LazyLock::new(|| {
        let (home, server) = (seed::SHARED.join("local"), Server::shared());
        let data = home.join("lathe");
        seed::plant_keys(&data);
        let image = server.artifacts().into_iter().max_by_key(|(_, bytes)| *bytes).expect("an image");
        seed::copy_code(&image.0, &data.join("cache"));
        home
    });
    &LOCAL
}

/// Where a server with `has_own_cache` keeps what it can make again.
fn own_cache(data: &Path) -> PathBuf {
    data.with_file_name("cache")
}

fn log_file(data: &Path) -> PathBuf {
    data.with_file_name("server.log")
}

fn command(data: &Path, options: &Options) -> Command {
    let mut command = match options.file_kib_max {
        None => Command::new(env!("CARGO_BIN_EXE_lathe")),
        Some(kib) => {
            let mut shell = Command::new("bash");
            // A write beyond the limit is an error then, as on a full disk, and no signal.
            shell.args(["-c", "trap '' XFSZ; ulimit -S -f \"$0\"; exec \"$@\""]).arg(kib.to_string());
            shell.arg(env!("CARGO_BIN_EXE_lathe"));
            shell
        }
    };
    let cache = if options.has_own_cache { own_cache(data) } else { seed::cache() };
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data).arg("--cache").arg(cache);
    if let Some(index) = &options.python_index {
        command.args(["--python-index", index]);
    }
    if !options.arguments.iter().any(|argument| argument == "--metrics-listen") {
        command.args(["--metrics-listen", "off"]);
    }
    // Not one for each core: many servers run beside each other.
    if !options.arguments.iter().any(|argument| argument == "--runners") {
        command.args(["--runners", "2"]);
    }
    command.args(&options.arguments);
    super::lathe::clean_environment(&mut command);
    command.envs(options.environment.iter().map(|(name, value)| (name, value)));
    command.current_dir(data.parent().expect("a parent"));
    command
}
