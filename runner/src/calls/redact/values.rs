//! The values to find for a secret: the secret as programs use it, and its parts.
//!
//! A program rarely uses a secret as it is stored. It removes the line end and the quotes, takes the password of a URL or the
//! token after `Bearer`, reads JSON, or goes through the lines of a file. Each of these values is searched like the secret.

use std::collections::{BTreeSet, VecDeque};

use super::common::is_common;
use super::forms::SECRET_BYTES_MIN;
use super::parts::{Part, find_parts};
use crate::text::trim;

/// Parts within parts, such as a line of the key within JSON within quotes.
const DEPTH_MAX: usize = 6;
/// Bytes of all values of the secrets of a run. A part is at most as long as its whole, so that the limit is reached only by
/// a long secret of many layers. Beyond it, nothing is searched and all texts of the run are redacted as a whole.
const VALUES_BYTES_MAX: usize = 256 << 10;
/// Values of the secrets of a run, for the same reason.
const VALUES_MAX: usize = 16 << 10;

/// The values of some secrets.
#[derive(Default)]
pub(super) struct Values {
    /// The secrets, without the blanks around them.
    pub wholes: BTreeSet<String>,
    pub parts: BTreeSet<String>,
    /// The parts whose parts were looked for.
    expanded: BTreeSet<String>,
    bytes: usize,
}

impl Values {
    /// Finds the values of all secrets; `None` beyond the limits.
    pub fn of<'s>(secrets: impl Iterator<Item = &'s str>) -> Option<Self> {
        let mut values = Self::default();
        let mut queue = VecDeque::new();
        for secret in secrets {
            // Whoever finds the trimmed secret finds the stored one, too.
            let trimmed = trim(secret);
            let whole = if trimmed.len() < SECRET_BYTES_MIN { secret } else { trimmed };
            if whole.len() >= SECRET_BYTES_MIN && values.wholes.insert(whole.to_owned()) {
                values.bytes += whole.len();
                queue.push_back((whole.to_owned(), 0));
            }
        }
        while let Some((text, depth)) = queue.pop_front() {
            for part in find_parts(&text) {
                if let Some(value) = values.add(part)
                    && depth < DEPTH_MAX
                {
                    queue.push_back((value, depth + 1));
                }
            }
            if values.bytes > VALUES_BYTES_MAX || values.parts.len() > VALUES_MAX {
                return None;
            }
        }
        Some(values)
    }

    /// Adds a part, and returns it when it is new and may have parts.
    fn add(&mut self, part: Part) -> Option<String> {
        let has_parts = !matches!(part, Part::Whole(_));
        let (text, is_searched) = match part {
            Part::Credential(text) => (text, true),
            Part::Text(text) | Part::Whole(text) => {
                let is_searched = !is_common(trim(&text));
                (text, is_searched)
            }
        };
        let value = trim(&text);
        if value.len() < SECRET_BYTES_MIN || !is_searched || self.wholes.contains(value) {
            return None;
        }
        let value = value.to_owned();
        if self.parts.insert(value.clone()) {
            self.bytes += value.len();
        }
        (has_parts && self.expanded.insert(value.clone())).then_some(value)
    }

    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.wholes.iter().chain(&self.parts).map(String::as_str)
    }

    /// The same values for texts in lower case.
    pub fn into_lowercase(self) -> Self {
        let lower = |values: BTreeSet<String>| values.iter().map(|value| value.to_lowercase()).collect();
        Self { wholes: lower(self.wholes), parts: lower(self.parts), ..Self::default() }
    }

    pub fn wholes_bytes(&self) -> usize {
        self.wholes.iter().map(String::len).sum()
    }

    pub fn parts_bytes(&self) -> usize {
        self.parts.iter().map(String::len).sum()
    }
}
