//! Confinement of runners and schema workers. Before it reads its first message, the process gives up its files, its network,
//! other processes and new programs, so that code that escapes the WebAssembly sandbox can reach none of them.
//!
//! There are three layers, each of which refuses most of these on its own. A layer that the kernel does not offer is reported,
//! and the others stay in force.

use std::ffi::CStr;
use std::io;

use nix::libc;
use nix::sys::prctl::{set_dumpable, set_name, set_no_new_privs, set_pdeathsig};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigHandler, Signal, signal};

use super::layer::Confinement;
use super::{file_access, namespaces, system_calls};
use crate::sandbox::memory_reuse::Pagemap;

/// Open descriptors: the socket, those of the async runtime, the log, the page map, and two for each loaded component.
const DESCRIPTORS_MAX: u64 = 256;
/// Adjustment of the kernel's out-of-memory score: half of the machine's memory, in thousandths.
const OOM_SCORE_ADJUSTMENT: &str = "500";
/// The first descriptor that is not standard input, output or error.
const FIRST_INHERITED: libc::c_uint = 3;
/// Descriptors that are tried on kernels without `close_range`. No server has more open.
const INHERITED_MAX: libc::c_uint = 1 << 16;

/// Confines this process permanently, and sets its name in lists of processes. The process must have one thread. Returns the map
/// of its own memory's pages, which it keeps.
///
/// # Errors
/// When a step fails that every kernel offers.
pub fn confine(name: &CStr) -> io::Result<(Confinement, Option<Pagemap>)> {
    set_name(name)?;
    raise_oom_score();
    std::env::set_current_dir("/")?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    setrlimit(Resource::RLIMIT_NOFILE, DESCRIPTORS_MAX, DESCRIPTORS_MAX)?;
    // Opened with privileges, the page map would reveal physical addresses.
    let pagemap = namespaces::without_privileges(Pagemap::open);
    let namespaces = namespaces::leave();
    // After the namespaces, since a change of credentials resets both.
    set_pdeathsig(Signal::SIGKILL)?;
    set_dumpable(false)?;
    set_no_new_privs()?;
    let file_access = file_access::refuse();
    let system_calls = system_calls::refuse(pagemap.as_ref());
    Ok((Confinement { namespaces, file_access, system_calls }, pagemap))
}

/// Makes the kernel prefer a runner to the server when the machine runs out of memory.
fn raise_oom_score() {
    // When the write fails, the kernel chooses by size alone.
    let _ = std::fs::write("/proc/self/oom_score_adj", OOM_SCORE_ADJUSTMENT);
}

/// Ignores the signals with which terminals and service managers stop all processes of a server. The server alone ends its
/// runners, after their runs.
///
/// # Errors
/// Never on a working system.
pub fn ignore_stops() -> io::Result<()> {
    for stop in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM] {
        // SAFETY: ignoring a signal runs no code.
        unsafe { signal(stop, SigHandler::SigIgn) }?;
    }
    Ok(())
}

/// Closes inherited descriptors, except for standard input, output and error.
///
/// # Errors
/// When the system does not tell its limit of descriptors.
///
/// # Safety
/// No code of this process may have opened a descriptor yet.
pub unsafe fn close_inherited() -> io::Result<()> {
    // SAFETY: the caller's promise.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, FIRST_INHERITED, libc::c_uint::MAX, 0) };
    if closed == 0 {
        return Ok(());
    }
    // Before Linux 5.9, one by one.
    let (most, _) = getrlimit(Resource::RLIMIT_NOFILE)?;
    for descriptor in FIRST_INHERITED..libc::c_uint::try_from(most).unwrap_or(libc::c_uint::MAX).min(INHERITED_MAX) {
        // SAFETY: the caller's promise. Closing a descriptor that is not open changes nothing.
        unsafe { libc::close(descriptor.cast_signed()) };
    }
    Ok(())
}
