//! Faults of files, as bad disks and operators' mistakes cause them.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Removed,
    Emptied,
    CutShort,
    /// One byte is changed.
    Flipped,
    /// It has the contents of another file.
    Exchanged,
    /// A non-empty directory is in its place.
    Directory,
}

/// All faults. Those that keep the inode come first.
pub const FAULTS: [Fault; 6] =
    [Fault::Emptied, Fault::CutShort, Fault::Flipped, Fault::Exchanged, Fault::Removed, Fault::Directory];

impl Fault {
    /// Damages a file in place, so that processes with the file open are affected, too.
    pub fn spoil(self, path: &Path, other: &Path) {
        let file = || File::options().read(true).write(true).open(path).expect("a file");
        match self {
            Self::Removed => fs::remove_file(path).expect("a file"),
            Self::Emptied => file().set_len(0).expect("a shorter file"),
            Self::CutShort => {
                let file = file();
                file.set_len(file.metadata().expect("a length").len() / 2).expect("a shorter file");
            }
            Self::Flipped => flip(&file()),
            Self::Exchanged => drop(fs::copy(other, path).expect("a copy")),
            Self::Directory => {
                fs::remove_file(path).expect("a file");
                fs::create_dir_all(path.join("inside")).expect("a directory");
            }
        }
    }
}

fn flip(file: &File) {
    let (middle, mut byte) = (file.metadata().expect("a length").len() / 2, [0]);
    file.read_exact_at(&mut byte, middle).expect("a byte");
    file.write_all_at(&[!byte[0]], middle).expect("another byte");
}
