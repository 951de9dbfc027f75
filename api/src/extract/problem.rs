//! A problem of a request and its location: one entry of a 422 response.

use schemars::JsonSchema;
use serde::Serialize;

/// One step on the path to the wrong value: a field name or an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum LocationStep {
    Name(String),
    Index(usize),
}

impl From<&str> for LocationStep {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

/// A problem of a request: its location, a message, and a stable name for the kind of problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Problem {
    pub loc: Vec<LocationStep>,
    pub msg: String,
    #[serde(rename = "type")]
    pub kind: &'static str,
}

impl Problem {
    pub(crate) fn new(loc: Vec<LocationStep>, kind: &'static str, msg: impl Into<String>) -> Self {
        Self { loc, msg: msg.into(), kind }
    }
}
