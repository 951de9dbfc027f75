//! API keys and the tokens that they are exchanged for.

use std::fmt;

use crate::account::{OrganizationId, UserId};
use crate::clock::Timestamp;
use crate::variables::SecretValue;

/// What is needed to create an organisation: its id, and its first user, who may do everything.
#[derive(Clone, Debug)]
pub struct NewOrganization {
    pub organization: OrganizationId,
    pub user: UserId,
}

/// A key just made; this is the only time that it can be read.
#[derive(Clone, Debug)]
pub struct IssuedKey {
    pub organization: OrganizationId,
    pub user: UserId,
    pub api_key_id: String,
    pub api_key: SecretValue,
}

/// What a user presents to sign in.
#[derive(Clone, Copy)]
pub struct SignIn<'a> {
    pub organization: &'a OrganizationId,
    pub api_key_id: &'a str,
    pub api_key: &'a str,
    pub user: &'a str,
}

impl fmt::Debug for SignIn<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SignIn").field("organization", self.organization).finish_non_exhaustive()
    }
}

/// A token just made.
#[derive(Clone, Debug)]
pub struct IssuedToken {
    pub id_token: SecretValue,
    pub expires_at: Timestamp,
}

/// How an attempt to sign in ended.
#[derive(Clone, Debug)]
pub enum SignedIn {
    Issued(IssuedToken),
    Refused(SignInRefused),
}

/// Why nobody was signed in. Which part of the credentials was wrong stays untold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignInRefused {
    #[error("organization not found")]
    UnknownOrganization,
    #[error("key or user refused")]
    BadCredentials,
}
