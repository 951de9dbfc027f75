//! What is wrong with a request, and where: one entry of a 422 answer.

use schemars::JsonSchema;
use serde::Serialize;

/// One step of the way to the offending value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Place {
    Name(String),
    Index(usize),
}

impl From<&str> for Place {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

/// What is wrong with a request: where, in words, and a stable name for the kind of problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Problem {
    pub loc: Vec<Place>,
    pub msg: String,
    #[serde(rename = "type")]
    pub kind: &'static str,
}

impl Problem {
    pub(crate) fn new(loc: Vec<Place>, kind: &'static str, msg: impl Into<String>) -> Self {
        Self { loc, msg: msg.into(), kind }
    }
}
