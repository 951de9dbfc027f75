//! A stretch of addresses that belongs to one owner: all calls of the kernel about memory that slots make.

use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::os::fd::AsFd;
use std::ptr::{self, NonNull};

use nix::libc::{c_void, off_t};
use nix::sys::mman::{MapFlags, MmapAdvise, ProtFlags, madvise, mmap, mmap_anonymous, mprotect, munmap};

/// Private, and without a promise of the kernel that there is memory for all of it.
const PRIVATE: MapFlags = MapFlags::MAP_PRIVATE.union(MapFlags::MAP_NORESERVE);

/// Addresses in this process, none of which can be reached at first. They are given back on drop.
#[derive(Debug)]
pub struct Area {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it is the only one that knows these addresses, and changes nothing through a shared reference.
unsafe impl Send for Area {}
// SAFETY: as above.
unsafe impl Sync for Area {}

impl Area {
    /// Takes addresses that nobody has.
    ///
    /// # Errors
    /// When there are not so many.
    pub fn reserve(bytes: usize) -> io::Result<Self> {
        let length = NonZeroUsize::new(bytes).ok_or(io::ErrorKind::InvalidInput)?;
        // SAFETY: a new mapping, of which nobody knows yet.
        let start = unsafe { mmap_anonymous(None, length, ProtFlags::PROT_NONE, PRIVATE) }?;
        Ok(Self { start: start.cast(), bytes })
    }

    /// How many addresses it has.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The address of a byte, or the end.
    pub fn at(&self, offset: usize) -> *mut u8 {
        self.start.as_ptr().wrapping_add(offset)
    }

    /// Lets a range be read and written. What was never written to in it is zero.
    ///
    /// # Errors
    /// When the range is not of whole pages within the area, or the kernel has no room for it.
    pub fn open(&mut self, range: Range<usize>) -> io::Result<()> {
        self.protect(range, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE)
    }

    /// Lets nobody reach a range any more.
    ///
    /// # Errors
    /// As [`Area::open`].
    pub fn close(&mut self, range: Range<usize>) -> io::Result<()> {
        self.protect(range, ProtFlags::PROT_NONE)
    }

    fn protect(&mut self, range: Range<usize>, protection: ProtFlags) -> io::Result<()> {
        let Some((start, length)) = self.part(range)? else { return Ok(()) };
        // SAFETY: a part of this area, to which there is no reference: `contents` borrows the area.
        Ok(unsafe { mprotect(start, length.get(), protection) }?)
    }

    /// Lays a file's bytes into a range, to be read and written. What is written stays here, and the file as it is.
    ///
    /// # Errors
    /// As [`Area::open`].
    pub fn map(&mut self, range: Range<usize>, file: &File, offset: u64) -> io::Result<()> {
        let Some((start, length)) = self.part(range)? else { return Ok(()) };
        let address = NonZeroUsize::new(start.as_ptr().addr());
        let offset = off_t::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        let writable = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: what is replaced is a part of this area, to which there is no reference.
        unsafe { mmap(address, length, writable, PRIVATE | MapFlags::MAP_FIXED, file.as_fd(), offset) }?;
        Ok(())
    }

    /// Has a range be again what it began with: zeros, or the bytes of its file.
    ///
    /// # Errors
    /// As [`Area::open`].
    pub fn discard(&mut self, range: Range<usize>) -> io::Result<()> {
        let Some((start, length)) = self.part(range)? else { return Ok(()) };
        // SAFETY: a part of this area, to which there is no reference.
        Ok(unsafe { madvise(start, length.get(), MmapAdvise::MADV_DONTNEED) }?)
    }

    /// Writes bytes, as many as fit.
    ///
    /// # Safety
    /// From `offset` on there must be room for all of them within a range that is open.
    pub unsafe fn write(&mut self, offset: usize, bytes: &[u8]) {
        debug_assert!(offset.checked_add(bytes.len()).is_some_and(|end| end <= self.bytes));
        // SAFETY: the caller's promise; `bytes` cannot be of this area, which is borrowed for writing.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.at(offset), bytes.len()) }
    }

    /// Writes zeros.
    ///
    /// # Safety
    /// The range must be within one that is open.
    pub unsafe fn zero(&mut self, range: Range<usize>) {
        debug_assert!(range.end <= self.bytes);
        // SAFETY: the caller's promise.
        unsafe { ptr::write_bytes(self.at(range.start), 0, range.len()) }
    }

    /// The bytes of a range.
    ///
    /// # Safety
    /// The range must be within one that is open, and nobody may write to it meanwhile.
    pub unsafe fn contents(&self, range: Range<usize>) -> &[u8] {
        debug_assert!(range.end <= self.bytes);
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.at(range.start), range.len()) }
    }

    /// Where a range begins, and how long it is, unless it is empty.
    fn part(&self, range: Range<usize>) -> io::Result<Option<(NonNull<c_void>, NonZeroUsize)>> {
        if range.start > range.end || range.end > self.bytes {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let start = NonNull::new(self.at(range.start).cast::<c_void>()).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(NonZeroUsize::new(range.len()).map(|length| (start, length)))
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `reserve`, and nobody else knows of it.
        // It cannot fail for whole mappings; what would stay is addresses.
        let _ = unsafe { munmap(self.start.cast(), self.bytes) };
    }
}
