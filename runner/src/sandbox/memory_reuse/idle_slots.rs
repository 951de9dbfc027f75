//! Reset slots, kept for later runs of their image.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use super::memory_image::MemoryImage;
use super::slot::{Slot, SlotLayout};

/// Idle slots of one image. Each retains the pages that runs have written: about a megabyte for Python, four at most.
const OF_IMAGE_MAX: usize = 8;
/// Idle slots of all images: enough for a burst over a runner's tools, without spending memory on tools that no longer run.
const MAX: usize = 64;

/// Idle slots of all images of a process, least recently used first. Clones share the slots.
#[derive(Clone, Default)]
pub struct IdleSlots(Arc<Mutex<VecDeque<Slot>>>);

impl IdleSlots {
    /// Takes the most recently used slot of an image and layout.
    pub fn take(&self, image: &Arc<MemoryImage>, layout: SlotLayout) -> Option<Slot> {
        let mut slots = self.0.lock();
        let index = slots.iter().rposition(|slot| slot.is_of(image) && slot.layout() == layout)?;
        slots.remove(index)
    }

    /// Keeps a reset slot. At a bound the least recently used slot is evicted.
    pub fn put(&self, slot: Slot) {
        // Unmapping takes time, so the evicted slot is dropped without the lock.
        drop(self.exchange(slot));
    }

    fn exchange(&self, slot: Slot) -> Option<Slot> {
        let mut slots = self.0.lock();
        let of_image = slots.iter().filter(|other| other.has_image_of(&slot)).count();
        let first = slots.iter().position(|other| of_image < OF_IMAGE_MAX || other.has_image_of(&slot));
        let evicted = first.filter(|_| of_image >= OF_IMAGE_MAX || slots.len() >= MAX);
        let evicted = evicted.and_then(|index| slots.remove(index));
        slots.push_back(slot);
        evicted
    }

    /// Drops the slots of an image that no run can use any more.
    pub fn forget(&self, image: &Arc<MemoryImage>) {
        let forgotten: VecDeque<_> = {
            let mut slots = self.0.lock();
            let (forgotten, kept) = slots.drain(..).partition(|slot| slot.is_of(image));
            *slots = kept;
            forgotten
        };
        drop(forgotten);
    }

    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.0.lock().len()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const BYTES: usize = 64 << 10;
    const LAYOUT: SlotLayout = SlotLayout { minimum: BYTES, reserved: BYTES, guard: 0 };

    fn image() -> Arc<MemoryImage> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[5; BYTES]).unwrap();
        // SAFETY: nothing changes the file or the bytes.
        Arc::new(unsafe { MemoryImage::new(file, 0, vec![5; BYTES].leak()) })
    }

    #[test]
    fn slots_are_kept_up_to_the_bounds() {
        let (idle, images) = (IdleSlots::default(), [(); 20].map(|()| image()));
        let put = |image: &Arc<MemoryImage>| idle.put(Slot::new(image.clone(), LAYOUT).unwrap());
        let of = |image: &Arc<MemoryImage>| idle.0.lock().iter().filter(|slot| slot.is_of(image)).count();
        (0..=OF_IMAGE_MAX).for_each(|_| put(&images[0]));
        assert_eq!((of(&images[0]), idle.count()), (OF_IMAGE_MAX, OF_IMAGE_MAX));
        images[1..].iter().for_each(|image| (0..3).for_each(|_| put(image)));
        assert_eq!(
            (idle.count(), of(&images[0]), of(&images[19])),
            (MAX, 7, 3),
            "the least recently used slot is evicted first"
        );
        assert!(idle.take(&images[0], SlotLayout { guard: BYTES, ..LAYOUT }).is_none(), "another layout");
        assert!(idle.take(&images[0], LAYOUT).is_some_and(|slot| slot.is_of(&images[0])));
        idle.forget(&images[19]);
        assert_eq!((idle.count(), of(&images[19])), (MAX - 4, 0));
        assert!(idle.take(&images[19], LAYOUT).is_none());
    }
}
