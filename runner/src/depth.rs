//! How many runs stand between a call and whoever began: a tool may call tools, and a circle of them must end.

/// Sent with every request of a tool, and read by invokes.
pub const DEPTH_HEADER: &str = "lathe-depth";
/// A tool that calls a tool that calls a tool; deeper is a circle.
const DEPTH_MAX: u8 = 3;

/// Zero for a call that no run made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depth(u8);

impl Depth {
    /// Reads the header's value. What is no number was not written by a run of ours.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        Self(if is_number { text.parse().unwrap_or(u8::MAX) } else { 0 })
    }

    /// The header's value in requests of a run of this depth.
    #[must_use]
    pub const fn of_requests(self) -> u8 {
        self.0.saturating_add(1)
    }

    pub(crate) const fn is_too_deep(self) -> bool {
        self.0 > DEPTH_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_ends() {
        assert_eq!(Depth::of("2"), Depth(2));
        assert!(!Depth::of("3").is_too_deep() && Depth::of("4").is_too_deep());
        assert!(Depth::of("99999999999").is_too_deep() && Depth::of("255").of_requests() == 255);
        for text in ["", "-1", "+9", "nine", "4 "] {
            assert_eq!(Depth::of(text), Depth::default(), "{text:?}");
        }
    }
}
