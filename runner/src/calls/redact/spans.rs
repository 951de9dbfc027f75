//! The places of secrets in a text.

use std::ops::Range;

use registry::REDACTED;

/// Byte ranges of a text.
#[derive(Default)]
pub(super) struct Spans(Vec<Range<usize>>);

impl Spans {
    /// Adds a range. A range that overlaps the last one is merged with it, so that repetitions take no memory.
    pub fn add(&mut self, mut range: Range<usize>) {
        while let Some(last) = self.0.pop_if(|last| last.end > range.start && last.start < range.end) {
            range = last.start.min(range.start)..last.end.max(range.end);
        }
        self.0.push(range);
    }

    /// Sorts the ranges, and merges those that overlap.
    pub fn merge(mut self) -> Self {
        self.0.sort_unstable_by_key(|range| range.start);
        let mut merged = Self::default();
        self.0.into_iter().for_each(|range| merged.add(range));
        merged
    }

    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A part of the text with `[redacted]` for each range that starts in it. Ranges that start before the part are
    /// removed.
    pub fn redact(&self, text: &str, part: Range<usize>) -> String {
        let (mut redacted, mut at) = (String::with_capacity(part.len()), part.start);
        for range in self.find_ranges_after(part.start).iter().take_while(|range| range.start < part.end) {
            let range = text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end);
            redacted.push_str(text.get(at..range.start).unwrap_or_default());
            if range.start >= part.start {
                redacted.push_str(REDACTED);
            }
            at = range.end;
        }
        redacted.push_str(text.get(at..part.end).unwrap_or_default());
        redacted
    }

    /// Whether a part of the text is within one range that starts before it.
    pub fn hide(&self, part: &Range<usize>) -> bool {
        let at = self.0.partition_point(|range| range.end < part.end);
        self.0.get(at).is_some_and(|range| range.start < part.start)
    }

    /// The ranges that end after a place. They are merged, and found by their order: a text may have thousands of them, and of parts.
    fn find_ranges_after(&self, place: usize) -> &[Range<usize>] {
        self.0.get(self.0.partition_point(|range| range.end <= place)..).unwrap_or_default()
    }
}
