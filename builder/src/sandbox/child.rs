//! What becomes of a process between its start and bubblewrap: bounds, mounts, another user.
//!
//! It is a copy of one thread of a process that has many, so that nothing here may allocate or take a lock.

use std::io::{self, Write};
use std::os::fd::{BorrowedFd, RawFd};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::libc;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::Signal;
use nix::sys::stat::{Mode, umask};
use nix::unistd::{Gid, Pid, Uid, getppid, setgroups, setresgid, setresuid};

use super::Bounds;
use super::staging::Staging;

/// The server answers first, then jobs compute.
const NICE_MORE: libc::c_int = 10;
/// The first descriptor that is not standard input, output or error.
const FIRST_INHERITED: libc::c_uint = 3;

/// All that is needed, made beforehand.
pub struct Preparation {
    /// The server.
    pub parent: Pid,
    pub limits: Vec<Limit>,
    pub staging: Option<Staging>,
    /// Of user and group, to change to.
    pub identity: Option<u32>,
    /// Descriptors that bubblewrap gets.
    pub kept: Vec<RawFd>,
}

impl Preparation {
    /// # Errors
    /// Says on standard error what failed.
    pub fn apply(&self) -> io::Result<()> {
        umask(Mode::S_IWGRP | Mode::S_IWOTH);
        if let Some(staging) = &self.staging {
            step("the job's files cannot be mounted", staging.mount())?;
        }
        for Limit { resource, soft, hard } in &self.limits {
            step("a bound cannot be set", setrlimit(*resource, *soft, *hard))?;
        }
        // SAFETY: a number is passed. Who may not compute less eagerly computes as before.
        unsafe { libc::nice(NICE_MORE) };
        if let Some(id) = self.identity {
            step("the job's user cannot be taken", become_user(id))?;
        }
        step("descriptors cannot be closed", self.keep_descriptors())?;
        // After the change of user, which undoes it.
        step("it would outlive the server", set_pdeathsig(Signal::SIGKILL))?;
        // A server that died before that does not end it any more.
        let is_alone = getppid() != self.parent;
        step("it would outlive the server", if is_alone { Err(Errno::ESRCH) } else { Ok(()) })
    }

    /// Whatever libraries left open without saying that it is not for children is closed.
    fn keep_descriptors(&self) -> nix::Result<()> {
        let flags = libc::CLOSE_RANGE_CLOEXEC;
        // SAFETY: numbers are passed, and descriptors are only marked.
        let marked = unsafe { libc::syscall(libc::SYS_close_range, FIRST_INHERITED, libc::c_uint::MAX, flags) };
        Errno::result(marked)?;
        for descriptor in &self.kept {
            // SAFETY: the parent holds it open until this process has become another program.
            let descriptor = unsafe { BorrowedFd::borrow_raw(*descriptor) };
            fcntl(descriptor, FcntlArg::F_SETFD(FdFlag::empty()))?;
        }
        Ok(())
    }
}

fn become_user(id: u32) -> nix::Result<()> {
    setgroups(&[])?;
    let group = Gid::from_raw(id);
    setresgid(group, group, group)?;
    let user = Uid::from_raw(id);
    setresuid(user, user, user)
}

fn step(problem: &'static str, done: nix::Result<()>) -> io::Result<()> {
    done.map_err(|error| {
        // An error takes only its number home.
        let _ = io::stderr().write_all(problem.as_bytes());
        error.into()
    })
}

/// A bound that the kernel keeps of each process.
pub struct Limit {
    resource: Resource,
    soft: u64,
    hard: u64,
}

/// That of their number is left out when the server has the same user, whose own threads would count; it is set when the
/// job is in its own namespace.
pub fn limits(bounds: &Bounds, has_own_user: bool) -> Vec<Limit> {
    let fixed = |(resource, value)| Limit { resource, soft: value, hard: value };
    let mut limits = Vec::from([
        (Resource::RLIMIT_DATA, bounds.process_memory_bytes),
        (Resource::RLIMIT_FSIZE, bounds.file_bytes),
        (Resource::RLIMIT_NOFILE, bounds.open_files),
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_MEMLOCK, 0),
        (Resource::RLIMIT_MSGQUEUE, 0),
    ])
    .into_iter()
    .map(fixed)
    .collect::<Vec<_>>();
    // A second before it is killed, a process is told by a signal that says why.
    let cpu = bounds.cpu_seconds;
    limits.push(Limit { resource: Resource::RLIMIT_CPU, soft: cpu, hard: cpu + 1 });
    if has_own_user {
        limits.push(fixed((Resource::RLIMIT_NPROC, bounds.processes)));
    }
    limits
}
