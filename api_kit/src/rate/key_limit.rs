//! The limit of API keys that requests carry in place of a token. The check of a key counts as a sign-in, so that wrong keys
//! are not answered faster there than by signing in. A right key counts once a minute, so that the requests of one clone or
//! installation count as one sign-in.

use std::net::IpAddr;

use super::limit::{Counter, Limit, LimitFactory};
use super::sign_in::{SIGN_IN, SignIn};
use super::usage::Key;
use crate::error::Error;

/// The limit of signing in, applied to the keys in other requests.
pub struct KeyLimit {
    sign_in: Limit,
    /// The right keys of the last minute.
    right: Counter,
}

/// The check of a key.
pub struct KeyCheck {
    peer: Option<IpAddr>,
    is_right: bool,
}

impl KeyCheck {
    /// A check with this result.
    pub const fn new<T>(peer: Option<IpAddr>, result: &Result<T, Error>) -> Self {
        Self { peer, is_right: !matches!(result, Err(Error::Unauthenticated | Error::KeyEnded(_))) }
    }
}

impl KeyLimit {
    const OPERATION: &str = SIGN_IN;

    /// Returns the limit if signing in has one.
    pub fn new(limits: &LimitFactory) -> Option<Self> {
        Some(Self { sign_in: limits.find_limit(Self::OPERATION)?, right: limits.count_right_keys() })
    }

    /// Counts the check of the key with this organisation, user and id.
    ///
    /// # Errors
    /// [`Error::RateLimited`] beyond the limit of signing in: for a right key, that of its own sign-ins.
    pub async fn count(&self, organization: &str, user: &str, key: &str, check: KeyCheck) -> Result<(), Error> {
        if !check.is_right {
            return self.sign_in.count_sign_in(SignIn::Failed([organization, user], check.peer)).await;
        }
        let known = Key::from_names(Self::OPERATION, [organization, key], check.peer);
        if !self.right.has(&known) {
            self.sign_in.count_sign_in(SignIn::Succeeded([organization, key])).await?;
            self.right.add(&known);
        }
        Ok(())
    }
}
