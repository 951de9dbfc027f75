//! Tells which pages of a memory were written to, by asking the kernel: `PAGEMAP_SCAN`, Linux 6.7.
//!
//! A page of a private mapping that was only read is a page of the file behind it, or the kernel's page of zeros. The first
//! write replaces it by an anonymous page of this process, which stays until it is discarded. So a page was written to when
//! it exists, in memory or in swap, and is neither a page of the file nor, where there is no file, the page of zeros. Over a
//! file the page of zeros counts as written to: the kernel may put it in the place of a page that holds only zeros (KSM),
//! and such a page was written. The table lists the entries of the page table (`pagemap_page_category` in the kernel's
//! `fs/proc/task_mmu.c`, and `pagemap_thp_category` for huge pages):
//!
//! | entry | categories | counts as |
//! |---|---|---|
//! | none: never touched, or a reclaimed page of the file | none | clean |
//! | page of the file | `PRESENT`, `FILE` | clean |
//! | page of zeros, small or huge | `PRESENT`, `PFNZERO` | clean where there is no file, written to over a file |
//! | anonymous page | `PRESENT` | written to |
//! | anonymous page in swap | `SWAPPED` | written to |
//! | anonymous page that moves to another place or device | `SWAPPED` | written to |
//! | page of the file that moves | `SWAPPED`, `FILE` | clean |
//! | page with a hardware error, or another marker | `SWAPPED` | written to |
//!
//! The kernel gives `FILE` only to pages that it knows not to be anonymous, and never where there is no file; so one request
//! finds both kinds. The kernel reads each entry under the lock of its page table. Entries change while the scan goes on, but
//! only from one row that counts as written to into another. (A page with a hardware error kills the process that touches it.
//! The runner dies, as it does when a guest touches such a page, and is replaced.) The scan does not ask for `WRITTEN`, whose
//! meaning depends on userfaultfd, which is not used here, and on the kernel's version.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, RawFd};

use nix::libc;

const FILE: u64 = 1 << 2;
const PRESENT: u64 = 1 << 3;
const SWAPPED: u64 = 1 << 4;
const PFNZERO: u64 = 1 << 5;

/// A page may have been written to when it has one of these categories and not `FILE`, which the scan inverts.
const EXISTS: u64 = PRESENT | SWAPPED;

/// Ranges returned by one call; more ranges take more calls.
const REGIONS: usize = 256;
/// Number of the `PAGEMAP_SCAN` request, the only one made of the page map.
pub const PAGEMAP_SCAN: u32 = {
    /// Signed in some C libraries.
    const REQUEST: libc::Ioctl = libc::_IOWR::<ScanArguments>(b'f' as u32, 16);
    REQUEST as u32
};

/// `struct pm_scan_arg`.
#[repr(C)]
struct ScanArguments {
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
    /// Returns the part that was written to, which may be empty. From `zeros_from` on there is no file, and the page of zeros is
    /// clean.
    fn select_written(&self, range: Range<usize>, zeros_from: usize) -> Range<usize> {
        match self.categories & PFNZERO {
            0 => range,
            _ => range.start..zeros_from.clamp(range.start, range.end),
        }
    }
}

/// Addresses to scan.
pub struct Scan {
    pub within: Range<usize>,
    /// Below this address the mapping has a file behind it; from there on it has none.
    pub zeros_from: usize,
    /// Bytes beyond which the scan gives up.
    pub bytes_max: usize,
}

/// Open page map of this process.
#[derive(Debug)]
pub struct Pagemap {
    file: File,
    /// Process whose memory the map describes; a forked child has another.
    process: u32,
}

impl Pagemap {
    /// Opens the page map; `None` where the system has none or denies access.
    #[must_use]
    pub fn open() -> Option<Self> {
        let file = File::open("/proc/self/pagemap").ok()?;
        Some(Self { file, process: std::process::id() })
    }

    /// Descriptor of the open file.
    #[must_use]
    pub fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// Returns whether the kernel answers requests.
    #[must_use]
    pub fn answers(&self) -> bool {
        let here = std::ptr::from_ref(self).addr() & !0xffff;
        self.find_written(&Scan { within: here..here + 0x1_0000, zeros_from: here, bytes_max: usize::MAX }, |_| ())
            .is_ok()
    }

