//! Actions of clients and their outcomes, as the ledger has them.

use serde::{Deserialize, Serialize};

/// An action on a client's own tool and branch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Action {
    pub tool: String,
    pub branch: String,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    Invoke {
        version: String,
        inputs: usize,
        /// Time that each run sleeps, so that a kill may hit it.
        wait_ms: u64,
        has_key: bool,
    },
    Publish {
        commit: String,
    },
    Push {
        commit: String,
        /// The text in the pushed source, which the outputs of its versions contain.
        mark: String,
    },
    SetVariable {
        value: String,
    },
    Deprecate {
        version: String,
    },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Outcome {
    Acknowledged { runs: Vec<RunEnd>, version: Option<String> },
    Refused { status: u16, code: String },
}

/// The end of a run: its output, or the type of its failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    pub id: String,
    pub end: Result<String, String>,
}

/// The rows of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Invoke,
    Publish,
    Push,
    /// A variable or a deprecation.
    Change,
}

/// The constraint `>=0` in a path.
pub const ANY: &str = "%3E%3D0";

/// How many of a hundred actions are of each kind.
pub const MIX: [(Kind, usize); 4] = [(Kind::Invoke, 70), (Kind::Publish, 10), (Kind::Push, 10), (Kind::Change, 10)];

impl What {
    /// A call of the highest version.
    pub fn call(inputs: usize, has_key: bool) -> Self {
        Self::Invoke { version: ANY.to_owned(), inputs, wait_ms: 0, has_key }
    }

    pub const fn kind(&self) -> Kind {
        match self {
            Self::Invoke { .. } => Kind::Invoke,
            Self::Publish { .. } => Kind::Publish,
            Self::Push { .. } => Kind::Push,
            Self::SetVariable { .. } | Self::Deprecate { .. } => Kind::Change,
        }
    }

    /// Whether a client sends the action again after a kill. A repetition of these has no second effect.
    pub const fn is_repeatable(&self) -> bool {
        matches!(self, Self::Invoke { has_key: true, .. } | Self::Publish { .. } | Self::Push { .. })
    }
}

impl Outcome {
    pub const fn acknowledged() -> Self {
        Self::Acknowledged { runs: Vec::new(), version: None }
    }

    pub const fn is_acknowledged(&self) -> bool {
        matches!(self, Self::Acknowledged { .. })
    }

    /// Whether a refused action may have had an effect: the disk failed at its end, or an earlier attempt was cut off.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Refused { status, code } if *status >= 500 || code == "operation_interrupted")
    }
}
