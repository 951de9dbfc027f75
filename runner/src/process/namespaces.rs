//! Namespaces of its own, in which there is nothing: no network device, no file, nobody's shared memory.
//!
//! Processes have no namespace of their own here: the kernel gives such a process no further threads. Seccomp and
//! Landlock refuse what it would.

use std::path::Path;

use nix::errno::Errno;
use nix::libc;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{chdir, chroot, pivot_root};

use super::confinement::Layer;

/// A directory that every machine has, to put the empty file system on for a moment.
const MOUNT_POINTS: [&str; 3] = ["/proc", "/tmp", "/var"];
/// The version of the structures in which capabilities are given, with two words of each kind.
const CAPABILITIES_VERSION: u32 = 0x2008_0522;

/// Leaves the namespaces that others use, as far as the kernel allows it.
pub fn leave() -> Layer {
    let spaces = CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS
        | CloneFlags::CLONE_NEWCGROUP;
    // Without user namespaces it takes a privileged user.
    let left = unshare(CloneFlags::CLONE_NEWUSER | spaces).or_else(|_| unshare(spaces));
    let layer = match left {
        Err(error) => Layer::Absent(error.to_string()),
        Ok(()) => empty_root().map_or_else(|error| Layer::Part(format!("files are there: {error}")), |()| Layer::Whole),
    };
    match (drop_capabilities(), layer) {
        (Err(error), Layer::Whole) => Layer::Part(format!("capabilities stay: {error}")),
        (_, layer) => layer,
    }
}

/// Makes an empty file system that cannot be written the root.
fn empty_root() -> nix::Result<()> {
    let nothing = None::<&str>;
    mount(nothing, "/", nothing, MsFlags::MS_REC | MsFlags::MS_PRIVATE, nothing)?;
    let point = MOUNT_POINTS.into_iter().find(|path| Path::new(path).is_dir()).ok_or(Errno::ENOENT)?;
    let bare = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("tmpfs"), point, Some("tmpfs"), bare, Some("size=4k,nr_inodes=2,mode=0555"))?;
    chdir(point)?;
    // The old root lies over the new one for a moment, and is taken away. A system that runs from its first memory
    // disk cannot do this.
    match pivot_root(".", ".") {
        Ok(()) => umount2(".", MntFlags::MNT_DETACH)?,
        Err(_) => chroot(".")?,
    }
    chdir("/")?;
    mount(nothing, "/", nothing, MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | bare, nothing)
}

/// Does something without the privileges that this process has, which it has again afterwards. Where they cannot be laid
/// down, it is not done.
pub fn without_privileges<T>(work: impl FnOnce() -> Option<T>) -> Option<T> {
    let header = [CAPABILITIES_VERSION, 0];
    let mut held = [0_u32; 6];
    // SAFETY: the two arrays have the layout and the size that this version says.
    Errno::result(unsafe { libc::syscall(libc::SYS_capget, header.as_ptr(), held.as_mut_ptr()) }).ok()?;
    let [_, permitted, inheritable, _, more_permitted, more_inheritable] = held;
    let laid_down = [0, permitted, inheritable, 0, more_permitted, more_inheritable];
    set_capabilities(&laid_down).ok()?;
    let done = work();
    // What cannot be taken up again is missing when the namespaces are left, which is reported.
    let _ = set_capabilities(&held);
    done
}

fn drop_capabilities() -> nix::Result<()> {
    set_capabilities(&[0; 6])
}

/// Three words each, of the lower capabilities and of the upper ones: effective, permitted, inheritable.
fn set_capabilities(words: &[u32; 6]) -> nix::Result<()> {
    let header = [CAPABILITIES_VERSION, 0];
    // SAFETY: the two arrays have the layout and the size that this version says.
    Errno::result(unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), words.as_ptr()) }).map(drop)
}
