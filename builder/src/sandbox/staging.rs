//! Mounts a job's files where its user can reach them: a toolchain may lie below a directory that is closed to that user,
//! such as the home of root. A server that runs as root bind-mounts the files below an open directory, in a mount
//! namespace of the job's process.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{OFlag, open};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::stat::Mode;
use nix::unistd::mkdir;

use super::ReadOnlyMount;

/// Mount points that most systems have. The first that hides none of the job's files is used.
const MOUNT_POINTS: [&str; 5] = ["/mnt", "/media", "/srv", "/opt", "/var"];

/// The mounts to make before the change of user. They are planned before the fork, since the child must not allocate.
pub struct Staging {
    mount_point: CString,
    binds: Vec<Bind>,
}

struct Bind {
    from: CString,
    to: CString,
    is_directory: bool,
}

impl Staging {
    /// Plans the mounts, and returns the path of each file in the same order. `program`, which runs afterwards, stays
    /// visible.
    pub fn plan(shown: &[ReadOnlyMount], program: &Path) -> io::Result<(Self, Vec<PathBuf>)> {
        let real: Vec<PathBuf> = shown.iter().map(|one| one.source.canonicalize()).collect::<Result<_, _>>()?;
        let needed = [&*real, &[program.canonicalize()?]].concat();
        let mount_points = MOUNT_POINTS.iter().filter_map(|path| Path::new(path).canonicalize().ok());
        let hides_nothing = |mount_point: &PathBuf| !needed.iter().any(|path| path.starts_with(mount_point));
        let mount_point = mount_points.filter(|path| path.is_dir()).find(hides_nothing);
        let mount_point = mount_point.ok_or_else(|| io::Error::other("no directory is free as a mount point"))?;
        let staged: Vec<PathBuf> = (0..real.len()).map(|number| mount_point.join(number.to_string())).collect();
        let bind = |(from, to): (&PathBuf, &PathBuf)| {
            Ok(Bind { is_directory: from.is_dir(), from: to_c_string(from)?, to: to_c_string(to)? })
        };
        let binds = real.iter().zip(&staged).map(bind).collect::<io::Result<_>>()?;
        Ok((Self { mount_point: to_c_string(&mount_point)?, binds }, staged))
    }

    /// Mounts the files, in the job's process before `exec`. Does not allocate.
    pub fn mount(&self) -> nix::Result<()> {
        const NOTHING: Option<&CStr> = None;
        unshare(CloneFlags::CLONE_NEWNS)?;
        mount(NOTHING, c"/", NOTHING, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NOTHING)?;
        let bare = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(Some(c"tmpfs"), &*self.mount_point, Some(c"tmpfs"), bare, Some(c"size=64k,mode=0755"))?;
        for Bind { from, to, is_directory } in &self.binds {
            if *is_directory {
                mkdir(&**to, Mode::S_IRWXU)?;
            } else {
                open(&**to, OFlag::O_CREAT | OFlag::O_WRONLY | OFlag::O_CLOEXEC, Mode::S_IRUSR)?;
            }
            mount(Some(&**from), &**to, NOTHING, MsFlags::MS_BIND | MsFlags::MS_REC, NOTHING)?;
        }
        Ok(())
    }
}

fn to_c_string(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}
