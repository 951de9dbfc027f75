//! Memories that begin with an image, kept from one run to the next: those of a language's image, and of an author's
//! component whose one memory is known before it runs (`split.rs`).
//!
//! The engine's own pool drops a whole memory when a run ends, clean pages included, and the next run finds them again with
//! a page fault each. Here a run's memory is a **slot**: a private mapping of the image's bytes, straight from the sealed
//! file in which the compiled code lies, with zeros behind it. When the run ends, the pages that it wrote to are copied back
//! from the image, and all others stay as they are; what the memory had grown by is taken away. The next run finds a memory
//! that is what it would be if it were new, with its pages in place.
//!
//! That no byte of a run is left for another rests on this: a slot is reset before anybody can have it again
//! ([`Slots::put`] is the only way back); which pages were written to is told by the kernel from its page table, and
//! whatever it is not sure of counts (`slots/pagemap.rs` goes through the states of a page); where the kernel does not tell
//! (before Linux 6.7, or no access), or a run has written much, everything is dropped, which is what the engine's pool
//! does; and a slot whose reset fails in any part is given back to the system. Debug builds compare each slot with its image
//! after each reset. A scan of the kind has a trap, in which the engine's own is caught in the releases up to 49: a page in
//! swap is not present, and yet written to.
//!
//! One engine serves one image: an engine asks for a memory by its size alone, so the image is told by the engine. Components
//! of another kind stay in the engine's pool.

mod area;
mod idle;
mod image;
mod pagemap;
mod slot;
mod stack;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wasmtime::{LinearMemory, MemoryCreator, MemoryType};

pub use self::idle::Idle;
pub use self::image::Image;
pub use self::pagemap::{Pagemap, REQUEST};
use self::slot::{Shape, Slot};
pub use self::stack::{STACK_BYTES_KEPT, Stacks};
use crate::engine::Room;

/// Memories of one image at once, of each run that there may be: an answer leaves before its run's memory is dropped.
const LIVE_PER_RUN: usize = 2;

/// The memories of one image. Clones are one.
#[derive(Clone)]
pub struct Slots(Arc<Shared>);

struct Shared {
    image: Arc<Image>,
    room: Room,
    pagemap: Option<Arc<Pagemap>>,
    idle: Idle,
    live: AtomicUsize,
    /// What became of the next memory that comes back is wanted, or is there.
    picture: Mutex<Option<Option<Vec<u8>>>>,
}

impl Slots {
    /// Without a page map all is dropped after each run.
    pub fn new(image: Image, room: Room, pagemap: Option<Arc<Pagemap>>, idle: Idle) -> Self {
        Self(Arc::new(Shared {
            image: Arc::new(image),
            room,
            pagemap,
            idle,
            live: AtomicUsize::new(0),
            picture: Mutex::default(),
        }))
    }

    /// Has the memory that comes back next copied before it is reset.
    pub fn picture_next(&self) {
        *self.wanted() = Some(None);
    }

    /// That copy.
    pub fn picture(&self) -> Option<Vec<u8>> {
        self.wanted().take().flatten()
    }

    /// A slot with nothing in it but the image.
    fn take(&self, shape: Shape) -> Result<Slot, String> {
        let Shared { image, room, idle, live, .. } = &*self.0;
        let live_max = LIVE_PER_RUN.saturating_mul(usize::try_from(room.runs).unwrap_or(usize::MAX));
        let taken =
            live.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |live| (live < live_max).then_some(live + 1));
        taken.map_err(|_| "there are as many memories as there may be".to_owned())?;
        let slot = idle.take(image, shape).map_or_else(|| Slot::new(image.clone(), shape), Ok);
        slot.map_err(|error| {
            live.fetch_sub(1, Ordering::Relaxed);
            error.to_string()
        })
    }

    /// Takes a slot back, resets it, and keeps it when it is what it was.
    fn put(&self, mut slot: Slot) {
        let Shared { pagemap, idle, live, .. } = &*self.0;
        if let Some(wanted @ None) = &mut *self.wanted() {
            // SAFETY: the run is over, and nobody else has its memory.
            *wanted = Some(unsafe { slot.contents() }.to_vec());
        }
        let reset = slot.reset(pagemap.as_deref());
        live.fetch_sub(1, Ordering::Relaxed);
        if reset.is_ok() {
            idle.put(slot);
        }
    }

    fn wanted(&self) -> MutexGuard<'_, Option<Option<Vec<u8>>>> {
        // A panic while the lock was held cannot have left half a copy.
        self.0.picture.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.idle.forget(&self.image);
    }
}

