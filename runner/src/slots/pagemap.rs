//! Which pages of a memory were written to, as the kernel knows it: `PAGEMAP_SCAN`, Linux 6.7.
//!
//! A page of a private mapping that was only read is a page of the file behind it, or the one page of zeros. The first
//! write makes it a page of this process alone, and it stays one until it is given back. So what was written to is what
//! is there, in memory or in swap, and is not what lies behind the mapping: a file's page, or where there is no file the
//! page of zeros. Over a file the page of zeros counts as written to: the kernel may put it in the place of
//! a page that holds nothing but zeros (KSM), and those were written. By what is in the entry of the page
//! table (`pagemap_page_category` in the kernel's `fs/proc/task_mmu.c`, and `pagemap_thp_category`, which says the same
//! of huge pages):
//!
//! | entry | categories | counts as |
//! |---|---|---|
//! | none: never touched, or a page of the file that was reclaimed | none | clean |
//! | page of the file | `PRESENT`, `FILE` | clean |
//! | page of zeros, small or huge | `PRESENT`, `PFNZERO` | clean where there is no file, written to where there is one |
//! | page of this process | `PRESENT` | written to |
//! | the same in swap | `SWAPPED` | written to |
//! | the same while it moves to another place or device | `SWAPPED` | written to |
//! | page of the file while it moves | `SWAPPED`, `FILE` | clean |
//! | page that broke, or another marker | `SWAPPED` | written to |
//!
//! `FILE` is given only to pages that the kernel knows not to be anonymous, so that nothing of a process's own has it, and
//! where there is no file nothing at all: one question finds both kinds. The kernel looks at each entry under the lock of
//! its page table; entries change while it walks on, but from one row that is written to into another. (A page that broke
//! kills whoever touches it. The runner dies, as it does when a guest meets such a page, and is replaced.) `WRITTEN` is
//! not asked for: what it says depends on userfaultfd, which nobody uses here, and on the kernel's version.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, RawFd};

use nix::libc;

const FILE: u64 = 1 << 2;
const PRESENT: u64 = 1 << 3;
const SWAPPED: u64 = 1 << 4;
const PFNZERO: u64 = 1 << 5;

/// Of what may have been written to there must be one of these, and `FILE` absent: it is turned round, and then asked for.
const ANY: u64 = PRESENT | SWAPPED;

/// Ranges that one call gives; more take more calls.
const REGIONS: usize = 256;
/// `PAGEMAP_SCAN`, the one thing that is asked of this file.
pub const REQUEST: u32 = {
    /// A number with a sign in some libraries.
    const REQUEST: libc::Ioctl = libc::_IOWR::<Scan>(b'f' as u32, 16);
    REQUEST as u32
};

/// `struct pm_scan_arg`.
#[repr(C)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// `struct page_region`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

impl Region {
    /// The part that was written to, which may be empty. The page of zeros is what lies behind addresses without a file.
    fn written(&self, place: Range<usize>, zeros_from: usize) -> Range<usize> {
        match self.categories & PFNZERO {
            0 => place,
            _ => place.start..zeros_from.clamp(place.start, place.end),
        }
    }
}

/// The open page map of this process.
#[derive(Debug)]
pub struct Pagemap {
    file: File,
    /// Whose memory it is; a process that forks has another.
    process: u32,
}

impl Pagemap {
    /// Opens it, where there is one.
    #[must_use]
    pub fn open() -> Option<Self> {
        let file = File::open("/proc/self/pagemap").ok()?;
        Some(Self { file, process: std::process::id() })
    }

    /// The descriptor.
    #[must_use]
    pub fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// Whether the kernel says anything here.
    #[must_use]
    pub fn answers(&self) -> bool {
        let here = std::ptr::from_ref(self).addr() & !0xffff;
        self.written(here..here + 0x1_0000, here, usize::MAX, |_| ()).is_ok()
    }

