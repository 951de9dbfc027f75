//! One reusable linear memory: an image, zeros after it, and reserved addresses to grow into.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::memory_image::MemoryImage;
use super::pagemap::{Pagemap, Scan};
use super::reservation::Reservation;

/// Written bytes that a reset restores one by one. Beyond it, discarding the whole memory is cheaper, and the slot retains
/// less. A trivial run of Python writes less than a megabyte.
const RESET_BYTES_MAX: usize = 4 << 20;

/// Sizes of a memory and of the addresses around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotLayout {
    /// Size at the start of a run.
    pub minimum: usize,
    /// Addresses that compiled code may reach without a check.
    pub reserved: usize,
    /// Addresses before and after the reserved ones, never accessible.
    pub guard: usize,
}

/// A memory that begins with an image. All other bytes are zero or inaccessible.
#[derive(Debug)]
pub struct Slot {
    reservation: Reservation,
    image: Arc<MemoryImage>,
    layout: SlotLayout,
    accessible: usize,
}

impl Slot {
    /// Maps a new slot.
    ///
    /// # Errors
    /// When there are no addresses for it, or the image does not fit into it.
    pub fn new(image: Arc<MemoryImage>, layout: SlotLayout) -> io::Result<Self> {
        let SlotLayout { minimum, reserved, guard } = layout;
        if image.bytes().len() > minimum || minimum > reserved {
            return Err(io::Error::other("the image does not fit into the memory"));
        }
        let bytes = guard.checked_mul(2).and_then(|guards| guards.checked_add(reserved));
        let reservation = Reservation::new(bytes.ok_or(io::ErrorKind::InvalidInput)?)?;
        let mut slot = Self { reservation, image, layout, accessible: minimum };
        let (with_image, zeros) = (slot.within(0..slot.image.bytes().len()), slot.within(slot.zeros()));
        slot.reservation.map(with_image, slot.image.file(), slot.image.offset())?;
        slot.reservation.open(zeros)?;
        Ok(slot)
    }

    /// Returns whether the slot begins with this image.
    pub fn is_of(&self, image: &Arc<MemoryImage>) -> bool {
        Arc::ptr_eq(&self.image, image)
    }

    /// Returns whether the slot begins with the other slot's image.
    pub fn has_image_of(&self, other: &Self) -> bool {
        self.is_of(&other.image)
    }

    pub const fn layout(&self) -> SlotLayout {
        self.layout
    }

    /// Number of accessible bytes.
    pub const fn accessible(&self) -> usize {
        self.accessible
    }

    /// Address of the first byte.
    pub fn start(&self) -> *mut u8 {
        self.reservation.at(self.layout.guard)
    }

