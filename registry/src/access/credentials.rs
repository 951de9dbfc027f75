//! API keys and the tokens that they are exchanged for.

use std::fmt;

use crate::kit::account::{OrganizationId, UserId};
use crate::kit::clock::Timestamp;
use crate::tools::SecretValue;

/// The input for creating an organisation. The first user is an administrator.
#[derive(Clone, Debug)]
pub struct NewOrganization {
    pub organization: OrganizationId,
    pub user: UserId,
}

/// A new key. Its secret cannot be read again.
#[derive(Clone, Debug)]
pub struct IssuedKey {
    pub organization: OrganizationId,
    pub user: UserId,
    pub api_key_id: String,
    pub api_key: SecretValue,
}

/// The credentials of a user.
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

/// A new token.
#[derive(Clone, Debug)]
pub struct IssuedToken {
    pub id_token: SecretValue,
    pub expires_at: Timestamp,
}

/// The result of an attempt to sign in.
#[derive(Clone, Debug)]
pub enum SignedIn {
    Issued(IssuedToken),
    Refused(SignInRefused),
}

/// The end of an API key, for whoever has its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyEnd {
    Expired { at: Timestamp },
    Revoked { at: Timestamp },
}

/// The reason why an attempt to sign in was refused. It does not reveal which part of the credentials is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignInRefused {
    #[error("organization not found")]
    UnknownOrganization,
    #[error("key or user refused")]
    BadCredentials,
}
