//! The position of a walk in a schema.

use std::borrow::Cow;
use std::fmt;

/// A JSON pointer to the current keyword of a walk.
#[derive(Debug, Default)]
pub struct Position<'a> {
    /// The escaped pointer of the reference that the walk follows.
    base: &'a str,
    below: Vec<Cow<'a, str>>,
}

impl<'a> Position<'a> {
    pub const fn at(base: &'a str) -> Self {
        Self { base, below: Vec::new() }
    }

    pub fn enter(&mut self, name: impl Into<Cow<'a, str>>) {
        self.below.push(name.into());
    }

    pub fn leave(&mut self) {
        self.below.pop();
    }
}

impl fmt::Display for Position<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.base.is_empty() && self.below.is_empty() {
            return formatter.write_str("/");
        }
        formatter.write_str(self.base)?;
        self.below.iter().try_for_each(|name| write!(formatter, "/{}", name.replace('~', "~0").replace('/', "~1")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_a_json_pointer() {
        let mut position = Position::at("/$defs/a~1b");
        position.enter("c/d");
        position.enter("~");
        assert_eq!(position.to_string(), "/$defs/a~1b/c~1d/~0");
        position.leave();
        assert_eq!(position.to_string(), "/$defs/a~1b/c~1d");
        assert_eq!(Position::default().to_string(), "/");
    }
}