    /// Grows the memory to a size.
    ///
    /// # Errors
    /// When the memory would shrink, or exceed the reserved addresses.
    pub fn grow(&mut self, bytes: usize) -> io::Result<()> {
        if bytes < self.accessible || bytes > self.layout.reserved {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.reservation.open(self.within(self.accessible..bytes))?;
        self.accessible = bytes;
        Ok(())
    }

    /// Resets the slot to the state of a new one.
    ///
    /// # Errors
    /// When the reset failed in part. The slot must then not be used again.
    pub fn reset(&mut self, pagemap: Option<&Pagemap>) -> io::Result<()> {
        let grown = self.within(self.layout.minimum..self.accessible);
        self.reservation.discard(grown.clone())?;
        self.reservation.close(grown)?;
        self.accessible = self.layout.minimum;
        self.restore(pagemap)?;
        // SAFETY: there is no other reference to the slot's bytes.
        debug_assert!(unsafe { self.is_pristine() }, "a reset slot differs from a new one");
        Ok(())
    }

    /// Restores the written pages, or discards the whole memory when they are many or unknown.
    fn restore(&mut self, pagemap: Option<&Pagemap>) -> io::Result<()> {
        let within = self.within(0..self.layout.minimum);
        let addresses = self.reservation.at(within.start).addr()..self.reservation.at(within.end).addr();
        let (first, guard) = (addresses.start, self.layout.guard);
        let (reservation, image) = (&mut self.reservation, self.image.bytes());
        let restore = |written: Range<usize>| {
            let (start, end) = (written.start.saturating_sub(first), written.end.saturating_sub(first));
            let zeros = image.len().clamp(start, end)..end;
            // SAFETY: the page map returns ranges within the scanned addresses, which are open.
            unsafe {
                reservation.write(guard + start, image.get(start..zeros.start).unwrap_or_default());
                reservation.zero(guard + zeros.start..guard + zeros.end);
            }
        };
        let scan = Scan { within: addresses, zeros_from: first + image.len(), bytes_max: RESET_BYTES_MAX };
        match pagemap.map(|pagemap| pagemap.find_written(&scan, restore)) {
            Some(Ok(true)) => Ok(()),
            Some(Ok(false) | Err(_)) | None => self.reservation.discard(within),
        }
    }

    /// Returns all accessible bytes.
    ///
    /// # Safety
    /// Nothing may write to them while the reference lives.
    pub unsafe fn contents(&self) -> &[u8] {
        // SAFETY: the range is open, and the caller promises the rest.
        unsafe { self.reservation.contents(self.within(0..self.accessible)) }
    }

    /// The part of the minimal memory after the image.
    fn zeros(&self) -> Range<usize> {
        self.image.bytes().len()..self.layout.minimum
    }

    /// Position of a range of the memory in the reservation.
    const fn within(&self, range: Range<usize>) -> Range<usize> {
        self.layout.guard + range.start..self.layout.guard + range.end
    }

    /// Returns whether the slot equals a new one.
    ///
    /// # Safety
    /// Nothing may write to the slot meanwhile.
    unsafe fn is_pristine(&self) -> bool {
        // SAFETY: the minimum is open, and the caller promises the rest.
        let bytes = unsafe { self.reservation.contents(self.within(0..self.layout.minimum)) };
        let (image, zeros) = bytes.split_at(self.image.bytes().len());
        let is_zero = |bytes: &[u8]| bytes == &[0; 4 << 10][..bytes.len()];
        image == self.image.bytes() && zeros.chunks(4 << 10).all(is_zero) && self.accessible == self.layout.minimum
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{IoSliceMut, Write};

    use nix::libc;
    use nix::sys::uio::{RemoteIoVec, process_vm_readv};
    use nix::unistd::Pid;
    use proptest::prelude::*;

    use super::*;

    const PAGE: usize = 4 << 10;
    const IMAGE: usize = 5 * (64 << 10);
    const LAYOUT: SlotLayout = SlotLayout { minimum: IMAGE + (3 << 16), reserved: 64 << 20, guard: 1 << 20 };
    /// Size to which tests let a slot grow.
    const GROWN: usize = LAYOUT.minimum + (8 << 20);

    fn image() -> Arc<MemoryImage> {
        image_of(IMAGE)
    }

    /// Returns an image without two equal pages, at an offset of its file.
    fn image_of(bytes: usize) -> Arc<MemoryImage> {
        let bytes: Vec<u8> = (0..bytes).map(|at| (at / 7 + at / PAGE * 13 + 1) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[vec![9; PAGE].as_slice(), &bytes].concat()).unwrap();
        // SAFETY: nothing changes the file or the bytes.
        Arc::new(unsafe { MemoryImage::new(file, PAGE as u64, bytes.leak()) })
    }

    fn new() -> Slot {
        Slot::new(image(), LAYOUT).unwrap()
    }

    /// Returns whether an address can be read.
    fn can_be_read(address: *mut u8) -> bool {
        let remote = [RemoteIoVec { base: address.addr(), len: 1 }];
        process_vm_readv(Pid::this(), &mut [IoSliceMut::new(&mut [0])], &remote).is_ok()
    }

    #[track_caller]
    fn assert_new(slot: &Slot) {
        assert_eq!(slot.accessible(), LAYOUT.minimum);
        // SAFETY: nothing writes to the slot.
        let bytes = unsafe { slot.reservation.contents(slot.within(0..LAYOUT.minimum)) };
        for (page, (found, expected)) in bytes.chunks(PAGE).zip(slot.image.bytes().chunks(PAGE)).enumerate() {
            assert!(found == expected, "page {page} of the image");
        }
        assert!(bytes[IMAGE..].iter().all(|byte| *byte == 0), "after the image");
        for offset in [LAYOUT.minimum, LAYOUT.minimum + PAGE, GROWN, LAYOUT.reserved - 1, LAYOUT.reserved] {
            assert!(!can_be_read(slot.start().wrapping_add(offset)), "{offset} can be read");
        }
        assert!(!can_be_read(slot.start().wrapping_sub(1)), "the guard before the memory can be read");
    }

    #[derive(Debug, Clone)]
    enum Step {
        Write {
            at: prop::sample::Index,
            bytes: usize,
            with: u8,
        },
        Read {
            at: prop::sample::Index,
        },
        Grow {
            to: prop::sample::Index,
        },
        /// Asks the kernel to write pages to swap.
        PageOut {
            at: prop::sample::Index,
            pages: usize,
        },
        Reset {
            scans: bool,
        },
    }

    fn step() -> impl Strategy<Value = Step> {
        let index = any::<prop::sample::Index>;
        prop_oneof![
            4 => (index(), prop_oneof![1..20_usize, 1..300_000_usize], 1..=255_u8)
                .prop_map(|(at, bytes, with)| Step::Write { at, bytes, with }),
            1 => index().prop_map(|at| Step::Read { at }),
            1 => index().prop_map(|to| Step::Grow { to }),
            2 => (index(), 1..64_usize).prop_map(|(at, pages)| Step::PageOut { at, pages }),
            1 => any::<bool>().prop_map(|scans| Step::Reset { scans }),
        ]
    }

    fn take(slot: &mut Slot, step: Step, pagemap: Option<&Pagemap>) {
        let size = slot.accessible();
        match step {
            Step::Write { at, bytes, with } => {
                let start = at.index(size);
                let bytes = vec![with; bytes.min(size - start)];
                // SAFETY: the bytes are open.
                unsafe { slot.reservation.write(LAYOUT.guard + start, &bytes) };
            }
            // SAFETY: the bytes are open.
            Step::Read { at } => drop(unsafe { slot.start().add(at.index(size)).read_volatile() }),
            Step::Grow { to } => slot.grow(size + to.index(GROWN - size + 1) / (64 << 10) * (64 << 10)).unwrap(),
            Step::PageOut { at, pages } => {
                let start = at.index(size) / PAGE * PAGE;
                let length = (pages * PAGE).min(size - start);
                // SAFETY: the contents stay the same. A kernel without this advice refuses it.
                unsafe { libc::madvise(slot.start().add(start).cast(), length, libc::MADV_PAGEOUT) };
            }
            Step::Reset { scans } => {
                slot.reset(pagemap.filter(|_| scans)).unwrap();
                assert_new(slot);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn a_reset_slot_equals_a_new_one(steps in prop::collection::vec(step(), 1..24), scans in any::<bool>()) {
            let (mut slot, pagemap) = (new(), Pagemap::open());
            assert_new(&slot);
            for step in steps {
                take(&mut slot, step, pagemap.as_ref());
            }
            slot.reset(pagemap.as_ref().filter(|_| scans)).unwrap();
            assert_new(&slot);
            // Memory that it grows by is zero, too.
            slot.grow(GROWN).unwrap();
            // SAFETY: nothing writes to the slot.
            let grown = unsafe { slot.reservation.contents(slot.within(LAYOUT.minimum..GROWN)) };
            prop_assert!(grown.iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn written_pages_stay_resident() {
        let pagemap = Pagemap::open().expect("/proc/self/pagemap can be opened");
        let mut slot = new();
        let resident = |slot: &Slot| {
            let mut pages = 0;
            let at = |offset: usize| slot.start().addr() + offset;
            let count = |range: Range<usize>| pages += range.len() / PAGE;
            let scan = Scan { within: at(0)..at(LAYOUT.minimum), zeros_from: at(IMAGE), bytes_max: usize::MAX };
            pagemap.find_written(&scan, count)?;
            Ok::<_, io::Error>(pages)
        };
        for page in [0, 3, IMAGE / PAGE - 1, IMAGE / PAGE, LAYOUT.minimum / PAGE - 1] {
            // SAFETY: the bytes are open.
            unsafe { slot.reservation.write(LAYOUT.guard + page * PAGE + 5, b"written") };
        }
        // SAFETY: the bytes are open.
        unsafe { slot.start().add(10 * PAGE).read_volatile() };
        assert_eq!(resident(&slot).unwrap(), 5);
        slot.reset(Some(&pagemap)).unwrap();
        assert_new(&slot);
        assert_eq!(resident(&slot).unwrap(), 5, "restored pages are resident for the next run");
        slot.reset(None).unwrap();
        assert_new(&slot);
        assert_eq!(resident(&slot).unwrap(), 0, "discarded pages are not");
    }

    /// The scan takes several calls, each of which continues where the one before stopped.
    #[test]
    fn many_separate_pages_are_restored() {
        let pagemap = Pagemap::open().expect("/proc/self/pagemap can be opened");
        let bytes = 6 << 20;
        let mut slot = Slot::new(image_of(bytes), SlotLayout { minimum: bytes + (2 << 20), ..LAYOUT }).unwrap();
        let written = (0..bytes / PAGE).step_by(2).chain((bytes / PAGE..).step_by(2).take(200));
        for page in written {
            // SAFETY: the bytes are open.
            unsafe { slot.reservation.write(LAYOUT.guard + page * PAGE + 9, b"one of many") };
        }
        slot.reset(Some(&pagemap)).unwrap();
        // SAFETY: nothing writes to the slot.
        let found = unsafe { slot.reservation.contents(slot.within(0..bytes + (2 << 20))) };
        assert!(&found[..bytes] == slot.image.bytes() && found[bytes..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn many_written_bytes_are_discarded() {
        let pagemap = Pagemap::open().expect("/proc/self/pagemap can be opened");
        let mut slot = Slot::new(image(), SlotLayout { minimum: 16 << 20, ..LAYOUT }).unwrap();
        // Every other page, so that no two ranges touch.
        for page in (0..(16 << 20) / PAGE).step_by(2) {
            // SAFETY: the bytes are open.
            unsafe { slot.reservation.write(LAYOUT.guard + page * PAGE, b"much") };
        }
        slot.reset(Some(&pagemap)).unwrap();
        // SAFETY: nothing writes to the slot.
        let bytes = unsafe { slot.reservation.contents(slot.within(0..16 << 20)) };
        assert!(&bytes[..IMAGE] == slot.image.bytes() && bytes[IMAGE..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn layouts_that_do_not_fit_are_refused() {
        for layout in
            [SlotLayout { minimum: IMAGE - 1, ..LAYOUT }, SlotLayout { reserved: LAYOUT.minimum - 1, ..LAYOUT }]
        {
            assert!(Slot::new(image(), layout).is_err());
        }
        let mut slot = new();
        assert!(slot.grow(LAYOUT.minimum - PAGE).is_err() && slot.grow(LAYOUT.reserved + PAGE).is_err());
        assert_new(&slot);
        slot.grow(LAYOUT.reserved).unwrap();
        assert!(!can_be_read(slot.start().wrapping_add(LAYOUT.reserved)), "the guard");
        slot.reset(None).unwrap();
        assert_new(&slot);
        let lost = MemoryImage::bytes(&slot.image);
        // SAFETY: the file is empty, and its bytes are never read.
        let image = Arc::new(unsafe { MemoryImage::new(File::open("/dev/null").unwrap(), 0, lost) });
        assert!(Slot::new(image, LAYOUT).is_err(), "a device is not a file");
    }
}
