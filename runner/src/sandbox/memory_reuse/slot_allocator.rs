//! Gives the engine of one image its memories, and takes them back when their runs end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};

use parking_lot::Mutex;
use wasmtime::{LinearMemory, MemoryCreator, MemoryType};

use super::idle_slots::IdleSlots;
use super::memory_image::MemoryImage;
use super::pagemap::Pagemap;
use super::slot::{Slot, SlotLayout};
use crate::sandbox::engine::EngineCapacity;

/// Memories of one image per concurrent run: a run is answered before its memory is dropped.
const LIVE_PER_RUN: usize = 2;

/// State shared by the allocators of all images of a process.
#[derive(Clone, Default)]
pub struct SlotReuse {
    /// `None` discards whole memories after each run.
    pub pagemap: Option<Arc<Pagemap>>,
    pub idle: IdleSlots,
}

/// Allocator of the memories of one image. Clones share the memories.
#[derive(Clone)]
pub struct SlotAllocator(Arc<Slots>);

struct Slots {
    image: Arc<MemoryImage>,
    capacity: EngineCapacity,
    reuse: SlotReuse,
    live: AtomicUsize,
    /// Reads the next memory that is returned.
    reader: Mutex<Option<MemoryReader>>,
    /// Reads the memory that grows next, and refuses.
    refusal: Mutex<Option<MemoryReader>>,
}

/// Reads a memory while its run does not execute.
type MemoryReader = Box<dyn FnOnce(&[u8]) + Send>;

impl SlotAllocator {
    pub fn new(image: MemoryImage, capacity: EngineCapacity, reuse: SlotReuse) -> Self {
        let (live, reader, refusal) = (AtomicUsize::new(0), Mutex::default(), Mutex::default());
        Self(Arc::new(Slots { image: Arc::new(image), capacity, reuse, live, reader, refusal }))
    }

    /// Reads the next memory that is returned, before it is reset.
    pub fn read_next<T: Send + 'static>(&self, read: impl FnOnce(&[u8]) -> T + Send + 'static) -> Receiver<T> {
        let (sender, receiver) = mpsc::channel();
        *self.0.reader.lock() = Some(Box::new(move |memory: &[u8]| drop(sender.send(read(memory))))); // the receiver may be gone
        receiver
    }

    /// Makes the memory that grows next refuse, after it was read.
    pub fn refuse_next(&self, read: impl FnOnce(&[u8]) + Send + 'static) {
        *self.0.refusal.lock() = Some(Box::new(read));
    }

    /// Makes the memory that grows next grow.
    pub fn refuse_none(&self) {
        *self.0.refusal.lock() = None;
    }

    /// Takes a slot that holds nothing but the image.
    fn take(&self, layout: SlotLayout) -> Result<Slot, String> {
        let Slots { image, capacity, reuse: SlotReuse { idle, .. }, live, .. } = &*self.0;
        let live_max = LIVE_PER_RUN.saturating_mul(usize::try_from(capacity.runs).unwrap_or(usize::MAX));
        let taken =
            live.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |live| (live < live_max).then_some(live + 1));
        taken.map_err(|_| format!("{live_max} memories of the image are in use, which is the limit"))?;
        let slot = idle.take(image, layout).map_or_else(|| Slot::new(image.clone(), layout), Ok);
        slot.map_err(|error| {
            live.fetch_sub(1, Ordering::Relaxed);
            error.to_string()
        })
    }

    /// Takes a slot back, and keeps it when its reset succeeds. There is no other way for a slot to become idle.
    fn put(&self, mut slot: Slot) {
        let Slots { reuse: SlotReuse { pagemap, idle }, live, reader, .. } = &*self.0;
        let reader = reader.lock().take();
        if let Some(read) = reader {
            // SAFETY: the run has ended, and nothing else writes to its memory.
            read(unsafe { slot.contents() });
        }
        let reset = slot.reset(pagemap.as_deref());
        live.fetch_sub(1, Ordering::Relaxed);
        if reset.is_ok() {
            idle.put(slot);
        }
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        self.reuse.idle.forget(&self.image);
    }
}

// SAFETY: a memory is the only owner of its addresses, as many as the engine asks to reserve, with guards around them. It
// begins with the image instead of the zeros that the engine expects; the component's code was compiled for that.
unsafe impl MemoryCreator for SlotAllocator {
    fn new_memory(
        &self,
        memory: MemoryType,
        minimum: usize,
        _maximum: Option<usize>,
        reserved: Option<usize>,
        guard: usize,
    ) -> Result<Box<dyn LinearMemory>, String> {
        // Snapshots share the code of their image, and have a larger initial memory than the code asks for.
        let minimum = minimum.max(self.0.image.bytes().len());
        if memory.is_64() || memory.is_shared() || minimum > self.0.capacity.memory_bytes {
            return Err("the memory is 64-bit, shared, or larger than the limit of a run".to_owned());
        }
        let reserved = reserved.ok_or("the memory has no reserved size")?;
        let slot = self.take(SlotLayout { minimum, reserved, guard })?;
        Ok(Box::new(SlotMemory { slot: Some(slot), allocator: self.clone() }))
    }
}

/// Memory of one run.
struct SlotMemory {
    slot: Option<Slot>,
    allocator: SlotAllocator,
}

