//! What is taken from the process before it becomes esbuild: a tree may ask it to read any path that it names.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope, make_bitflags,
};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::Signal;

/// Files have been refused since Linux 5.13; without that esbuild is not started.
const REQUIRED: ABI = ABI::V1;
/// What newer kernels refuse besides.
const KNOWN: ABI = ABI::V7;
/// A little more than the parent waits.
const CPU_SECONDS_MAX: u64 = 40;
/// Ten times what the largest tools take.
const MEMORY_BYTES_MAX: u64 = 1 << 30;
/// A script of this size is refused later, and its map is not much larger.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The child: becomes `program`, which has the current directory and nothing else. It returns only with an error.
///
/// # Errors
/// When the process cannot be confined, or the program not be started.
pub fn child_esbuild_main(program: &Path, arguments: &[OsString]) -> io::Result<()> {
    set_pdeathsig(Signal::SIGKILL)?;
    setrlimit(Resource::RLIMIT_CPU, CPU_SECONDS_MAX, CPU_SECONDS_MAX)?;
    setrlimit(Resource::RLIMIT_DATA, MEMORY_BYTES_MAX, MEMORY_BYTES_MAX)?;
    setrlimit(Resource::RLIMIT_FSIZE, FILE_BYTES_MAX, FILE_BYTES_MAX)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    if unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET).is_err() {
        // No user namespaces here: esbuild has no reason to open a connection, and Landlock refuses most.
    }
    let open = |path: &Path| PathFd::new(path).map_err(io::Error::other);
    restrict(open(Path::new("."))?, open(program)?).map_err(io::Error::other)?;
    Err(Command::new(program).args(arguments).env_clear().exec())
}

/// The files below the current directory can be read and written, and the program can be executed.
fn restrict(here: PathFd, program: PathFd) -> Result<(), RulesetError> {
    let sources = make_bitflags!(AccessFs::{ReadFile | ReadDir | WriteFile | MakeReg | RemoveFile | Truncate});
    let program_only: BitFlags<AccessFs> = make_bitflags!(AccessFs::{Execute | ReadFile});
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(REQUIRED))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(KNOWN))?
        .handle_access(AccessNet::from_all(KNOWN))?
        .scope(Scope::from_all(KNOWN))?
        .create()?;
    let ruleset = ruleset.add_rule(PathBeneath::new(here, sources))?;
    ruleset.add_rule(PathBeneath::new(program, program_only))?.restrict_self()?;
    Ok(())
}
