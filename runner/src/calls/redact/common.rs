//! Parts of secrets that are no secrets themselves. They would be redacted from ordinary texts.

use super::armour::is_armour;
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

/// Whether a part is a word, the first or last line of a key file, or the URL of a public endpoint.
pub(super) fn is_common(part: &str) -> bool {
    let part = part.trim_matches(|character: char| character.is_ascii_punctuation() && character != '-');
    is_armour(part)
        || WORDS.iter().any(|word| word.eq_ignore_ascii_case(part))
        || part.chars().all(|character| character.is_ascii_punctuation() || character.is_whitespace())
        || Url::parse(part).is_some_and(|url| url.is_public())
}
