//! Work that outlives its request, as clients know it: what an idempotency key stands for, and what can be asked about
//! after the connection is gone.

use crate::account::UserId;
use crate::clock::Timestamp;
use crate::digest::Digest;
use crate::error::InvalidValue;
use crate::ids::{OperationId, ToolId};
use crate::text_type::{made_of, text_type};

/// Bytes of an idempotency key; a UUID has 36, and what has more than this is no key.
const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;

text_type! {
    /// What a client calls one piece of work, so that sending it twice is doing it once.
    IdempotencyKey = "idempotency key", "must be 1 to 255 visible ASCII characters", |text| {
        made_of(text, IDEMPOTENCY_KEY_BYTES_MAX, |c| c.is_ascii_graphic())
    };
}

/// What can be tracked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperationKind {
    Invoke,
    Publish,
}

impl OperationKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Invoke => "invoke",
            Self::Publish => "publish",
        }
    }
}

impl std::str::FromStr for OperationKind {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        match text {
            "invoke" => Ok(Self::Invoke),
            "publish" => Ok(Self::Publish),
            _ => Err(InvalidValue::new("operation kind", "must be invoke or publish")),
        }
    }
}

/// A piece of work that is about to begin.
#[derive(Clone, Debug)]
pub struct NewOperation {
    pub kind: OperationKind,
    /// The tool that is asked for, whether it exists or not.
    pub tool: ToolId,
    pub once: Option<Once>,
}

/// The wish that a request be carried out once, however often it is sent.
#[derive(Clone, Debug)]
pub struct Once {
    pub key: IdempotencyKey,
    /// Tells the request from others under the same key.
    pub request: Digest,
}

/// Whether the work is to be done.
#[derive(Clone, Debug)]
pub enum BegunOperation {
    /// Nobody has begun it before.
    Fresh(TrackedOperation),
    /// The same request came before, under the same key.
    Repeated(TrackedOperation),
    /// The key stands for another request.
    OtherRequest,
}

/// Work that is remembered for some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackedOperation {
    pub id: OperationId,
    pub kind: OperationKind,
    pub tool: ToolId,
    /// Who began it.
    pub user: UserId,
    pub state: OperationState,
    pub started_at: Timestamp,
    pub finished_at: Option<Timestamp>,
}

/// How far an operation came. What it made is in the history or among the versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationState {
    Running,
    Succeeded,
    /// Refused, or ended by a fault, with this answer.
    Failed(Refused),
    /// The server stopped under it.
    Interrupted,
}

/// An answer that says no.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Of HTTP.
    pub status: u16,
    pub body: String,
}

/// The end of an operation.
#[derive(Clone, Debug)]
pub enum OperationEnd {
    Succeeded,
    Failed {
        refused: Refused,
        /// Whether the same key may try again. It may in any case when neither a run nor a build began.
        frees_key: bool,
    },
}
