//! One memory: an image, zeros behind it, and room to grow within addresses that nobody else has.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::area::Area;
use super::image::Image;
use super::pagemap::Pagemap;

/// What is put right of a memory's pages that were written to, at most; beyond that it is cheaper to have the kernel map all of
/// it anew, and the slot keeps less memory. A trivial run of Python writes less than a megabyte.
const RESET_BYTES_MAX: usize = 4 << 20;

/// How large memories are, and what lies around them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// What a memory has at first.
    pub minimum: usize,
    /// Addresses that compiled code may reach without a check.
    pub reserved: usize,
    /// What can never be reached, behind these and before them.
    pub guard: usize,
}

/// A memory with an image's bytes. Everything else about it is zero or cannot be reached.
#[derive(Debug)]
pub struct Slot {
    area: Area,
    image: Arc<Image>,
    shape: Shape,
    accessible: usize,
}

impl Slot {
    /// Makes one.
    ///
    /// # Errors
    /// When there are no addresses for it, or the image does not fit into it.
    pub fn new(image: Arc<Image>, shape: Shape) -> io::Result<Self> {
        let Shape { minimum, reserved, guard } = shape;
        if image.bytes().len() > minimum || minimum > reserved {
            return Err(io::Error::other("the image does not fit into its memory"));
        }
        let bytes = guard.checked_mul(2).and_then(|guards| guards.checked_add(reserved));
        let area = Area::reserve(bytes.ok_or(io::ErrorKind::InvalidInput)?)?;
        let mut slot = Self { area, image, shape, accessible: minimum };
        let (with_image, zeros) = (slot.within(0..slot.image.bytes().len()), slot.within(slot.zeros()));
        slot.area.map(with_image, slot.image.file(), slot.image.offset())?;
        slot.area.open(zeros)?;
        Ok(slot)
    }

    /// Whether it began with this image.
    pub fn is_of(&self, image: &Arc<Image>) -> bool {
        Arc::ptr_eq(&self.image, image)
    }

    /// Whether it is of the same image as another.
    pub fn is_like(&self, other: &Self) -> bool {
        self.is_of(&other.image)
    }

    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// The bytes that can be reached.
    pub const fn accessible(&self) -> usize {
        self.accessible
    }

    /// The first byte of the memory.
    pub fn start(&self) -> *mut u8 {
        self.area.at(self.shape.guard)
    }

