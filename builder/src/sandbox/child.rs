//! Prepares the child process between `fork` and `exec` of bubblewrap: bounds, mounts, user.
//!
//! The child is a copy of one thread of a process with many threads, so that code here may neither allocate nor lock.

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

/// Added niceness of jobs, so that the server has priority.
const NICE_MORE: libc::c_int = 10;
/// The first descriptor that is not standard input, output or error.
const FIRST_INHERITED: libc::c_uint = 3;

/// The settings of the child, computed before the fork.
pub struct Preparation {
    /// The server's process id.
    pub parent: Pid,
    pub limits: Vec<Limit>,
    pub staging: Option<Staging>,
    /// User and group id to change to.
    pub identity: Option<u32>,
    /// Descriptors that bubblewrap inherits.
    pub kept: Vec<RawFd>,
}

impl Preparation {
    /// Applies the settings.
    ///
    /// # Errors
    /// The first failed step, which is also named on standard error.
    pub fn apply(&self) -> io::Result<()> {
        umask(Mode::S_IWGRP | Mode::S_IWOTH);
        if let Some(staging) = &self.staging {
            report_problem("cannot mount the job's files", staging.mount())?;
        }
        for Limit { resource, soft, hard } in &self.limits {
            report_problem("cannot set a resource limit", setrlimit(*resource, *soft, *hard))?;
        }
        // SAFETY: the argument is a number. A failure leaves the priority as it was.
        unsafe { libc::nice(NICE_MORE) };
        if let Some(id) = self.identity {
            report_problem("cannot change to the job's user", become_user(id))?;
        }
        report_problem("cannot close inherited descriptors", self.keep_descriptors())?;
        // A change of user resets this setting.
        report_problem("cannot tie the job to the server's lifetime", set_pdeathsig(Signal::SIGKILL))?;
        // The signal does not come if the server has died before this call.
        let is_alone = getppid() != self.parent;
        report_problem("cannot tie the job to the server's lifetime", if is_alone { Err(Errno::ESRCH) } else { Ok(()) })
    }

    /// Closes all descriptors at `exec` but those to keep: libraries may have opened some without close-on-exec.
    fn keep_descriptors(&self) -> nix::Result<()> {
        let flags = libc::CLOSE_RANGE_CLOEXEC;
        // SAFETY: the arguments are numbers, and the call only marks descriptors.
        let marked = unsafe { libc::syscall(libc::SYS_close_range, FIRST_INHERITED, libc::c_uint::MAX, flags) };
        Errno::result(marked)?;
        for descriptor in &self.kept {
            // SAFETY: the parent keeps the descriptor open until `exec`.
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

fn report_problem(problem: &'static str, done: nix::Result<()>) -> io::Result<()> {
    done.map_err(|error| {
        // The parent receives only the error's number.
        let _ = io::stderr().write_all(problem.as_bytes());
        error.into()
    })
}

/// A resource limit of each process.
pub struct Limit {
    resource: Resource,
    soft: u64,
    hard: u64,
}

/// The resource limits of a job. Without its own user, the limit of processes is set later, in the job's user namespace:
/// the server's own threads would count before.
pub fn list_limits(bounds: &Bounds, has_own_user: bool) -> Vec<Limit> {
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
    // The soft limit sends SIGXCPU, which names the reason, one second before the hard limit kills.
    let cpu = bounds.cpu_seconds;
    limits.push(Limit { resource: Resource::RLIMIT_CPU, soft: cpu, hard: cpu + 1 });
    if has_own_user {
        limits.push(fixed((Resource::RLIMIT_NPROC, bounds.processes)));
    }
    limits
}
