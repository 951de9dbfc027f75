//! Self-test of the confinement: tries, inside a runner's confinement, what code that escaped the WebAssembly sandbox would try.
//! Every attempt must be refused there, and succeed in an unconfined process.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;

use nix::libc;
use nix::sys::ptrace;
use nix::sys::signal::kill;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, execv, fork, getppid};
use serde::{Deserialize, Serialize};

use super::child::NAME;
use super::confinement::confine;
use super::layer::Confinement;
use crate::sandbox::memory_reuse::Pagemap;

/// Result of the self-test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfinementSelfTest {
    /// `None` for an unconfined process.
    pub confinement: Option<Confinement>,
    /// Whether the process can still ask which pages of its own memory were written to.
    pub knows_its_pages: bool,
    pub attempts: Vec<Attempt>,
}

/// One attempt, and the error that refused it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    pub name: String,
    pub refused: Option<String>,
}

type Try = (&'static str, fn(&Targets) -> io::Result<()>);

/// Targets of the attempts, found before the confinement.
struct Targets {
    parent: Pid,
    /// Address of a listener of this process.
    listens: Option<SocketAddr>,
}

const ATTEMPTS: [Try; 13] = [
    ("read a file", |_| fs::read("/etc/passwd").map(drop)),
    ("list a directory", |_| fs::read_dir("/").map(drop)),
    ("write a file", |_| write()),
    ("read the environment of another process", |targets| {
        fs::read(format!("/proc/{}/environ", targets.parent)).map(drop)
    }),
    ("read its own memory map", |_| fs::read("/proc/self/maps").map(drop)),
    ("connect to this machine", connect),
    ("listen for connections", |_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map(drop)),
    ("open a datagram socket", |_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map(drop)),
    ("open a Unix socket", |_| UnixStream::pair().map(drop)),
    ("signal another process", |targets| Ok(kill(targets.parent, None)?)),
    ("start a process", |_| start()),
    ("run another program", |_| run()),
    ("trace a process", |_| Ok(ptrace::traceme()?)),
];

/// Confines this process, if asked to, and makes all attempts.
///
/// # Errors
/// When the process cannot be confined.
pub fn confinement_self_test(is_confined: bool) -> io::Result<ConfinementSelfTest> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok();
    let listens = listener.as_ref().and_then(|listener| listener.local_addr().ok());
    let targets = Targets { parent: getppid(), listens };
    let confined = is_confined.then(|| confine(NAME)).transpose()?;
    let attempts = ATTEMPTS.into_iter().map(|(name, attempt)| {
        let refused = attempt(&targets).err().map(|error| error.to_string());
        Attempt { name: name.to_owned(), refused }
    });
    let attempts = attempts.collect();
    let (confinement, pagemap) =
        confined.map_or_else(|| (None, Pagemap::open()), |(layers, kept)| (Some(layers), kept));
    Ok(ConfinementSelfTest { confinement, knows_its_pages: pagemap.is_some_and(|pagemap| pagemap.answers()), attempts })
}

fn write() -> io::Result<()> {
    let name = format!("lathe-self-test-{}", std::process::id());
    fs::write(&name, "")?;
    fs::remove_file(&name)
}

fn connect(targets: &Targets) -> io::Result<()> {
    // Without a listener, this process had no network before it was confined.
    let listens = targets.listens.ok_or(io::ErrorKind::NetworkUnreachable)?;
    TcpStream::connect(listens).map(drop)
}

fn start() -> io::Result<()> {
    // SAFETY: this process has one thread, and the child exits immediately.
    run_in_new_process(unsafe { fork() }?, || 0)
}

fn run() -> io::Result<()> {
    let program = || execv(c"/bin/true", &[c"true"]).map_or_else(io::Error::from, |never| match never {});
    // SAFETY: this process has one thread, and the child executes another program or exits immediately.
    match unsafe { fork() } {
        Ok(forked) => run_in_new_process(forked, || {
            drop(program());
            1
        }),
        // A successful exec would replace this process, and the missing report would fail the test.
        Err(_) => Err(program()),
    }
}

/// Does the work in the child, and waits for its exit in the parent.
fn run_in_new_process(forked: ForkResult, work: impl FnOnce() -> i32) -> io::Result<()> {
    match forked {
        ForkResult::Parent { child } => match waitpid(child, None)? {
            WaitStatus::Exited(_, 0) => Ok(()),
            other => Err(io::Error::other(format!("{other:?}"))),
        },
        ForkResult::Child => {
            let code = work();
            // SAFETY: the child exits without running destructors or exit handlers of the parent.
            unsafe { libc::_exit(code) }
        }
    }
}