// SAFETY: as for the creator; the slot exists until the memory is dropped.
unsafe impl LinearMemory for SlotMemory {
    fn byte_size(&self) -> usize {
        self.slot.as_ref().map_or(0, Slot::accessible)
    }

    fn byte_capacity(&self) -> usize {
        self.slot.as_ref().map_or(0, |slot| slot.layout().reserved)
    }

    fn grow_to(&mut self, bytes: usize) -> wasmtime::Result<()> {
        let refusal = self.allocator.0.refusal.lock().take();
        let is_refused = refusal.is_some();
        if let Some((read, slot)) = refusal.zip(self.slot.as_ref()) {
            // SAFETY: the run waits for the answer, and nothing else writes to its memory.
            read(unsafe { slot.contents() });
        }
        if is_refused || bytes > self.allocator.0.capacity.memory_bytes {
            return Err(wasmtime::Error::msg("the memory would exceed the limit of a run"));
        }
        Ok(self.slot.as_mut().ok_or_else(|| wasmtime::Error::msg("the memory was dropped"))?.grow(bytes)?)
    }

    fn as_ptr(&self) -> *mut u8 {
        self.slot.as_ref().map_or(std::ptr::null_mut(), Slot::start)
    }
}

impl Drop for SlotMemory {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.allocator.put(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const BYTES: usize = 64 << 10;

    fn allocator(image_bytes: usize) -> SlotAllocator {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![5; image_bytes]).unwrap();
        // SAFETY: nothing changes the file or the bytes.
        let image = unsafe { MemoryImage::new(file, 0, vec![5; image_bytes].leak()) };
        let capacity = EngineCapacity { runs: 1, memory_bytes: 4 * BYTES };
        SlotAllocator::new(
            image,
            capacity,
            SlotReuse { pagemap: Pagemap::open().map(Arc::new), ..SlotReuse::default() },
        )
    }

    fn memory(slots: &SlotAllocator, minimum: usize) -> Result<Box<dyn LinearMemory>, String> {
        slots.new_memory(MemoryType::new(2, None), minimum, None, Some(16 * BYTES), BYTES)
    }

    #[test]
    fn a_memory_contains_its_image_whatever_the_code_asks_for() {
        let slots = allocator(3 * BYTES);
        let mut one = memory(&slots, BYTES).unwrap();
        assert_eq!(one.byte_size(), 3 * BYTES);
        one.grow_to(4 * BYTES).unwrap();
        // SAFETY: the byte is open, and there is no reference to it.
        unsafe { one.as_ptr().add(2 * BYTES).write(9) };
        let captured = slots.read_next(<[u8]>::to_vec);
        assert!(captured.try_recv().is_err(), "the run goes on");
        let (sender, refused) = mpsc::channel();
        slots.refuse_next(move |memory| sender.send(memory[2 * BYTES]).unwrap());
        assert!(one.grow_to(4 * BYTES).is_err() && refused.try_recv() == Ok(9), "it is read and refuses");
        assert!(one.grow_to(4 * BYTES).is_ok(), "once");
        slots.refuse_next(|_| unreachable!());
        slots.refuse_none();
        assert!(one.grow_to(4 * BYTES).is_ok());
        drop(one);
        let copy = captured.recv().unwrap();
        assert_eq!((copy.len(), copy[2 * BYTES - 1], copy[2 * BYTES], copy[3 * BYTES]), (4 * BYTES, 5, 9, 0));
        assert_eq!(memory(&slots, BYTES).unwrap().byte_size(), 3 * BYTES);
        assert!(captured.recv().is_err(), "one memory is captured");
        assert!(memory(&allocator(5 * BYTES), BYTES).is_err(), "beyond the limit of a run");
    }

    #[test]
    fn number_and_size_of_memories_are_bounded() {
        let slots = allocator(BYTES);
        let mut all: Vec<_> = (0..LIVE_PER_RUN).map(|_| memory(&slots, 2 * BYTES).unwrap()).collect();
        assert!(memory(&slots, 2 * BYTES).is_err(), "beyond the number");
        let mut one = all.remove(0);
        assert_eq!((one.byte_size(), one.byte_capacity()), (2 * BYTES, 16 * BYTES));
        assert!(one.grow_to(5 * BYTES).is_err() && one.grow_to(4 * BYTES).is_ok());
        let address = one.as_ptr();
        assert_ne!(address, all[0].as_ptr());
        drop(one);
        let again = memory(&slots, 2 * BYTES).unwrap();
        assert_eq!((again.as_ptr(), again.byte_size()), (address, 2 * BYTES), "the same slot, reset");
        drop((again, all));
        assert_eq!(slots.0.reuse.idle.count(), LIVE_PER_RUN);
        assert!(memory(&slots, 5 * BYTES).is_err());
        assert_eq!(slots.0.live.load(Ordering::Relaxed), 0);
        let wide = slots.new_memory(MemoryType::new64(2, None), 2 * BYTES, None, Some(16 * BYTES), BYTES);
        assert!(wide.is_err(), "64-bit addresses");
        let idle = slots.0.reuse.idle.clone();
        drop(slots);
        assert_eq!(idle.count(), 0, "slots are dropped with their allocator");
    }
}