    /// Calls `each` for every written range, in order. Returns `false` when the ranges have more than `bytes_max` bytes in
    /// total; `each` may have been called for some of them.
    ///
    /// # Errors
    /// When the kernel does not answer. Then nothing is known.
    pub fn find_written(&self, scan: &Scan, mut each: impl FnMut(Range<usize>)) -> io::Result<bool> {
        if self.process != std::process::id() {
            return Err(io::Error::other("the page map belongs to another process"));
        }
        let Scan { within, zeros_from, bytes_max } = scan;
        let mut regions = [Region { start: 0, end: 0, categories: 0 }; REGIONS];
        let (mut from, mut bytes) = (within.start, 0_usize);
        while from < within.end {
            let (found, end) = self.scan(from..within.end, &mut regions)?;
            for region in regions.iter().take(found) {
                let range = convert_address(region.start)?..convert_address(region.end)?;
                if range.start < from || range.start > range.end || range.end > within.end {
                    return Err(io::Error::other("the kernel returned a range outside of the scan"));
                }
                let written = region.select_written(range, *zeros_from);
                bytes = bytes.saturating_add(written.len());
                if bytes > *bytes_max {
                    return Ok(false);
                }
                each(written);
            }
            if end <= from {
                return Err(io::Error::other("the kernel's scan made no progress"));
            }
            from = end;
        }
        Ok(true)
    }

    /// Scans once; returns the number of ranges found, and the address at which the scan stopped.
    fn scan(&self, within: Range<usize>, regions: &mut [Region; REGIONS]) -> io::Result<(usize, usize)> {
        let mut scan = ScanArguments {
            size: size_of::<ScanArguments>() as u64,
            flags: 0,
            start: within.start as u64,
            end: within.end as u64,
            walk_end: 0,
            vec: regions.as_mut_ptr().expose_provenance() as u64,
            vec_len: REGIONS as u64,
            max_pages: 0,
            category_inverted: FILE,
            category_mask: FILE,
            category_anyof_mask: EXISTS,
            return_mask: PFNZERO,
        };
        // SAFETY: the kernel reads and writes the structure, and writes at most `vec_len` regions.
        let found = unsafe { libc::ioctl(self.file.as_raw_fd(), PAGEMAP_SCAN as libc::Ioctl, &raw mut scan) };
        let found = usize::try_from(found).map_err(|_| io::Error::last_os_error())?;
        if found > REGIONS {
            return Err(io::Error::other("the kernel returned more ranges than requested"));
        }
        Ok((found, convert_address(scan.walk_end)?))
    }
}

fn convert_address(value: u64) -> io::Result<usize> {
    usize::try_from(value).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether the kernel (`pagemap_scan_is_interesting_page`) reports a page of these categories, and it counts as written.
    fn is_written(categories: u64, has_file: bool) -> bool {
        let inverted = categories ^ FILE;
        let is_reported = inverted & FILE == FILE && inverted & EXISTS != 0;
        let region = Region { start: 0, end: 1, categories: categories & PFNZERO };
        is_reported && !region.select_written(0..1, usize::from(has_file)).is_empty()
    }

    #[test]
    fn every_page_that_may_hold_written_bytes_counts() {
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
            assert!(is_written(PRESENT | PFNZERO | noise, true), "zeros in the place of a written page");
            assert!(!is_written(PRESENT | PFNZERO | noise, false));
        }
    }

    #[test]
    fn pages_of_zeros_count_only_over_the_file() {
        let region = Region { start: 10, end: 20, categories: PFNZERO };
        for (zeros_from, expected) in [(0, 10..10), (10, 10..10), (13, 10..13), (20, 10..20), (30, 10..20)] {
            assert_eq!(region.select_written(10..20, zeros_from), expected);
            assert_eq!(Region { categories: 0, ..region }.select_written(10..20, zeros_from), 10..20);
        }
    }

    #[test]
    fn the_structures_match_the_kernels() {
        assert_eq!((size_of::<ScanArguments>(), size_of::<Region>()), (96, 24));
        assert_eq!(u64::from(PAGEMAP_SCAN), 0xC060_6610);
    }

    #[test]
    fn another_process_gets_an_error() {
        let pagemap = Pagemap::open().expect("/proc/self/pagemap can be opened");
        let other = Pagemap { process: pagemap.process + 1, ..pagemap };
        assert!(other.find_written(&Scan { within: 0..4096, zeros_from: 0, bytes_max: usize::MAX }, |_| ()).is_err());
    }
}
