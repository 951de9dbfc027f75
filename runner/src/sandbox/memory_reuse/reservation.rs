//! A reserved range of addresses with one owner. All system calls of slots and stacks about memory are here.

use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::os::fd::AsFd;
use std::ptr::{self, NonNull};

use nix::libc::{c_void, off_t};
use nix::sys::mman::{MapFlags, MmapAdvise, ProtFlags, madvise, mmap, mmap_anonymous, mprotect, munmap};

/// Private, and without the kernel's promise that there is memory for all of it.
const PRIVATE: MapFlags = MapFlags::MAP_PRIVATE.union(MapFlags::MAP_NORESERVE);

/// Addresses of this process, inaccessible at first, released on drop.
#[derive(Debug)]
pub struct Reservation {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the value is the only owner of its addresses, and changes nothing through a shared reference.
unsafe impl Send for Reservation {}
// SAFETY: as above.
unsafe impl Sync for Reservation {}

impl Reservation {
    /// Reserves unused addresses.
    ///
    /// # Errors
    /// When the process does not have so many free addresses.
    pub fn new(bytes: usize) -> io::Result<Self> {
        let length = NonZeroUsize::new(bytes).ok_or(io::ErrorKind::InvalidInput)?;
        // SAFETY: a new mapping, to which there is no reference.
        let start = unsafe { mmap_anonymous(None, length, ProtFlags::PROT_NONE, PRIVATE) }?;
        Ok(Self { start: start.cast(), bytes })
    }

    /// Size of the range.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Address of a byte, or of the end.
    pub fn at(&self, offset: usize) -> *mut u8 {
        self.start.as_ptr().wrapping_add(offset)
    }

    /// Makes a range readable and writable. Bytes never written are zero.
    ///
    /// # Errors
    /// When the range is not of whole pages within the reservation, or the kernel has no memory for it.
    pub fn open(&mut self, range: Range<usize>) -> io::Result<()> {
        self.protect(range, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE)
    }

    /// Makes a range inaccessible.
    ///
    /// # Errors
    /// As [`Reservation::open`].
    pub fn close(&mut self, range: Range<usize>) -> io::Result<()> {
        self.protect(range, ProtFlags::PROT_NONE)
    }

    fn protect(&mut self, range: Range<usize>, protection: ProtFlags) -> io::Result<()> {
        let Some((start, length)) = self.find_part(range)? else { return Ok(()) };
        // SAFETY: a part of this reservation, to which there is no reference: `contents` borrows the reservation.
        Ok(unsafe { mprotect(start, length.get(), protection) }?)
    }

    /// Maps a file's bytes into a range, readable and writable. Writes do not reach the file.
    ///
    /// # Errors
    /// As [`Reservation::open`].
    pub fn map(&mut self, range: Range<usize>, file: &File, offset: u64) -> io::Result<()> {
        let Some((start, length)) = self.find_part(range)? else { return Ok(()) };
        let address = NonZeroUsize::new(start.as_ptr().addr());
        let offset = off_t::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        let writable = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: the mapping replaces a part of this reservation, to which there is no reference.
        unsafe { mmap(address, length, writable, PRIVATE | MapFlags::MAP_FIXED, file.as_fd(), offset) }?;
        Ok(())
    }

    /// Discards all writes to a range, which then holds zeros or the bytes of its file again.
    ///
    /// # Errors
    /// As [`Reservation::open`].
    pub fn discard(&mut self, range: Range<usize>) -> io::Result<()> {
        let Some((start, length)) = self.find_part(range)? else { return Ok(()) };
        // SAFETY: a part of this reservation, to which there is no reference.
        Ok(unsafe { madvise(start, length.get(), MmapAdvise::MADV_DONTNEED) }?)
    }

    /// Writes bytes at an offset.
    ///
    /// # Safety
    /// The bytes from `offset` on must lie within an open range.
    pub unsafe fn write(&mut self, offset: usize, bytes: &[u8]) {
        debug_assert!(offset.checked_add(bytes.len()).is_some_and(|end| end <= self.bytes));
        // SAFETY: the caller's promise; `bytes` cannot lie in this reservation, which is borrowed mutably.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.at(offset), bytes.len()) }
    }

    /// Writes zeros.
    ///
    /// # Safety
    /// The range must lie within an open range.
    pub unsafe fn zero(&mut self, range: Range<usize>) {
        debug_assert!(range.end <= self.bytes);
        // SAFETY: the caller's promise.
        unsafe { ptr::write_bytes(self.at(range.start), 0, range.len()) }
    }

    /// Returns the bytes of a range.
    ///
    /// # Safety
    /// The range must lie within an open range, and nothing may write to it while the reference lives.
    pub unsafe fn contents(&self, range: Range<usize>) -> &[u8] {
        debug_assert!(range.end <= self.bytes);
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.at(range.start), range.len()) }
    }

    /// Returns a range's address and length, unless the range is empty.
    fn find_part(&self, range: Range<usize>) -> io::Result<Option<(NonNull<c_void>, NonZeroUsize)>> {
        if range.start > range.end || range.end > self.bytes {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let start = NonNull::new(self.at(range.start).cast::<c_void>()).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(NonZeroUsize::new(range.len()).map(|length| (start, length)))
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // SAFETY: `new` made the mapping, and there is no other owner.
        // Unmapping a whole mapping cannot fail; the worst outcome would be lost addresses.
        let _ = unsafe { munmap(self.start.cast(), self.bytes) };
    }
}