    /// Lets more of it be reached.
    ///
    /// # Errors
    /// When it would be less than before, or more than was reserved.
    pub fn grow(&mut self, bytes: usize) -> io::Result<()> {
        if bytes < self.accessible || bytes > self.shape.reserved {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.area.open(self.within(self.accessible..bytes))?;
        self.accessible = bytes;
        Ok(())
    }

    /// Makes it what it was when it was new, whatever was written to it.
    ///
    /// # Errors
    /// When that did not succeed in full. The slot must then not be used any more.
    pub fn reset(&mut self, pagemap: Option<&Pagemap>) -> io::Result<()> {
        let grown = self.within(self.shape.minimum..self.accessible);
        self.area.discard(grown.clone())?;
        self.area.close(grown)?;
        self.accessible = self.shape.minimum;
        self.put_right(pagemap)?;
        // SAFETY: nobody has this slot.
        debug_assert!(unsafe { self.is_pristine() }, "a memory is not what it was");
        Ok(())
    }

    /// Copies back what was written to, or, when it is much or nobody knows, drops all.
    fn put_right(&mut self, pagemap: Option<&Pagemap>) -> io::Result<()> {
        let within = self.within(0..self.shape.minimum);
        let addresses = self.area.at(within.start).addr()..self.area.at(within.end).addr();
        let (first, guard, area, image) = (addresses.start, self.shape.guard, &mut self.area, self.image.bytes());
        let copy_back = |written: Range<usize>| {
            let (start, end) = (written.start.saturating_sub(first), written.end.saturating_sub(first));
            let zeros = image.len().clamp(start, end)..end;
            // SAFETY: the page map gives ranges within the addresses that it was asked about, which are open.
            unsafe {
                area.write(guard + start, image.get(start..zeros.start).unwrap_or_default());
                area.zero(guard + zeros.start..guard + zeros.end);
            }
        };
        let zeros_from = first + image.len();
        match pagemap.map(|pagemap| pagemap.written(addresses, zeros_from, RESET_BYTES_MAX, copy_back)) {
            Some(Ok(true)) => Ok(()),
            Some(Ok(false) | Err(_)) | None => self.area.discard(within),
        }
    }

    /// All that can be reached.
    ///
    /// # Safety
    /// Nobody may write to it meanwhile.
    pub unsafe fn contents(&self) -> &[u8] {
        // SAFETY: it is open that far, and the caller promises the rest.
        unsafe { self.area.contents(self.within(0..self.accessible)) }
    }

    /// The part of the smallest memory that is not of the image.
    fn zeros(&self) -> Range<usize> {
        self.image.bytes().len()..self.shape.minimum
    }

    /// Where a range of the memory is in the area.
    const fn within(&self, range: Range<usize>) -> Range<usize> {
        self.shape.guard + range.start..self.shape.guard + range.end
    }

    /// Whether it is what it was when it was new.
    ///
    /// # Safety
    /// Nobody may write to it meanwhile.
    unsafe fn is_pristine(&self) -> bool {
        // SAFETY: the minimum is open, and the caller promises the rest.
        let bytes = unsafe { self.area.contents(self.within(0..self.shape.minimum)) };
        let (image, zeros) = bytes.split_at(self.image.bytes().len());
        let is_zero = |bytes: &[u8]| bytes == &[0; 4 << 10][..bytes.len()];
        image == self.image.bytes() && zeros.chunks(4 << 10).all(is_zero) && self.accessible == self.shape.minimum
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
    const SHAPE: Shape = Shape { minimum: IMAGE + (3 << 16), reserved: 64 << 20, guard: 1 << 20 };
    /// As far as a test lets it grow.
    const GROWN: usize = SHAPE.minimum + (8 << 20);

    fn image() -> Arc<Image> {
        image_of(IMAGE)
    }

    /// Bytes of which no two pages are alike, at an offset of their file.
    fn image_of(bytes: usize) -> Arc<Image> {
        let bytes: Vec<u8> = (0..bytes).map(|at| (at / 7 + at / PAGE * 13 + 1) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[vec![9; PAGE].as_slice(), &bytes].concat()).unwrap();
        // SAFETY: nobody changes either.
        Arc::new(unsafe { Image::new(file, PAGE as u64, bytes.leak()) })
    }

    fn new() -> Slot {
        Slot::new(image(), SHAPE).unwrap()
    }

    /// Whether an address can be read.
    fn can_be_read(address: *mut u8) -> bool {
        let remote = [RemoteIoVec { base: address.addr(), len: 1 }];
        process_vm_readv(Pid::this(), &mut [IoSliceMut::new(&mut [0])], &remote).is_ok()
    }

    #[track_caller]
    fn assert_new(slot: &Slot) {
        assert_eq!(slot.accessible(), SHAPE.minimum);
        // SAFETY: nobody writes.
        let bytes = unsafe { slot.area.contents(slot.within(0..SHAPE.minimum)) };
        for (page, (found, expected)) in bytes.chunks(PAGE).zip(slot.image.bytes().chunks(PAGE)).enumerate() {
            assert!(found == expected, "page {page} of the image");
        }
        assert!(bytes[IMAGE..].iter().all(|byte| *byte == 0), "behind the image");
        for offset in [SHAPE.minimum, SHAPE.minimum + PAGE, GROWN, SHAPE.reserved - 1, SHAPE.reserved] {
            assert!(!can_be_read(slot.start().wrapping_add(offset)), "{offset} can be read");
        }
        assert!(!can_be_read(slot.start().wrapping_sub(1)), "what is before it can be read");
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
        /// Has the kernel write pages out, where it can.
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
                // SAFETY: it is open that far.
                unsafe { slot.area.write(SHAPE.guard + start, &bytes) };
            }
            // SAFETY: it is open.
            Step::Read { at } => drop(unsafe { slot.start().add(at.index(size)).read_volatile() }),
            Step::Grow { to } => slot.grow(size + to.index(GROWN - size + 1) / (64 << 10) * (64 << 10)).unwrap(),
            Step::PageOut { at, pages } => {
                let start = at.index(size) / PAGE * PAGE;
                let length = (pages * PAGE).min(size - start);
                // SAFETY: it changes nothing that can be seen. A kernel that does not know it refuses.
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
        fn a_slot_that_was_reset_is_a_new_one(steps in prop::collection::vec(step(), 1..24), scans in any::<bool>()) {
            let (mut slot, pagemap) = (new(), Pagemap::open());
            assert_new(&slot);
            for step in steps {
                take(&mut slot, step, pagemap.as_ref());
            }
            slot.reset(pagemap.as_ref().filter(|_| scans)).unwrap();
            assert_new(&slot);
            // What it grows by is new, too.
            slot.grow(GROWN).unwrap();
            // SAFETY: nobody writes.
            let grown = unsafe { slot.area.contents(slot.within(SHAPE.minimum..GROWN)) };
            prop_assert!(grown.iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn pages_that_were_not_written_to_stay_where_they_are() {
        let Some(pagemap) = Pagemap::open() else { return };
        let mut slot = new();
        let resident = |slot: &Slot| {
            let mut pages = 0;
            let at = |offset: usize| slot.start().addr() + offset;
            let count = |range: Range<usize>| pages += range.len() / PAGE;
            pagemap.written(at(0)..at(SHAPE.minimum), at(IMAGE), usize::MAX, count)?;
            Ok::<_, io::Error>(pages)
        };
        if resident(&slot).is_err() {
            return; // an older kernel
        }
        for page in [0, 3, IMAGE / PAGE - 1, IMAGE / PAGE, SHAPE.minimum / PAGE - 1] {
            // SAFETY: it is open.
            unsafe { slot.area.write(SHAPE.guard + page * PAGE + 5, b"written") };
        }
        // SAFETY: it is open.
        unsafe { slot.start().add(10 * PAGE).read_volatile() };
        assert_eq!(resident(&slot).unwrap(), 5);
        slot.reset(Some(&pagemap)).unwrap();
        assert_new(&slot);
        assert_eq!(resident(&slot).unwrap(), 5, "what was copied back is there for the next run");
        slot.reset(None).unwrap();
        assert_new(&slot);
        assert_eq!(resident(&slot).unwrap(), 0, "what is dropped is not");
    }

    /// The kernel is asked more than once, and has to go on where it stopped.
    #[test]
    fn many_pages_apart_are_copied_back() {
        let Some(pagemap) = Pagemap::open() else { return };
        let bytes = 6 << 20;
        let mut slot = Slot::new(image_of(bytes), Shape { minimum: bytes + (2 << 20), ..SHAPE }).unwrap();
        let written = (0..bytes / PAGE).step_by(2).chain((bytes / PAGE..).step_by(2).take(200));
        for page in written {
            // SAFETY: it is open.
            unsafe { slot.area.write(SHAPE.guard + page * PAGE + 9, b"one of many") };
        }
        slot.reset(Some(&pagemap)).unwrap();
        // SAFETY: nobody writes.
        let found = unsafe { slot.area.contents(slot.within(0..bytes + (2 << 20))) };
        assert!(&found[..bytes] == slot.image.bytes() && found[bytes..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn more_than_is_worth_copying_is_dropped() {
        let Some(pagemap) = Pagemap::open() else { return };
        let mut slot = Slot::new(image(), Shape { minimum: 16 << 20, ..SHAPE }).unwrap();
        // Every other page: ranges that touch nothing else.
        for page in (0..(16 << 20) / PAGE).step_by(2) {
            // SAFETY: it is open.
            unsafe { slot.area.write(SHAPE.guard + page * PAGE, b"much") };
        }
        slot.reset(Some(&pagemap)).unwrap();
        // SAFETY: nobody writes.
        let bytes = unsafe { slot.area.contents(slot.within(0..16 << 20)) };
        assert!(&bytes[..IMAGE] == slot.image.bytes() && bytes[IMAGE..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for shape in [Shape { minimum: IMAGE - 1, ..SHAPE }, Shape { reserved: SHAPE.minimum - 1, ..SHAPE }] {
            assert!(Slot::new(image(), shape).is_err());
        }
        let mut slot = new();
        assert!(slot.grow(SHAPE.minimum - PAGE).is_err() && slot.grow(SHAPE.reserved + PAGE).is_err());
        assert_new(&slot);
        slot.grow(SHAPE.reserved).unwrap();
        assert!(!can_be_read(slot.start().wrapping_add(SHAPE.reserved)), "the guard");
        slot.reset(None).unwrap();
        assert_new(&slot);
        let lost = Image::bytes(&slot.image);
        // SAFETY: the file is empty, and nothing is read of it.
        let image = Arc::new(unsafe { Image::new(File::open("/dev/null").unwrap(), 0, lost) });
        assert!(Slot::new(image, SHAPE).is_err(), "what is no file");
    }
}
