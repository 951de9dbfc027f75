//! The identifiers of stored rows: 24 lower-case hexadecimal characters each, a type of its own per kind of row.
//!
//! The first eight characters are the second of creation and the next four its fraction, so that ids of one kind sort by
//! age, to the millisecond: what is made together lies together in every index, and a group of writes touches few pages.

use std::fmt;

use schemars::JsonSchema;

use crate::clock::Clock;
use crate::error::InvalidValue;
use crate::random;
use crate::text_type::written_as_text;

/// Length of every id on the wire and in the database.
const ID_LENGTH: usize = 24;

macro_rules! hexadecimal_id {
    ($(#[doc = $doc:literal] $name:ident = $what:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
        #[schemars(inline, extend("pattern" = "^[a-f0-9]{24}$"))]
        pub struct $name(#[schemars(with = "String")] [u8; ID_LENGTH]);

        impl $name {
            /// Makes a fresh id.
            pub fn new(clock: &Clock) -> Self {
                Self(fresh(clock))
            }

            /// Accepts exactly 24 characters of `0-9a-f`.
            pub fn parse(text: &str) -> Result<Self, InvalidValue> {
                checked(text).map(Self).ok_or(InvalidValue::new($what, "must be 24 lower-case hexadecimal characters"))
            }

            pub fn as_str(&self) -> &str {
                // Nothing else was let in.
                std::str::from_utf8(&self.0).unwrap_or_default()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.debug_tuple(stringify!($name)).field(&self.as_str()).finish()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = InvalidValue;

            fn from_str(text: &str) -> Result<Self, InvalidValue> {
                Self::parse(text)
            }
        }

        written_as_text!($name);
    )*};
}

hexadecimal_id! {
    /// Names one tool of one organisation.
    ToolId = "tool id";
    /// Names one published version of a tool.
    VersionId = "version id";
    /// Names one recorded run.
    InvocationId = "invocation id";
    /// Names one attempt to build a version.
    BuildId = "build id";
    /// Names one piece of work that is remembered for its client.
    OperationId = "operation id";
    /// Names one start of a server process; runs carry it so that the next start can tell whose they were.
    BootId = "boot id";
}

fn checked(text: &str) -> Option<[u8; ID_LENGTH]> {
    let id: [u8; ID_LENGTH] = text.as_bytes().try_into().ok()?;
    id.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).then_some(id)
}

fn fresh(clock: &Clock) -> [u8; ID_LENGTH] {
    let mut bytes = [0; ID_LENGTH / 2];
    bytes[..6].copy_from_slice(&age(clock.now().as_milliseconds()));
    bytes[6..].copy_from_slice(&random::bytes::<6>());
    let mut id = [0; ID_LENGTH];
    // As long as it has to be.
    hex::encode_to_slice(bytes, &mut id).unwrap_or_default();
    id
}

/// The second, and in which of its 65,536 parts. Nothing relies on two ids of one millisecond being hard to tell apart:
/// an id opens nothing, and 48 random bits keep them different.
fn age(milliseconds: i64) -> [u8; 6] {
    let (second, rest) = (milliseconds.div_euclid(1000), milliseconds.rem_euclid(1000));
    let mut bytes = [0; 6];
    bytes.copy_from_slice(&((second << 16) | (rest * 65_536 / 1000)).to_be_bytes()[2..]);
    bytes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::clock::Timestamp;

    #[test]
    fn ids_sort_by_age_and_differ_within_a_millisecond() {
        let at = |milliseconds| InvocationId::new(&Clock::fixed(Timestamp::from_milliseconds(milliseconds)));
        let times = [0, 1, 2, 499, 500, 999, 1_000, 1_001, 1_795_341_084_941, 1_795_341_084_942];
        let ids: Vec<_> = times.map(at).into();
        assert!(ids.is_sorted(), "{ids:?}");
        assert!(ids.iter().zip(times).all(|(id, time)| id.as_str().starts_with(&format!("{:08x}", time / 1000))));
        assert_eq!((0..10_000).map(|_| at(5)).collect::<BTreeSet<_>>().len(), 10_000);
        assert!(ids.iter().all(|id| InvocationId::parse(id.as_str()).as_ref() == Ok(id)));
    }
}
