//! What a job is shown, where its user can reach it: below directories that are closed to it, such as that of root, there
//! may be a toolchain. A server that is root mounts such things at an open place, in a mount namespace that only the job's
//! process has.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{OFlag, open};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::stat::Mode;
use nix::unistd::mkdir;

use super::Shown;

/// Directories that most systems have, to mount on. One is taken that hides nothing of what is shown.
const PLACES: [&str; 5] = ["/mnt", "/media", "/srv", "/opt", "/var"];

/// Mounts to make before the user changes. Made beforehand, since the process that makes them must allocate nothing.
pub struct Staging {
    place: CString,
    binds: Vec<Bind>,
}

struct Bind {
    from: CString,
    to: CString,
    is_directory: bool,
}

impl Staging {
    /// The mounts, and where everything will be, in the same order. `program` is what runs afterwards.
    pub fn plan(shown: &[Shown], program: &Path) -> io::Result<(Self, Vec<PathBuf>)> {
        let real: Vec<PathBuf> = shown.iter().map(|one| one.here.canonicalize()).collect::<Result<_, _>>()?;
        let needed = [&*real, &[program.canonicalize()?]].concat();
        let places = PLACES.iter().filter_map(|place| Path::new(place).canonicalize().ok());
        let place =
            places.filter(|place| place.is_dir()).find(|place| !needed.iter().any(|path| path.starts_with(place)));
        let place = place.ok_or_else(|| io::Error::other("no directory is free to mount upon"))?;
        let staged: Vec<PathBuf> = (0..real.len()).map(|number| place.join(number.to_string())).collect();
        let bind = |(from, to): (&PathBuf, &PathBuf)| {
            Ok(Bind { is_directory: from.is_dir(), from: terminated(from)?, to: terminated(to)? })
        };
        let binds = real.iter().zip(&staged).map(bind).collect::<io::Result<_>>()?;
        Ok((Self { place: terminated(&place)?, binds }, staged))
    }

    /// In the process that is to become the job's. Allocates nothing.
    pub fn mount(&self) -> nix::Result<()> {
        const NOTHING: Option<&CStr> = None;
        unshare(CloneFlags::CLONE_NEWNS)?;
        mount(NOTHING, c"/", NOTHING, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NOTHING)?;
        let bare = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(Some(c"tmpfs"), &*self.place, Some(c"tmpfs"), bare, Some(c"size=64k,mode=0755"))?;
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

fn terminated(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}
