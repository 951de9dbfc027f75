//! Call depth: a tool may call tools over HTTP, and a cycle of such calls must end.

use serde::{Deserialize, Serialize};

/// Header that every request of a tool carries and the invoke route reads.
pub const DEPTH_HEADER: &str = "lathe-depth";
/// Maximum nesting of calls that runs make. A deeper call is refused as a cycle.
pub(crate) const DEPTH_MAX: u8 = 8;
/// Maximum nesting of calls over HTTP. Such a call holds one of the slots for calls from outside, as those do that wait for it.
const HTTP_DEPTH_MAX: u8 = 3;

/// The number of runs within which a call is made; zero for a call from outside.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Depth(u8);

impl Depth {
    /// Reads the header's value. A value that is not a number counts as zero, since no run writes one.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        Self(if is_number { text.parse().unwrap_or(u8::MAX) } else { 0 })
    }

    /// The header's value in requests of a run at this depth.
    #[must_use]
    pub const fn of_requests(self) -> u8 {
        self.0.saturating_add(1)
    }

    /// The depth of a call that a run at this depth makes.
    pub(crate) const fn of_calls(self) -> Self {
        Self(self.of_requests())
    }

    /// The number of runs within which the call is made, as an index.
    pub(crate) const fn level(self) -> usize {
        self.0 as usize
    }

    /// Whether a call that a run makes is nested too deeply.
    pub(crate) const fn is_too_deep(self) -> bool {
        self.0 > DEPTH_MAX
    }

    /// Whether a call over HTTP is nested too deeply.
    #[must_use]
    pub const fn is_too_deep_for_http(self) -> bool {
        self.0 > HTTP_DEPTH_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_ends() {
        assert_eq!(Depth::of("2"), Depth(2));
        assert!(!Depth::of("3").is_too_deep_for_http() && Depth::of("4").is_too_deep_for_http());
        assert!(!Depth::of("8").is_too_deep() && Depth::of("9").is_too_deep());
        assert!(Depth::of("99999999999").is_too_deep() && Depth::of("255").of_requests() == 255);
        assert_eq!((Depth::of("2").of_calls(), Depth::of("2").level()), (Depth(3), 2));
        for text in ["", "-1", "+9", "nine", "4 "] {
            assert_eq!(Depth::of(text), Depth::default(), "{text:?}");
        }
    }
}
