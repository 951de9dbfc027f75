//! Slots that wait for the next run of their image.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::image::Image;
use super::slot::{Shape, Slot};

/// Of one image. Each keeps the pages that runs have written to: about a megabyte of Python, and four at most.
const OF_IMAGE_MAX: usize = 8;
/// Of all images: those of the tools that a runner has, in a burst, and not so many that memory goes to tools of yesterday.
const MAX: usize = 64;

/// The slots of all images of a process, the longest unused first. Clones are one.
#[derive(Clone, Default)]
pub struct Idle(Arc<Mutex<VecDeque<Slot>>>);

impl Idle {
    /// The slot of an image that was used last.
    pub fn take(&self, image: &Arc<Image>, shape: Shape) -> Option<Slot> {
        let mut slots = self.slots();
        let place = slots.iter().rposition(|slot| slot.is_of(image) && slot.shape() == shape)?;
        slots.remove(place)
    }

    /// Keeps a slot that has been reset, for which another may have to go.
    pub fn put(&self, slot: Slot) {
        // Giving memory back takes time.
        drop(self.exchange(slot));
    }

    fn exchange(&self, slot: Slot) -> Option<Slot> {
        let mut slots = self.slots();
        let of_image = slots.iter().filter(|other| other.is_like(&slot)).count();
        let first = slots.iter().position(|other| of_image < OF_IMAGE_MAX || other.is_like(&slot));
        let gone = first.filter(|_| of_image >= OF_IMAGE_MAX || slots.len() >= MAX);
        let gone = gone.and_then(|place| slots.remove(place));
        slots.push_back(slot);
        gone
    }

    /// Nobody will run the image any more.
    pub fn forget(&self, image: &Arc<Image>) {
        let forgotten: VecDeque<_> = {
            let mut slots = self.slots();
            let (gone, kept) = slots.drain(..).partition(|slot| slot.is_of(image));
            *slots = kept;
            gone
        };
        drop(forgotten);
    }

    fn slots(&self) -> MutexGuard<'_, VecDeque<Slot>> {
        // A panic while the lock was held cannot have left a used slot among the idle ones.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.slots().len()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const BYTES: usize = 64 << 10;
    const SHAPE: Shape = Shape { minimum: BYTES, reserved: BYTES, guard: 0 };

    fn image() -> Arc<Image> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[5; BYTES]).unwrap();
        // SAFETY: nobody changes either.
        Arc::new(unsafe { Image::new(file, 0, vec![5; BYTES].leak()) })
    }

    #[test]
    fn images_keep_their_slots_until_there_are_too_many() {
        let (idle, images) = (Idle::default(), [(); 20].map(|()| image()));
        let put = |image: &Arc<Image>| idle.put(Slot::new(image.clone(), SHAPE).unwrap());
        let of = |image: &Arc<Image>| idle.slots().iter().filter(|slot| slot.is_of(image)).count();
        (0..=OF_IMAGE_MAX).for_each(|_| put(&images[0]));
        assert_eq!((of(&images[0]), idle.count()), (OF_IMAGE_MAX, OF_IMAGE_MAX));
        images[1..].iter().for_each(|image| (0..3).for_each(|_| put(image)));
        assert_eq!((idle.count(), of(&images[0]), of(&images[19])), (MAX, 7, 3), "the longest unused goes first");
        assert!(idle.take(&images[0], Shape { guard: BYTES, ..SHAPE }).is_none(), "of another shape");
        assert!(idle.take(&images[0], SHAPE).is_some_and(|slot| slot.is_of(&images[0])));
        idle.forget(&images[19]);
        assert_eq!((idle.count(), of(&images[19])), (MAX - 4, 0));
        assert!(idle.take(&images[19], SHAPE).is_none());
    }
}
