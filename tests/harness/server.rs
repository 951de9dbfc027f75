//! A running `lathe serve`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Weak};
use std::time::Duration;

use nix::sys::signal::Signal;
use parking_lot::{Mutex, MutexGuard};
use tempfile::TempDir;

use super::process::Process;
use super::{PATIENCE, Request, Team, repository, seed};

static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
/// Whether the image is compiled. Guarded by the lock of the shared server.
static WARM: AtomicBool = AtomicBool::new(false);

/// Options of a private server. The defaults are those of the shared server.
#[derive(Clone, Default)]
pub struct Options {
    pub python_index: Option<String>,
    /// Uses a private cache beside the data, for tests that damage it. The compiled image is copied there first.
    pub has_own_cache: bool,
    /// `ulimit -S -f` of the server and its children: the largest file in KiB.
    pub file_kib_max: Option<u64>,
    /// The address, for a server that is started again on it.
    pub listen: Option<String>,
    /// URL of a Postgres database.
    pub database: Option<String>,
    /// The directory of another server's artifacts, used instead of an own one.
    pub artifacts: Option<PathBuf>,
    pub arguments: Vec<String>,
    pub environment: Vec<(String, String)>,
}

impl Options {
    /// Lets tools send requests to the sites of these tests.
    pub fn reaching_loopback() -> Self {
        let arguments = ["--egress-networks", "127.0.0.0/8"].map(str::to_owned).to_vec();
        Self { arguments, ..Self::default() }
    }
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
    /// Returns the server that most tests share. It stops with its last user.
    pub fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock();
        if let Some(server) = shared.upgrade() {
            return server;
        }
        let server = Arc::new(Self::start(&Options::default(), None));
        *shared = Arc::downgrade(&server);
        // Only one server compiles the image.
        if !WARM.load(Ordering::Relaxed) {
            Team::on(&server).warm_up();
            WARM.store(true, Ordering::Relaxed);
        }
        server
    }

    /// Starts a server for one test.
    pub fn private(options: &Options) -> Arc<Self> {
        let shared = Self::shared();
        let image = shared.artifacts().into_iter().max_by_key(|(_, bytes)| *bytes);
        drop(shared);
        Arc::new(Self::start(options, image.map(|(path, _)| path)))
    }

    /// Starts a server on a data directory that a test has made.
    pub fn on_data(data: &Path, options: &Options) -> Arc<Self> {
        Arc::new(Self::start_on(data, None, options))
    }

    fn start(options: &Options, image: Option<PathBuf>) -> Self {
        let directory = Arc::new(TempDir::new().expect("a directory"));
        let data = directory.path().join("data");
        seed::plant_keys(&data);
        if let Some(artifacts) = &options.artifacts {
            std::os::unix::fs::symlink(artifacts, data.join("artifacts")).expect("a link");
        }
        if let Some(image) = image.filter(|_| options.has_own_cache) {
            seed::copy_code(&image, &own_cache(&data));
        }
        Self::start_on(&data, Some(directory), options)
    }

    fn start_on(data: &Path, directory: Option<Arc<TempDir>>, options: &Options) -> Self {
        repository::require_git();
        let mut process = spawned(data, options);
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

    /// Starts another server on the same data directory. The previous one must have ended.
    pub fn restarted(&self, change: impl FnOnce(&mut Options)) -> Arc<Self> {
        let mut options = self.options.clone();
        change(&mut options);
        Arc::new(Self::start_on(&self.data, self.directory.clone(), &options))
    }

    /// Starts another server on the same data directory, and kills it after this time, ready or not.
    pub fn starts_and_is_killed(&self, after: Duration) {
        let mut process = spawned(&self.data, &self.options);
        std::thread::sleep(after);
        process.kill();
    }

    /// Returns the files of images and bundles, with their sizes.
    pub fn artifacts(&self) -> Vec<(PathBuf, u64)> {
        seed::files_below(&self.data.join("artifacts"))
    }

    /// Returns the files of compiled code in a private cache.
    pub fn compiled(&self) -> Vec<(PathBuf, u64)> {
        assert!(self.options.has_own_cache, "others use it, too");
        let mut files = seed::files_below(&own_cache(&self.data).join("compiled"));
        files.retain(|(path, _)| path.extension().is_some_and(|extension| extension == "cwasm"));
        files
    }

    /// Removes the compiled code of an image for all servers of these tests.
    pub fn forget_code(&self, image: &str) {
        seed::forget_code(image);
    }

    /// Removes the snapshots of builds for all servers of these tests.
    pub fn forget_snapshots(&self) {
        seed::forget_snapshots();
    }

    /// Removes the bundler that servers of these tests downloaded.
    pub fn forget_bundler(&self) {
        seed::forget_bundler();
    }

    /// Returns the file of the bundler that servers of these tests downloaded.
    pub fn bundler(&self) -> PathBuf {
        seed::bundler().expect("a bundler in the cache")
    }

    /// The URL of the database, if it is a server.
    pub fn database(&self) -> Option<&str> {
        self.options.database.as_deref()
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

    /// Returns the command that serves the same data on the same address.
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

    /// Kills the server with SIGKILL.
    pub fn kill(&self) {
        self.process().kill();
    }

    /// Waits until the server has ended by itself or by a signal.
    #[track_caller]
    pub fn ended(&self) -> ExitStatus {
        self.process().ended_within(PATIENCE).expect("the server ends")
    }

    pub fn process_id(&self) -> u32 {
        self.process().child().id()
    }

    /// Returns the lines of the server's log that contain `words`.
    pub fn log_about(&self, word: &str) -> String {
        let log = std::fs::read_to_string(log_file(&self.data)).unwrap_or_default();
        log.lines().filter(|line| line.contains(word)).collect::<Vec<_>>().join("\n")
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock()
    }
}

/// Stops the server and asserts that it shuts down cleanly, unless the test has stopped it.
impl Drop for Server {
    fn drop(&mut self) {
        let mut process = self.process();
        if process.ended_within(Duration::ZERO).is_some() {
            return;
        }
        process.signal(Signal::SIGTERM);
        let ended = process.ended_within(PATIENCE);
        if !std::thread::panicking() {
            assert!(ended.is_some_and(|status| status.success()), "a server with nothing to do ended with {ended:?}");
        }
    }
}

/// Makes a cache directory with the compiled image, for tests without a server.
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

/// The cache directory of a server with `has_own_cache`.
fn own_cache(data: &Path) -> PathBuf {
    data.with_file_name("cache")
}

/// Starts a server that appends to the log.
fn spawned(data: &Path, options: &Options) -> Process {
    let log = File::options().create(true).append(true).open(log_file(data)).expect("a log");
    let mut command = command(data, options);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    Process::start(command)
}

fn log_file(data: &Path) -> PathBuf {
    data.with_file_name("server.log")
}

fn command(data: &Path, options: &Options) -> Command {
    let mut command = match options.file_kib_max {
        None => Command::new(env!("CARGO_BIN_EXE_lathe")),
        Some(kib) => {
            let mut shell = Command::new("bash");
            // With SIGXFSZ ignored, a write beyond the limit returns an error, as on a full disk.
            shell.args(["-c", "trap '' XFSZ; ulimit -S -f \"$0\"; exec \"$@\""]).arg(kib.to_string());
            shell.arg(env!("CARGO_BIN_EXE_lathe"));
            shell
        }
    };
    let cache = if options.has_own_cache { own_cache(data) } else { seed::cache() };
    let listen = options.listen.as_deref().unwrap_or("127.0.0.1:0");
    command.args(["serve", "--listen", listen, "--data"]).arg(data).arg("--cache").arg(cache);
    if let Some(url) = &options.database {
        command.args(["--database", url]);
    }
    if let Some(index) = &options.python_index {
        command.args(["--python-index", index]);
    }
    if !options.arguments.iter().any(|argument| argument == "--metrics-listen") {
        command.args(["--metrics-listen", "off"]);
    }
    // Fewer than one per core, since many servers run at the same time.
    if !options.arguments.iter().any(|argument| argument == "--runners") {
        command.args(["--runners", "2"]);
    }
    // The default would let each server on Postgres end after seconds.
    if !options.arguments.iter().any(|argument| argument == "--drain-delay-seconds") {
        command.args(["--drain-delay-seconds", "0"]);
    }
    command.args(&options.arguments);
    super::lathe::clean_environment(&mut command);
    command.envs(options.environment.iter().map(|(name, value)| (name, value)));
    command.current_dir(data.parent().expect("a parent"));
    command
}
