//! The ids of organisations and users. The operator chooses them.

use crate::invalid_value::InvalidValue;
use crate::text_type::{made_of, text_type};

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
    OrganizationId = "organization id", "must be 1 to 128 characters of A-Z a-z 0-9 . _ @ -", account;
}

text_type! {
    /// The id of a user within an organisation.
    UserId = "user id", "must be 1 to 128 characters of A-Z a-z 0-9 . _ @ -", account;
}

fn account(text: &str) -> Option<String> {
    made_of(text, ACCOUNT_BYTES_MAX, |c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '@' | '-'))
}
