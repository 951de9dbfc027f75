//! Leases: one publication per tool at a time.

use crate::kit::account::{OrganizationId, UserId};
use crate::kit::clock::Timestamp;
use crate::kit::ids::{BuildId, ToolId};

/// Error: another publication of the tool is running.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a publication of this tool has been running since {since}; try again when it has ended")]
pub struct Busy {
    pub since: Timestamp,
}

/// The exclusive right to change the versions of a tool. It expires, by the database's clock, unless it is renewed. The next
/// holder gets a higher fence, and writes with a lower fence are refused from then on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub organization: OrganizationId,
    pub tool: ToolId,
    pub fence: i64,
    pub build: BuildId,
    pub holder: UserId,
    pub acquired_at: Timestamp,
}
