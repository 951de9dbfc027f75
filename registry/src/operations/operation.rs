//! Asynchronous operations. Clients can poll them after their connection is gone, and retry them with an idempotency key.

use crate::kit::account::{AccountId, OrganizationId};
use crate::kit::clock::Timestamp;
use crate::kit::digest::Digest;
use crate::kit::ids::{OperationId, ToolId};
use crate::kit::invalid_value::InvalidValue;
use crate::kit::text_type::{made_of, text_type};

/// Bytes of an idempotency key. A UUID has 36.
const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;

text_type! {
    /// A client's name for a request, so that a retry is not carried out twice.
    IdempotencyKey = "idempotency key", "must be 1 to 255 visible ASCII characters", |text| {
        made_of(text, IDEMPOTENCY_KEY_BYTES_MAX, |c| c.is_ascii_graphic())
    };
}

/// The kinds of operations.
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

/// The input for beginning an operation.
#[derive(Clone, Debug)]
pub struct NewOperation {
    pub kind: OperationKind,
    /// The tool that the request names, whether it exists or not.
    pub tool: ToolId,
    pub once: Option<Once>,
    /// The body of a publication's request. Another server carries the publication out with it when this one is gone.
    pub request: Option<String>,
}

/// A publication whose server is gone, and which this server has taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedPublication {
    pub id: OperationId,
    pub organization: OrganizationId,
    pub account: AccountId,
    pub tool: ToolId,
    /// The body of its request.
    pub request: String,
    /// The commit that its server found at the tip of the branch, if it came so far.
    pub commit: Option<String>,
    pub has_key: bool,
}

/// The idempotency key of a request.
#[derive(Clone, Debug)]
pub struct Once {
    pub key: IdempotencyKey,
    /// Digest of the request, which distinguishes it from other requests with the same key.
    pub request: Digest,
}

/// The result of beginning an operation.
#[derive(Clone, Debug)]
pub enum BegunOperation {
    /// The operation is new.
    New(TrackedOperation),
    /// The same request was sent before with the same key.
    Repeated(TrackedOperation),
    /// Another request was sent before with the same key.
    OtherRequest,
}

/// A stored operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackedOperation {
    pub id: OperationId,
    pub kind: OperationKind,
    pub tool: ToolId,
    pub account: AccountId,
    pub state: OperationState,
    pub started_at: Timestamp,
    pub finished_at: Option<Timestamp>,
}

/// The state of an operation. Its results are in the history or among the versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationState {
    Running,
    Succeeded,
    /// The operation was refused or failed, with this response.
    Failed(Refused),
    /// The server stopped during the operation.
    Interrupted,
}

/// The error response to the request of an operation, stored for repeated requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// HTTP status code.
    pub status: u16,
    pub body: String,
}

/// The end of an operation.
#[derive(Clone, Debug)]
pub enum OperationEnd {
    Succeeded,
    /// The request was refused or failed. A retry with the same key is carried out if neither a run nor a build began.
    Failed {
        refused: Refused,
        /// Whether the cause is temporary. Then a retry of a publication is carried out in any case, and an invoke whose
        /// runs began counts as interrupted: the refusal, which asks for a retry, would be repeated for ever.
        is_for_now: bool,
    },
}
