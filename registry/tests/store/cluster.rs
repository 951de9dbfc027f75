//! A Postgres server for tests, which ends with its value.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// Checks whether a server has started, 20 ms apart: at least a minute, also for a slow machine.
const START_CHECKS_MAX: u32 = 3_000;

pub struct Cluster {
    child: Child,
    folder: TempDir,
    programs: PathBuf,
    port: u16,
}

impl Cluster {
    /// Creates and starts a server. `None` when Postgres is not installed; that is a failure with `CI=true`.
    pub fn start() -> Option<Self> {
        Self::start_with(|_| {})
    }

    /// Starts a server after a change of its new data directory.
    pub fn start_with(prepare: impl FnOnce(&Path)) -> Option<Self> {
        let Some(programs) = programs() else {
            assert!(std::env::var_os("CI").is_none(), "Postgres is not installed: `apt-get install postgresql`");
            eprintln!("skipped: Postgres is not installed");
            return None;
        };
        let folder = tempfile::tempdir_in(fast_folder()).expect("a folder");
        own(folder.path());
        let created = confined(&programs.join("initdb"))
            .args(["--auth=trust", "--username=lathe", "--encoding=UTF8", "--locale=C", "--no-sync", "--pgdata"])
            .arg(folder.path().join("data"))
            .stdout(Stdio::null())
            .status();
        assert!(created.expect("initdb").success(), "initdb failed");
        prepare(&folder.path().join("data"));
        let port = free_port();
        let child = serve(&programs, folder.path(), port);
        let cluster = Self { child, folder, programs, port };
        cluster.wait();
        Some(cluster)
    }

    /// The URL of a database of the server.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://lathe@127.0.0.1:{}/{database}", self.port)
    }

    /// Kills the server and starts it again.
    pub fn crash(&mut self) {
        self.restart("-QUIT", Duration::ZERO);
    }

    /// Ends the server by a signal, and starts it again after a time.
    pub fn restart(&mut self, signal: &str, after: Duration) {
        self.signal(signal);
        let _ = self.child.wait();
        std::thread::sleep(after);
        self.child = serve(&self.programs, self.folder.path(), self.port);
        self.wait();
    }

    /// Sends a signal to the server. `-QUIT` ends it at once, as a crash does, and without orphans.
    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill").arg(signal).arg(self.child.id().to_string()).status();
        assert!(sent.expect("kill").success());
    }

    fn wait(&self) {
        let is_ready = || {
            let ready = Command::new(self.programs.join("pg_isready"))
                .args(["--quiet", "--host=127.0.0.1", "--port", &self.port.to_string()])
                .status();
            ready.is_ok_and(|status| status.success())
        };
        for _ in 0..START_CHECKS_MAX {
            if is_ready() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("Postgres did not start");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.signal("-QUIT");
        let _ = self.child.wait();
    }
}

/// Commits are flushed, as Lathe requires.
fn serve(programs: &Path, folder: &Path, port: u16) -> Child {
    let log = fs::File::options().create(true).append(true).open(folder.join("log")).expect("a log");
    confined(&programs.join("postgres"))
        .arg("-D")
        .arg(folder.join("data"))
        .args(["-p", &port.to_string(), "-h", "127.0.0.1", "-c", "max_connections=300", "-c"])
        .arg(format!("unix_socket_directories={}", folder.display()))
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("Postgres")
}

/// Postgres refuses to run as root.
fn confined(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    if let Some((user, group)) = other_user() {
        command.uid(user).gid(group).current_dir("/");
    }
    command
}

/// Gives a file or folder to the user of the server.
pub fn own(path: &Path) {
    if let Some((user, group)) = other_user() {
        chown(path, Some(user), Some(group)).expect("an owner");
    }
}

/// The user `postgres` or `nobody`, when the tests run as root.
fn other_user() -> Option<(u32, u32)> {
    let is_root = nix::unistd::geteuid().is_root();
    let find = |name| nix::unistd::User::from_name(name).ok().flatten();
    let user = is_root.then(|| find("postgres").or_else(|| find("nobody")).expect("a user"))?;
    Some((user.uid.as_raw(), user.gid.as_raw()))
}

/// The folder of the newest installed version, as Debian has them, or of the programs on the path.
fn programs() -> Option<PathBuf> {
    let debian =
        fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|entry| entry.path().join("bin"));
    let version = |folder: &PathBuf| folder.parent()?.file_name()?.to_str()?.parse::<u32>().ok();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let newest = debian.filter(|folder| folder.join("initdb").exists()).max_by_key(version);
    newest.or_else(|| std::env::split_paths(&path).find(|folder| folder.join("initdb").exists()))
}

/// A folder in memory, where flushes take no time.
fn fast_folder() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}

pub fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}
