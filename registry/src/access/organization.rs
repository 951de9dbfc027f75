//! An organisation, as its operator sees it.

use crate::kit::account::OrganizationId;
use crate::kit::clock::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Organization {
    pub id: OrganizationId,
    pub created_at: Timestamp,
    pub users: u64,
    /// Number of live tools.
    pub tools: u64,
}
