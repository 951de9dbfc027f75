//! The users of an organisation.

use super::role::RoleName;
use crate::kit::account::{AccountId, UserId};
use crate::kit::clock::Timestamp;

/// A user with their role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    pub account: AccountId,
    pub role: RoleName,
    pub created_at: Timestamp,
}

/// The input for adding a user.
#[derive(Clone, Debug)]
pub struct NewUser {
    pub id: UserId,
    pub role: RoleName,
}
