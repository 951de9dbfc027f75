//! The identifiers of stored rows: 24 lower-case hexadecimal characters each, a type of its own per kind of row.
//!
//! The first eight characters are the second of creation, so that ids of one kind sort roughly by age.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::error::InvalidValue;
use crate::random;

/// Length of every id on the wire and in the database.
const ID_LENGTH: usize = 24;

macro_rules! hexadecimal_id {
    ($(#[doc = $doc:literal] $name:ident = $what:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schemars(inline, extend("pattern" = "^[a-f0-9]{24}$"))]
        pub struct $name(String);

        impl $name {
            /// Makes a fresh id.
            pub fn new(clock: &Clock) -> Self {
                Self(fresh(clock))
            }

            /// Accepts exactly 24 characters of `0-9a-f`.
            pub fn parse(text: &str) -> Result<Self, InvalidValue> {
                if is_id(text) {
                    return Ok(Self(text.to_owned()));
                }
                Err(InvalidValue::new($what, "must be 24 lower-case hexadecimal characters"))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = InvalidValue;

            fn from_str(text: &str) -> Result<Self, InvalidValue> {
                Self::parse(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidValue;

            fn try_from(text: String) -> Result<Self, InvalidValue> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }
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

fn is_id(text: &str) -> bool {
    text.len() == ID_LENGTH && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn fresh(clock: &Clock) -> String {
    let seconds = clock.now().as_milliseconds().div_euclid(1000).to_be_bytes();
    let mut bytes = [0; ID_LENGTH / 2];
    bytes[..4].copy_from_slice(&seconds[4..]);
    bytes[4..].copy_from_slice(&random::bytes::<8>());
    hex::encode(bytes)
}
