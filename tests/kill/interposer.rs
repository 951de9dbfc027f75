//! Failing calls of the server: `interposer.c`, loaded into the server, and the plan that both share.
//!
//! strace can inject errors, too, but counts the calls of each thread on its own and cannot select a directory.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use nix::errno::Errno;
use tempfile::TempDir;

use crate::harness::{Options, Server};

/// Kinds of calls, as bits.
pub const OPEN: u64 = 1;
pub const WRITE: u64 = 2;
pub const SYNC: u64 = 4;
/// Changes of names: renamed, linked, removed files and new directories.
pub const NAME: u64 = 8;
/// Opened files that may be new.
pub const CREATE: u64 = 16;

/// Offsets in the plan, as in `interposer.c`.
const LOADED: u64 = 0;
const KINDS: u64 = 8;
const FIRST: u64 = 16;
const COUNT: u64 = 24;
const ERROR: u64 = 32;
const CALLS: u64 = 40;
const STRUCK: u64 = 48;
const PLACE: u64 = 56;
const BELOW: u64 = 256;
const PLAN_BYTES: u64 = 512;

static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/kill/interposer.c");
    let (made, library) =
        (directory.join(format!("interposer-{}", std::process::id())), directory.join("interposer.so"));
    let compiled =
        Command::new("cc").args(["-O1", "-shared", "-fPIC", "-o"]).arg(&made).arg(source).arg("-ldl").status();
    assert!(compiled.is_ok_and(|status| status.success()), "these tests need a C compiler: apt-get install gcc");
    // Another test process may use the library now.
    std::fs::rename(made, &library).expect("a library");
    library
});

/// Calls that fail.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    pub kinds: u64,
    /// The number of the first call that fails, from 1 on.
    pub first: u64,
    pub count: u64,
    /// The error; `None` kills the process instead.
    pub error: Option<Errno>,
}

/// The plan of a server's failing calls.
pub struct Interposer {
    directory: TempDir,
    plan: File,
}

impl Interposer {
    pub fn new() -> Self {
        let directory = TempDir::new().expect("a directory");
        let mut options = File::options();
        let plan = options.read(true).write(true).create_new(true).open(directory.path().join("plan"));
        let plan = plan.expect("a plan");
        plan.set_len(PLAN_BYTES).expect("a length");
        Self { directory, plan }
    }

    /// The options of a server whose calls can fail.
    pub fn options(&self) -> Options {
        let path = self.directory.path().join("plan");
        let variable = |name: &str, path: &Path| (name.to_owned(), path.to_str().expect("UTF-8").to_owned());
        let environment = vec![variable("LD_PRELOAD", &LIBRARY), variable("FAULT_PLAN", &path)];
        Options { environment, ..Options::default() }
    }

    /// Lets calls on files of the server's data fail from now on.
    pub fn arm(&self, server: &Server, fault: Fault) {
        assert!(self.number(LOADED) > 0, "the server did not load the interposer");
        let below = format!("{}/\0", server.data().display());
        assert!(BELOW + below.len() as u64 <= PLAN_BYTES, "{below} is too long");
        self.plan.write_all_at(below.as_bytes(), BELOW).expect("a plan");
        for (offset, number) in [
            (FIRST, fault.first),
            (COUNT, fault.count),
            (ERROR, fault.error.map_or(0, |error| error as u64)),
            (CALLS, 0),
            (STRUCK, 0),
            (KINDS, fault.kinds),
        ] {
            self.set(offset, number);
        }
    }

    /// Lets all calls succeed. Returns the last call that failed, if any did.
    pub fn disarm(&self) -> Option<String> {
        self.set(KINDS, 0);
        if self.number(STRUCK) == 0 {
            return None;
        }
        let mut place = [0; (BELOW - PLACE) as usize];
        self.plan.read_exact_at(&mut place, PLACE).expect("a plan");
        let length = place.iter().position(|byte| *byte == 0).unwrap_or(place.len());
        Some(String::from_utf8_lossy(&place[..length]).into_owned())
    }

    fn set(&self, offset: u64, number: u64) {
        self.plan.write_all_at(&number.to_ne_bytes(), offset).expect("a plan");
    }

    fn number(&self, offset: u64) -> u64 {
        let mut bytes = [0; 8];
        self.plan.read_exact_at(&mut bytes, offset).expect("a plan");
        u64::from_ne_bytes(bytes)
    }
}
