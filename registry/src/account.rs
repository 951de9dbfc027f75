//! Who is asking: organisations and their users, known by free strings that the operator chooses.

use crate::error::InvalidValue;
use crate::text_type::{made_of, text_type};

/// Bytes of an organisation's or user's id; room for any mail address, short enough for a header.
const ACCOUNT_BYTES_MAX: usize = 128;

impl UserId {
    pub const BYTES_MAX: usize = ACCOUNT_BYTES_MAX;

    /// What stands where user ids stand in paths and is none, or is taken out of paths by clients.
    pub const RESERVED: [&str; 4] = ["me", "signin_with_api_key", ".", ".."];

    /// Nobody can have a reserved id.
    pub(crate) fn require_free(&self) -> Result<(), InvalidValue> {
        let rule = "must not be one of: me, signin_with_api_key, ., ..";
        if Self::RESERVED.contains(&self.as_str()) { Err(InvalidValue::new("user id", rule)) } else { Ok(()) }
    }
}

impl OrganizationId {
    /// Clients take dots out of paths, so that nobody could reach an organisation of that name.
    pub(crate) fn require_reachable(&self) -> Result<(), InvalidValue> {
        let is_dots = matches!(self.as_str(), "." | "..");
        if is_dots { Err(InvalidValue::new("organization id", "must not be . or ..")) } else { Ok(()) }
    }
}

text_type! {
    /// The id of an organisation, the border that no row crosses.
    OrganizationId = "organization id", "must be 1 to 128 characters of A-Z a-z 0-9 . _ @ -", account;
}

text_type! {
    /// The id of a user within an organisation.
    UserId = "user id", "must be 1 to 128 characters of A-Z a-z 0-9 . _ @ -", account;
}

fn account(text: &str) -> Option<String> {
    made_of(text, ACCOUNT_BYTES_MAX, |c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '@' | '-'))
}
