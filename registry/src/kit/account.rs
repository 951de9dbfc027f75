//! The ids of organisations and users, which the operator chooses, and the ids of accounts, which are never given again.

use std::str::FromStr;

use smol_str::{SmolStr, format_smolstr};

use super::text_type::{made_of, text_type};
use crate::kit::byte_cache::HeapBytes;
use crate::kit::invalid_value::InvalidValue;

/// Bytes of the id of an organisation or a user. Fits any mail address, and a header.
const ACCOUNT_BYTES_MAX: usize = 128;

impl UserId {
    pub const BYTES_MAX: usize = ACCOUNT_BYTES_MAX;

    /// Ids that paths use for something else, or that clients remove from paths.
    pub const RESERVED: [&str; 4] = ["me", "signin_with_api_key", ".", ".."];

    /// Refuses a reserved id.
    pub(crate) fn require_free(&self) -> Result<(), InvalidValue> {
        let rule = "must not be one of: me, signin_with_api_key, ., ..";
        if Self::RESERVED.contains(&self.as_str()) { Err(InvalidValue::new("user id", rule)) } else { Ok(()) }
    }
}

impl OrganizationId {
    /// Refuses `.` and `..`, which clients remove from paths.
    pub(crate) fn require_reachable(&self) -> Result<(), InvalidValue> {
        let is_dots = matches!(self.as_str(), "." | "..");
        if is_dots { Err(InvalidValue::new("organization id", "must not be . or ..")) } else { Ok(()) }
    }
}

text_type! {
    /// The id of an organisation. Every row belongs to one organisation, and is invisible to others.
    OrganizationId = "organization id", "must be 1 to 128 characters of A-Z a-z 0-9 . _ @ -", parse_account;
}

text_type! {
    /// The id of a user within an organisation.
    UserId = "user id", "must be 1 to 128 characters of A-Z a-z 0-9 . _ @ -", parse_account;
}

/// The id of the account of a user within an organisation: `bob#17`, the id of the user and the position that the organisation gave the
/// user. Positions are never given again. When a user is removed, the user id is free for another person, who gets another account: whatever
/// belongs to a user, or acts for one, names the account. It stays within the server. Clients see the user id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountId(SmolStr);

/// Stands between the user id and the position, and in no user id.
const SEPARATOR: char = '#';

impl AccountId {
    pub(crate) fn new(user: &UserId, position: u64) -> Self {
        Self(format_smolstr!("{user}{SEPARATOR}{position}"))
    }

    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let parts = text.split_once(SEPARATOR).and_then(|(user, position)| {
            let position: u64 = position.parse().ok()?;
            Some(Self::new(&UserId::parse(user).ok()?, position))
        });
        // A position has one spelling.
        let account = parts.filter(|account| account.as_str() == text);
        account.ok_or(InvalidValue::new("account id", "must be a user id, # and a position"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id by which people know the user.
    pub fn user(&self) -> UserId {
        UserId(self.user_str().into())
    }

    pub fn user_str(&self) -> &str {
        self.0.split_once(SEPARATOR).map_or(self.0.as_str(), |(user, _)| user)
    }
}

impl HeapBytes for AccountId {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}

impl FromStr for AccountId {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        Self::parse(text)
    }
}

fn parse_account(text: &str) -> Option<String> {
    made_of(text, ACCOUNT_BYTES_MAX, |c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '@' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_has_the_id_of_its_user() {
        let bob = UserId::parse("bob@example.com").unwrap();
        let account = AccountId::new(&bob, 17);
        assert_eq!((account.as_str(), account.user()), ("bob@example.com#17", bob));
        assert_eq!(AccountId::parse(account.as_str()).unwrap(), account);
        for wrong in ["bob", "bob#", "#1", "bob#01", "bob#+1", "bob#1#2", "bob#x", "bob#-1"] {
            assert!(AccountId::parse(wrong).is_err(), "{wrong}");
        }
        assert!(UserId::parse("bob#1").is_err());
    }
}
