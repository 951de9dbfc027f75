//! Legal holds: runs that stay in the history, however old they are.

use crate::kit::account::UserId;
use crate::kit::clock::Timestamp;
use crate::kit::ids::{HoldId, ToolId};
use crate::kit::text_type::{made_of, text_type};

text_type! {
    /// The reason for a legal hold. Surrounding white space is trimmed. NUL is refused, because some databases refuse it.
    HoldReason = "reason", "must have 1 to 1000 bytes besides surrounding white space, and no NUL", |text| {
        made_of(text.trim(), HoldReason::BYTES_MAX, |c| c != '\0')
    };
}

impl HoldReason {
    /// Length of a reason: a paragraph with the reference of a case.
    pub const BYTES_MAX: usize = 1000;
}

/// The runs of a hold: all runs of the organisation that meet each condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldRuns {
    pub tool: Option<ToolId>,
    /// The start of the run, inclusive.
    pub started_from: Option<Timestamp>,
    /// The start of the run, exclusive.
    pub started_before: Option<Timestamp>,
}

/// A hold. It is never changed, and neither is its release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    pub id: HoldId,
    pub reason: HoldReason,
    pub runs: HeldRuns,
    pub placed_by: UserId,
    pub placed_at: Timestamp,
    /// `None` while the hold is in force.
    pub release: Option<HoldRelease>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldRelease {
    pub by: UserId,
    pub at: Timestamp,
}
