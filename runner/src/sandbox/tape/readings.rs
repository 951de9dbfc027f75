//! The values that a clock showed, in milliseconds, each with the number of consecutive readings that saw it.

use serde::{Deserialize, Serialize};

/// Readings of one clock in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Readings(Vec<Reading>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Reading {
    /// Milliseconds since the value before. Wrapping, since clocks can be set back.
    step: u64,
    /// Consecutive readings of this value.
    count: u64,
}

impl Readings {
    /// Memory that a new value takes.
    pub(super) const VALUE_BYTES: usize = size_of::<Reading>();

    /// Adds a reading, given the value of the one before. Returns whether the value is new.
    pub(super) fn add_after(&mut self, before: u64, value: u64) -> bool {
        match self.0.last_mut() {
            Some(last) if value == before => {
                last.count += 1;
                false
            }
            _ => {
                self.0.push(Reading { step: value.wrapping_sub(before), count: 1 });
                true
            }
        }
    }

    /// Adds a reading.
    #[cfg(test)]
    pub(super) fn add(&mut self, value: u64) {
        let before = self.0.iter().fold(0, |sum: u64, reading| sum.wrapping_add(reading.step));
        self.add_after(before, value);
    }
}

/// The position of a replay in the readings of a clock.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    readings: Readings,
    next: usize,
    seen: u64,
    value: u64,
}

impl Reader {
    pub(super) const fn new(readings: Readings) -> Self {
        Self { readings, next: 0, seen: 0, value: 0 }
    }

    /// The value of the next reading; `None` when the tape has no more.
    pub(super) fn next(&mut self) -> Option<u64> {
        let reading = self.readings.0.get(self.next)?;
        if self.seen == 0 {
            self.value = self.value.wrapping_add(reading.step);
        }
        self.seen += 1;
        if self.seen >= reading.count {
            (self.next, self.seen) = (self.next + 1, 0);
        }
        Some(self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_come_back_in_their_order() {
        let values = [5, 5, 5, 7, 3, 3, u64::MAX, 0, 0];
        let mut readings = Readings::default();
        values.iter().for_each(|value| readings.add(*value));
        assert_eq!(readings.0.len(), 5);
        let mut reader = Reader::new(readings);
        assert_eq!(values.map(|_| reader.next().unwrap()), values);
        assert_eq!(reader.next(), None);
    }
}