    /// Calls `each` for the ranges within addresses that were written to, in order; `false` when they are more than
    /// `bytes_max`, of which `each` may have seen some. Behind addresses below `zeros_from` is a file, and behind all others
    /// there is none.
    ///
    /// # Errors
    /// When the kernel does not say. Then nothing is known.
    pub fn written(
        &self,
        within: Range<usize>,
        zeros_from: usize,
        bytes_max: usize,
        mut each: impl FnMut(Range<usize>),
    ) -> io::Result<bool> {
        if self.process != std::process::id() {
            return Err(io::Error::other("it is another process's"));
        }
        let mut regions = [Region { start: 0, end: 0, categories: 0 }; REGIONS];
        let (mut from, mut bytes) = (within.start, 0_usize);
        while from < within.end {
            let (found, end) = self.scan(from..within.end, &mut regions)?;
            for region in regions.iter().take(found) {
                let place = address(region.start)?..address(region.end)?;
                if place.start < from || place.start > place.end || place.end > within.end {
                    return Err(io::Error::other("it speaks of other addresses"));
                }
                let written = region.written(place, zeros_from);
                bytes = bytes.saturating_add(written.len());
                if bytes > bytes_max {
                    return Ok(false);
                }
                each(written);
            }
            if end <= from {
                return Err(io::Error::other("it does not come to an end"));
            }
            from = end;
        }
        Ok(true)
    }

    /// How many ranges there are, and up to where it has looked.
    fn scan(&self, within: Range<usize>, regions: &mut [Region; REGIONS]) -> io::Result<(usize, usize)> {
        let mut scan = Scan {
            size: size_of::<Scan>() as u64,
            flags: 0,
            start: within.start as u64,
            end: within.end as u64,
            walk_end: 0,
            vec: regions.as_mut_ptr().expose_provenance() as u64,
            vec_len: REGIONS as u64,
            max_pages: 0,
            category_inverted: FILE,
            category_mask: FILE,
            category_anyof_mask: ANY,
            return_mask: PFNZERO,
        };
        // SAFETY: the kernel reads and writes the structure, and writes at most as many regions as there are.
        let found = unsafe { libc::ioctl(self.file.as_raw_fd(), REQUEST as libc::Ioctl, &raw mut scan) };
        let found = usize::try_from(found).map_err(|_| io::Error::last_os_error())?;
        if found > REGIONS {
            return Err(io::Error::other("it gives more than was asked for"));
        }
        Ok((found, address(scan.walk_end)?))
    }
}

fn address(value: u64) -> io::Result<usize> {
    usize::try_from(value).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a page of these categories is given, by `pagemap_scan_is_interesting_page` of the kernel, and counts.
    fn is_written(categories: u64, has_file: bool) -> bool {
        let turned = categories ^ FILE;
        let is_given = turned & FILE == FILE && turned & ANY != 0;
        let region = Region { start: 0, end: 1, categories: categories & PFNZERO };
        is_given && !region.written(0..1, usize::from(has_file)).is_empty()
    }

    #[test]
    fn every_state_of_a_page_that_may_hold_what_a_run_wrote_counts() {
        const WRITTEN: u64 = 1 << 1;
        const HUGE: u64 = 1 << 6;
        const SOFT_DIRTY: u64 = 1 << 7;
        const GUARD: u64 = 1 << 8;
        for noise in [0, WRITTEN, SOFT_DIRTY, WRITTEN | SOFT_DIRTY, HUGE, HUGE | WRITTEN, 1] {
            for (categories, expected) in
                [(0, false), (PRESENT, true), (SWAPPED, true), (SWAPPED | GUARD, true), (PRESENT | SWAPPED, true)]
            {
                for has_file in [true, false] {
                    assert_eq!(is_written(categories | noise, has_file), expected, "{:#x}", categories | noise);
                }
            }
            for moving in [PRESENT | FILE, SWAPPED | FILE] {
                assert!(!is_written(moving | noise, true));
            }
            assert!(is_written(PRESENT | PFNZERO | noise, true), "zeros in the place of what was written");
            assert!(!is_written(PRESENT | PFNZERO | noise, false));
        }
    }

    #[test]
    fn of_zeros_on_both_sides_of_a_files_end_those_over_the_file_count() {
        let region = Region { start: 10, end: 20, categories: PFNZERO };
        for (zeros_from, expected) in [(0, 10..10), (10, 10..10), (13, 10..13), (20, 10..20), (30, 10..20)] {
            assert_eq!(region.written(10..20, zeros_from), expected);
            assert_eq!(Region { categories: 0, ..region }.written(10..20, zeros_from), 10..20);
        }
    }

    #[test]
    fn the_structure_is_the_kernels() {
        assert_eq!((size_of::<Scan>(), size_of::<Region>()), (96, 24));
        assert_eq!(u64::from(REQUEST), 0xC060_6610);
    }

    #[test]
    fn another_process_learns_nothing() {
        let Some(pagemap) = Pagemap::open() else { return };
        let other = Pagemap { process: pagemap.process + 1, ..pagemap };
        assert!(other.written(0..4096, 0, usize::MAX, |_| ()).is_err());
    }
}
