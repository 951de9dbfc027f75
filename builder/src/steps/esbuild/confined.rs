//! Confines the process before it executes esbuild, since a project may make esbuild read any path.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope, make_bitflags,
};

use crate::steps::child::ChildLimits;

/// The required Landlock ABI, which restricts file access since Linux 5.13. Esbuild is not started without it.
const REQUIRED: ABI = ABI::V1;
/// The newest Landlock ABI that is used. Newer kernels restrict more.
const KNOWN: ABI = ABI::V7;
const LIMITS: ChildLimits = ChildLimits {
    // A little more than the parent waits.
    cpu_seconds_max: 40,
    // Ten times what the largest tools need.
    memory_bytes_max: 1 << 30,
    // A script of this size is refused later, and its source map is not much larger.
    file_bytes_max: 64 << 20,
};

/// The child process, which executes `program` with access to the current directory only. Returns only on failure.
///
/// # Errors
/// When the process cannot be confined, or the program cannot be started.
pub fn child_esbuild_main(program: &Path, arguments: &[OsString]) -> io::Result<()> {
    LIMITS.apply()?;
    let open = |path: &Path| PathFd::new(path).map_err(io::Error::other);
    restrict(open(Path::new("."))?, open(program)?).map_err(io::Error::other)?;
    Err(Command::new(program).args(arguments).env_clear().exec())
}

/// Restricts the process to reading and writing files below the current directory, and to executing the program.
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
