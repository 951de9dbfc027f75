//! The escape drill: what code that got out of the WebAssembly sandbox would try, tried from inside a runner's
//! confinement. All of it must be refused there, and succeed in a process that is not confined.

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

use super::confinement::{Confinement, confine};
use crate::slots::Pagemap;

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drill {
    /// None for a process that was not to be confined.
    pub confinement: Option<Confinement>,
    /// Whether it can still ask which pages of its own memory were written to.
    pub knows_its_pages: bool,
    pub attempts: Vec<Attempt>,
}

/// One thing that was tried, and why it was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    pub name: String,
    pub refused: Option<String>,
}

type Try = (&'static str, fn(&Prey) -> io::Result<()>);

/// What the attempts are aimed at, found before confinement.
struct Prey {
    parent: Pid,
    /// Something that listens, of this process itself.
    listens: Option<SocketAddr>,
}

const ATTEMPTS: [Try; 13] = [
    ("read a file", |_| fs::read("/etc/passwd").map(drop)),
    ("list a directory", |_| fs::read_dir("/").map(drop)),
    ("write a file", |_| write()),
    ("read the environment of another process", |prey| fs::read(format!("/proc/{}/environ", prey.parent)).map(drop)),
    ("read its own memory map", |_| fs::read("/proc/self/maps").map(drop)),
    ("connect to this machine", connect),
    ("listen for connections", |_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map(drop)),
    ("open a datagram socket", |_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map(drop)),
    ("open a Unix socket", |_| UnixStream::pair().map(drop)),
    ("signal another process", |prey| Ok(kill(prey.parent, None)?)),
    ("start a process", |_| start()),
    ("run another program", |_| run()),
    ("trace a process", |_| Ok(ptrace::traceme()?)),
];

/// Confines this process, unless told not to, and makes all attempts.
///
/// # Errors
/// When the process cannot be confined.
pub fn drill(is_confined: bool) -> io::Result<Drill> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok();
    let listens = listener.as_ref().and_then(|listener| listener.local_addr().ok());
    let prey = Prey { parent: getppid(), listens };
    let confined = is_confined.then(confine).transpose()?;
    let attempts = ATTEMPTS.into_iter().map(|(name, attempt)| {
        let refused = attempt(&prey).err().map(|error| error.to_string());
        Attempt { name: name.to_owned(), refused }
    });
    let attempts = attempts.collect();
    let (confinement, pagemap) =
        confined.map_or_else(|| (None, Pagemap::open()), |(layers, kept)| (Some(layers), kept));
    Ok(Drill { confinement, knows_its_pages: pagemap.is_some_and(|pagemap| pagemap.answers()), attempts })
}

fn write() -> io::Result<()> {
    let name = format!("lathe-drill-{}", std::process::id());
    fs::write(&name, "")?;
    fs::remove_file(&name)
}

fn connect(prey: &Prey) -> io::Result<()> {
    // Without a listener of its own this process had no network before.
    let listens = prey.listens.ok_or(io::ErrorKind::NetworkUnreachable)?;
    TcpStream::connect(listens).map(drop)
}

fn start() -> io::Result<()> {
    // SAFETY: this process has one thread, and the new one ends at once.
    in_new_process(unsafe { fork() }?, || 0)
}

fn run() -> io::Result<()> {
    let program = || execv(c"/bin/true", &[c"true"]).map_or_else(io::Error::from, |never| match never {});
    // SAFETY: this process has one thread, and the new one becomes another program or ends at once.
    match unsafe { fork() } {
        Ok(forked) => in_new_process(forked, || {
            drop(program());
            1
        }),
        // If this were not refused, nothing would be reported, which is noticed.
        Err(_) => Err(program()),
    }
}

/// The end of the new process, seen from the old one.
fn in_new_process(forked: ForkResult, work: impl FnOnce() -> i32) -> io::Result<()> {
    match forked {
        ForkResult::Parent { child } => match waitpid(child, None)? {
            WaitStatus::Exited(_, 0) => Ok(()),
            other => Err(io::Error::other(format!("{other:?}"))),
        },
        ForkResult::Child => {
            let code = work();
            // SAFETY: it ends without anything that belongs to the other process being run.
            unsafe { libc::_exit(code) }
        }
    }
}
