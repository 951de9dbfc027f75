//! The result of executing one run in the sandbox.

use std::time::Duration;

use registry::{ContentBlock, Ledger};
use serde::{Deserialize, Serialize};

use crate::interaction::Asked;
use crate::sandbox::outcome::{self, Outcome};
use crate::sandbox::tape::TapeResult;

/// Text that a tool printed, before secrets are redacted, with some bytes beyond its bound.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Printed {
    pub text: String,
    /// Bytes of the text that are within the bound.
    pub shown: usize,
    /// Lines that the host adds about status events that it refused.
    pub refusals: String,
}

/// The end of one run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Executed {
    pub outcome: Outcome,
    pub duration: Duration,
    /// Whether the tool was called and received its documents. Also `true` for a run that was lost with its runner,
    /// since the host does not know how far that run came.
    pub is_called: bool,
    pub logs: Printed,
    /// Content blocks that the tool added, also before it failed.
    #[serde(with = "content_json")]
    pub content: Vec<ContentBlock>,
    /// Resources that the host counted.
    pub ledger: Ledger,
    pub tape: TapeResult,
    pub asked: Asked,
}

impl Printed {
    /// Stands at the end of a text that was cut at its bound.
    pub(crate) const CUT: &str = "\n[truncated]";

    pub(crate) fn bytes(&self) -> usize {
        self.text.len() + self.refusals.len()
    }
}

impl Executed {
    /// A run whose component cannot be instantiated.
    pub(crate) fn rejected(reason: &str) -> Self {
        Self { is_called: false, ..Self::failed("instantiate_failed", reason) }
    }

    /// A run that the host ended or could not start.
    pub(crate) fn failed(kind: &str, message: &str) -> Self {
        Self::ended(outcome::failed(kind, message))
    }

    /// A run of which only the outcome is known.
    pub(crate) fn ended(outcome: Outcome) -> Self {
        let (duration, logs, ledger) = (Duration::ZERO, Printed::default(), Ledger::default());
        Self {
            outcome,
            duration,
            is_called: true,
            logs,
            content: Vec::new(),
            ledger,
            tape: TapeResult::default(),
            asked: Asked::default(),
        }
    }
}

/// Content blocks as JSON. Their shape depends on a field, which the encoding of messages does not support.
mod content_json {
    use registry::ContentBlock;
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(blocks: &[ContentBlock], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&serde_json::to_string(blocks).map_err(S::Error::custom)?)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ContentBlock>, D::Error> {
        serde_json::from_str(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
