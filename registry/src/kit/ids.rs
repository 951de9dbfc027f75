//! The ids of stored rows: 24 lower-case hexadecimal characters, with a type per kind of row.
//!
//! The first eight characters are the second of creation and the next four its fraction, so that ids of one kind sort by
//! age, to the millisecond. Rows created together are therefore neighbours in every index, and a group of writes touches
//! few pages.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::byte_cache::HeapBytes;
use super::clock::Clock;
use super::invalid_value::InvalidValue;
use super::random;
use super::text_type::written_as_text;

/// Characters of an id.
const ID_LENGTH: usize = 24;

macro_rules! hexadecimal_id {
    ($(#[doc = $doc:literal] $name:ident = $what:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; ID_LENGTH]);

        impl $name {
            /// Creates a new id.
            pub fn new(clock: &Clock) -> Self {
                Self(make_bytes(clock))
            }

            /// Accepts exactly 24 characters of `0-9a-f`.
            pub fn parse(text: &str) -> Result<Self, InvalidValue> {
                parse_bytes(text).map(Self).ok_or(InvalidValue::new($what, "must be 24 lower-case hexadecimal characters"))
            }

            pub fn as_str(&self) -> &str {
                // The constructors accept ASCII only.
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

        impl HeapBytes for $name {
            fn heap_bytes(&self) -> usize {
                0
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": "string", "pattern": "^[a-f0-9]{24}$"})
            }
        }

        written_as_text!($name);
    )*};
}

hexadecimal_id! {
    /// The id of a tool.
    ToolId = "tool id";
    /// The id of a published version of a tool.
    VersionId = "version id";
    /// The id of a recorded run.
    RunId = "invocation id";
    /// The id of a build.
    BuildId = "build id";
    /// The id of an agent.
    AgentId = "agent id";
    /// The id of a run of an agent.
    AgentRunId = "agent run id";
    /// The id of a request of a run of an agent to a person.
    HumanRequestId = "human request id";
    /// The id of a conversation with an agent.
    ConversationId = "conversation id";
    /// The id of an interaction: the turns between two messages of a user.
    InteractionId = "interaction id";
    /// The id of a turn of a conversation with an agent.
    TurnId = "turn id";
    /// The id of an item of the Library.
    LibraryItemId = "library item id";
    /// The id of a legal hold.
    HoldId = "hold id";
    /// The id of an asynchronous operation.
    OperationId = "operation id";
    /// The id of one start of a server process. Runs carry it, so that the next start finds the runs of earlier starts.
    BootId = "boot id";
}

fn parse_bytes(text: &str) -> Option<[u8; ID_LENGTH]> {
    let id: [u8; ID_LENGTH] = text.as_bytes().try_into().ok()?;
    id.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).then_some(id)
}

fn make_bytes(clock: &Clock) -> [u8; ID_LENGTH] {
    let mut bytes = [0; ID_LENGTH / 2];
    bytes[..6].copy_from_slice(&encode_age(clock.now().as_milliseconds()));
    bytes[6..].copy_from_slice(&random::bytes::<6>());
    let mut id = [0; ID_LENGTH];
    // The lengths match, so this cannot fail.
    hex::encode_to_slice(bytes, &mut id).unwrap_or_default();
    id
}

/// The second of creation, and its fraction in 1/65,536 seconds. An id is no secret; the 48 random bits only keep ids of the
/// same millisecond distinct.
fn encode_age(milliseconds: i64) -> [u8; 6] {
    let (second, rest) = (milliseconds.div_euclid(1000), milliseconds.rem_euclid(1000));
    let mut bytes = [0; 6];
    bytes.copy_from_slice(&((second << 16) | (rest * 65_536 / 1000)).to_be_bytes()[2..]);
    bytes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::kit::clock::Timestamp;

    #[test]
    fn ids_sort_by_age_and_differ_within_a_millisecond() {
        let at = |milliseconds| RunId::new(&Clock::fixed(Timestamp::from_milliseconds(milliseconds)));
        let times = [0, 1, 2, 499, 500, 999, 1_000, 1_001, 1_795_341_084_941, 1_795_341_084_942];
        let ids: Vec<_> = times.map(at).into();
        assert!(ids.is_sorted(), "{ids:?}");
        assert!(ids.iter().zip(times).all(|(id, time)| id.as_str().starts_with(&format!("{:08x}", time / 1000))));
        assert_eq!((0..10_000).map(|_| at(5)).collect::<BTreeSet<_>>().len(), 10_000);
        assert!(ids.iter().all(|id| RunId::parse(id.as_str()).as_ref() == Ok(id)));
    }
}
