//! What a runner takes from itself before it reads its first message, so that code that gets out of the WebAssembly
//! sandbox finds nothing: no files, no network, no other process, no new program.
//!
//! Three layers, each of which alone refuses most of it. What a kernel does not offer is reported, and the others stay.

use std::ffi::CStr;
use std::io;

use nix::libc;
use nix::sys::prctl::{set_dumpable, set_name, set_no_new_privs, set_pdeathsig};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigHandler, Signal, signal};
use serde::{Deserialize, Serialize};

use super::{file_access, namespaces, system_calls};
use crate::slots::Pagemap;

/// The socket, what the runtime waits with, the log, the page map, and two for each component that is loaded.
const DESCRIPTORS_MAX: u64 = 256;
/// What it is called in lists of processes.
const NAME: &CStr = c"lathe-runner";
/// As if it had half of the machine's memory more than it has.
const OOM_SCORE_MORE: &str = "500";
/// The first descriptor that is not standard input, output or error.
const FIRST_INHERITED: libc::c_uint = 3;
/// No server has more open.
const INHERITED_MAX: libc::c_uint = 1 << 16;

/// Which layers stand between a runner and the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// A network, a file system and shared memory of its own, all empty, and no capabilities.
    pub namespaces: Layer,
    /// Landlock, with nothing granted.
    pub file_access: Layer,
    /// Seccomp, with the system calls that remain.
    pub system_calls: Layer,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Layer {
    Whole,
    /// Without this part.
    Part(String),
    /// Not on this kernel, for this reason.
    Absent(String),
}

impl Confinement {
    /// The layers by name.
    #[must_use]
    pub const fn layers(&self) -> [(&'static str, &Layer); 3] {
        [("namespaces", &self.namespaces), ("Landlock", &self.file_access), ("seccomp", &self.system_calls)]
    }

    /// What this kernel does not offer; empty when all layers are whole.
    #[must_use]
    pub fn lacks(&self) -> Option<String> {
        let lacks = self.layers().into_iter().filter_map(|(name, layer)| match layer {
            Layer::Whole => None,
            Layer::Part(what) => Some(format!("{name} (in part: {what})")),
            Layer::Absent(why) => Some(format!("{name} ({why})")),
        });
        let lacks: Vec<_> = lacks.collect();
        (!lacks.is_empty()).then(|| lacks.join(", "))
    }
}

/// Confines this process for good. It must have one thread. What it keeps is the map of its own memory's pages.
///
/// # Errors
/// When something fails that every kernel offers.
pub fn confine() -> io::Result<(Confinement, Option<Pagemap>)> {
    set_name(NAME)?;
    prefer_as_victim();
    std::env::set_current_dir("/")?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    setrlimit(Resource::RLIMIT_NOFILE, DESCRIPTORS_MAX, DESCRIPTORS_MAX)?;
    // Opened with privileges it would tell places in the machine's memory.
    let pagemap = namespaces::without_privileges(Pagemap::open);
    let namespaces = namespaces::leave();
    // After the namespaces, since a change of credentials undoes both.
    set_pdeathsig(Signal::SIGKILL)?;
    set_dumpable(false)?;
    set_no_new_privs()?;
    let file_access = file_access::refuse();
    let system_calls = system_calls::refuse(pagemap.as_ref());
    Ok((Confinement { namespaces, file_access, system_calls }, pagemap))
}

/// When the machine has no memory left, the kernel ends a runner and not the server.
fn prefer_as_victim() {
    // Where it cannot be said, the kernel chooses by size alone.
    let _ = std::fs::write("/proc/self/oom_score_adj", OOM_SCORE_MORE);
}

/// Lets the server alone say when a process ends. A terminal and a service manager tell all processes to stop, and what
/// runs must come to its end first.
///
/// # Errors
/// None on any system.
pub fn ignore_stops() -> io::Result<()> {
    for stop in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM] {
        // SAFETY: ignoring a signal runs no code.
        unsafe { signal(stop, SigHandler::SigIgn) }?;
    }
    Ok(())
}

/// Closes what an ancestor left open, beyond standard input, output and error.
///
/// # Errors
/// When the system does not say how many descriptors there may be.
///
/// # Safety
/// Nothing in this process may have opened a descriptor yet.
pub unsafe fn close_inherited() -> io::Result<()> {
    // SAFETY: the caller's promise.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, FIRST_INHERITED, libc::c_uint::MAX, 0) };
    if closed == 0 {
        return Ok(());
    }
    // Before Linux 5.9 one by one.
    let (most, _) = getrlimit(Resource::RLIMIT_NOFILE)?;
    for descriptor in FIRST_INHERITED..libc::c_uint::try_from(most).unwrap_or(libc::c_uint::MAX).min(INHERITED_MAX) {
        // SAFETY: the caller's promise. One that is not open is an error that changes nothing.
        unsafe { libc::close(descriptor.cast_signed()) };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lacking_is_named() {
        let mut confinement =
            Confinement { namespaces: Layer::Whole, file_access: Layer::Whole, system_calls: Layer::Whole };
        assert_eq!(confinement.lacks(), None);
        confinement.namespaces = Layer::Absent("EPERM".into());
        confinement.file_access = Layer::Part("signals".into());
        assert_eq!(confinement.lacks().as_deref(), Some("namespaces (EPERM), Landlock (in part: signals)"));
    }
}
