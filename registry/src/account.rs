//! Who is asking: organisations and their users, known by free strings that the operator chooses.

use crate::text_type::{made_of, text_type};

/// Bytes of an organisation's or user's id; room for any mail address, short enough for a header.
const ACCOUNT_BYTES_MAX: usize = 128;

impl UserId {
    pub const BYTES_MAX: usize = ACCOUNT_BYTES_MAX;
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
