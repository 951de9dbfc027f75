//! Empty namespaces: without network devices, files or shared memory.
//!
//! There is no separate process namespace: a process that leaves its own namespace cannot create further threads.
//! Seccomp and Landlock refuse what the namespace would hide.

use std::path::Path;

use nix::errno::Errno;
use nix::libc;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{chdir, chroot, pivot_root};

use super::layer::Layer;

/// Directories, of which every machine has one, to mount the empty file system on before it becomes the root.
const MOUNT_POINTS: [&str; 3] = ["/proc", "/tmp", "/var"];
/// Version of the structures of `capget` and `capset`, with two words for each set.
const CAPABILITIES_VERSION: u32 = 0x2008_0522;

/// Leaves the shared namespaces, as far as the kernel allows it.
pub fn leave() -> Layer {
    let spaces = CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS
        | CloneFlags::CLONE_NEWCGROUP;
    // Without user namespaces, only a privileged user may leave the others.
    let left = unshare(CloneFlags::CLONE_NEWUSER | spaces).or_else(|_| unshare(spaces));
    let layer = match left {
        Err(error) => Layer::Absent(error.to_string()),
        Ok(()) => {
            empty_root().map_or_else(|error| Layer::Part(format!("the file system stays: {error}")), |()| Layer::Whole)
        }
    };
    match (drop_capabilities(), layer) {
        (Err(error), Layer::Whole) => Layer::Part(format!("capabilities stay: {error}")),
        (_, layer) => layer,
    }
}

/// Makes an empty, read-only file system the root.
fn empty_root() -> nix::Result<()> {
    let nothing = None::<&str>;
    mount(nothing, "/", nothing, MsFlags::MS_REC | MsFlags::MS_PRIVATE, nothing)?;
    let point = MOUNT_POINTS.into_iter().find(|path| Path::new(path).is_dir()).ok_or(Errno::ENOENT)?;
    let bare = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("tmpfs"), point, Some("tmpfs"), bare, Some("size=4k,nr_inodes=2,mode=0555"))?;
    chdir(point)?;
    // The old root is mounted over the new one, and then unmounted. On a system that runs from its initial RAM disk,
    // `pivot_root` fails.
    match pivot_root(".", ".") {
        Ok(()) => umount2(".", MntFlags::MNT_DETACH)?,
        Err(_) => chroot(".")?,
    }
    chdir("/")?;
    mount(nothing, "/", nothing, MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | bare, nothing)
}

/// Does work without this process's privileges, and restores them. Skips the work when they cannot be dropped.
pub fn without_privileges<T>(work: impl FnOnce() -> Option<T>) -> Option<T> {
    let header = [CAPABILITIES_VERSION, 0];
    let mut held = [0_u32; 6];
    // SAFETY: the two arrays have the layout and size of this version.
    Errno::result(unsafe { libc::syscall(libc::SYS_capget, header.as_ptr(), held.as_mut_ptr()) }).ok()?;
    let [_, permitted, inheritable, _, more_permitted, more_inheritable] = held;
    let dropped = [0, permitted, inheritable, 0, more_permitted, more_inheritable];
    set_capabilities(&dropped).ok()?;
    let done = work();
    // A failure shows when the process leaves its namespaces, and is reported there.
    let _ = set_capabilities(&held);
    done
}

fn drop_capabilities() -> nix::Result<()> {
    set_capabilities(&[0; 6])
}

/// Sets the effective, permitted and inheritable set: three words for the lower capabilities, then three for the upper ones.
fn set_capabilities(words: &[u32; 6]) -> nix::Result<()> {
    let header = [CAPABILITIES_VERSION, 0];
    // SAFETY: the two arrays have the layout and size of this version.
    Errno::result(unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), words.as_ptr()) }).map(drop)
}
