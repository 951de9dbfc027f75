//! Parts of secrets that are no secrets themselves. They would be redacted from ordinary texts.

use super::parts::Url;

/// Words that configuration files contain beside secrets.
const WORDS: [&str; 23] = [
    "application",
    "authorization",
    "authorized_user",
    "connection",
    "credential",
    "credentials",
    "database",
    "development",
    "disabled",
    "encrypted",
    "external_account",
    "googleapis.com",
    "localhost",
    "mongodb+srv",
    "password",
    "postgres",
    "postgresql",
    "production",
    "proc-type",
    "service_account",
    "undefined",
    "username",
    "x-api-key",
];
/// Bytes of a segment of a path that may be a token, as in the URL of a webhook.
pub(super) const SEGMENT_BYTES_MIN: usize = 16;

/// Whether a part is a word, the first or last line of a key file, or the URL of a public endpoint.
pub(super) fn is_common(part: &str) -> bool {
    let part = part.trim_matches(|character: char| character.is_ascii_punctuation() && character != '-');
    is_armour(part)
        || WORDS.iter().any(|word| word.eq_ignore_ascii_case(part))
        || part.chars().all(|character| character.is_ascii_punctuation() || character.is_whitespace())
        || Url::parse(part).is_some_and(|url| url.is_public())
}

/// Whether a text is a mark such as `-----BEGIN PRIVATE KEY-----`, or a piece of one.
pub(super) fn is_armour(text: &str) -> bool {
    let is_mark = |text: &str| text.starts_with("-----") || text.ends_with("-----") || text.starts_with("---- ");
    // A key in one line begins with a mark, too.
    is_mark(text) && text.chars().all(|character| character.is_ascii_uppercase() || "- 0123456789".contains(character))
}