// SAFETY: a memory has its addresses to itself, as many as the engine asks to be reserved, with guards around them. It
// does not begin with zeros, as the engine expects, but with the bytes that its image was taken from.
unsafe impl MemoryCreator for Slots {
    fn new_memory(
        &self,
        memory: MemoryType,
        minimum: usize,
        _maximum: Option<usize>,
        reserved: Option<usize>,
        guard: usize,
    ) -> Result<Box<dyn LinearMemory>, String> {
        // An image shares its code with its snapshots, whose memory is larger from the start.
        let minimum = minimum.max(self.0.image.bytes().len());
        if memory.is_64() || memory.is_shared() || minimum > self.0.room.memory_bytes {
            return Err("the memory is none of an image".to_owned());
        }
        let reserved = reserved.ok_or("the memory has no bounds")?;
        let slot = self.take(Shape { minimum, reserved, guard })?;
        Ok(Box::new(Memory { slot: Some(slot), slots: self.clone() }))
    }
}

/// The memory of one run.
struct Memory {
    slot: Option<Slot>,
    slots: Slots,
}

// SAFETY: as for the creator; the slot is there until the memory is dropped.
unsafe impl LinearMemory for Memory {
    fn byte_size(&self) -> usize {
        self.slot.as_ref().map_or(0, Slot::accessible)
    }

    fn byte_capacity(&self) -> usize {
        self.slot.as_ref().map_or(0, |slot| slot.shape().reserved)
    }

    fn grow_to(&mut self, bytes: usize) -> wasmtime::Result<()> {
        if bytes > self.slots.0.room.memory_bytes {
            return Err(wasmtime::Error::msg("no run may have so much memory"));
        }
        Ok(self.slot.as_mut().ok_or_else(|| wasmtime::Error::msg("the memory is gone"))?.grow(bytes)?)
    }

    fn as_ptr(&self) -> *mut u8 {
        self.slot.as_ref().map_or(std::ptr::null_mut(), Slot::start)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.slots.put(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const BYTES: usize = 64 << 10;

    fn slots() -> Slots {
        slots_of(BYTES)
    }

    fn slots_of(bytes: usize) -> Slots {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![5; bytes]).unwrap();
        // SAFETY: nobody changes either.
        let image = unsafe { Image::new(file, 0, vec![5; bytes].leak()) };
        Slots::new(image, Room { runs: 1, memory_bytes: 4 * BYTES }, Pagemap::open().map(Arc::new), Idle::default())
    }

    fn memory(slots: &Slots, minimum: usize) -> Result<Box<dyn LinearMemory>, String> {
        slots.new_memory(MemoryType::new(2, None), minimum, None, Some(16 * BYTES), BYTES)
    }

    #[test]
    fn a_memory_has_room_for_its_image_whatever_the_code_asks_for() {
        let slots = slots_of(3 * BYTES);
        let mut one = memory(&slots, BYTES).unwrap();
        assert_eq!(one.byte_size(), 3 * BYTES);
        one.grow_to(4 * BYTES).unwrap();
        // SAFETY: it is open that far, and nobody else has it.
        unsafe { one.as_ptr().add(2 * BYTES).write(9) };
        assert!(slots.picture().is_none());
        slots.picture_next();
        drop(one);
        let picture = slots.picture().unwrap();
        assert_eq!(
            (picture.len(), picture[2 * BYTES - 1], picture[2 * BYTES], picture[3 * BYTES]),
            (4 * BYTES, 5, 9, 0)
        );
        assert_eq!(memory(&slots, BYTES).unwrap().byte_size(), 3 * BYTES);
        assert!(slots.picture().is_none(), "one is enough");
        assert!(memory(&slots_of(5 * BYTES), BYTES).is_err(), "more than a run may have");
    }

    #[test]
    fn memories_are_as_many_and_as_large_as_they_may_be() {
        let slots = slots();
        let mut all: Vec<_> = (0..LIVE_PER_RUN).map(|_| memory(&slots, 2 * BYTES).unwrap()).collect();
        assert!(memory(&slots, 2 * BYTES).is_err(), "more than there may be");
        let mut one = all.remove(0);
        assert_eq!((one.byte_size(), one.byte_capacity()), (2 * BYTES, 16 * BYTES));
        assert!(one.grow_to(5 * BYTES).is_err() && one.grow_to(4 * BYTES).is_ok());
        let place = one.as_ptr();
        assert_ne!(place, all[0].as_ptr());
        drop(one);
        let again = memory(&slots, 2 * BYTES).unwrap();
        assert_eq!((again.as_ptr(), again.byte_size()), (place, 2 * BYTES), "the same one, as it was");
        drop((again, all));
        assert_eq!(slots.0.idle.count(), LIVE_PER_RUN);
        assert!(memory(&slots, 5 * BYTES).is_err());
        assert_eq!(slots.0.live.load(Ordering::Relaxed), 0);
        let wide = slots.new_memory(MemoryType::new64(2, None), 2 * BYTES, None, Some(16 * BYTES), BYTES);
        assert!(wide.is_err(), "wide addresses");
        let idle = slots.0.idle.clone();
        drop(slots);
        assert_eq!(idle.count(), 0, "nobody can have them any more");
    }
}
