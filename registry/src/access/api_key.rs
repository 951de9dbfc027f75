//! API keys: `lk_{id}_{secret}_{checksum}`.
//!
//! The id has 12 characters and identifies the key. The secret has 43 characters, which carry 256 bits. The checksum has 6
//! characters and reveals a mistyped or truncated key without a read of the database.

use crate::kit::account::AccountId;
use crate::kit::clock::Timestamp;
use crate::kit::random;
use crate::kit::text_type::{made_of, text_type};
use crate::text::visible_text::is_hidden;
use crate::tools::SecretValue;

const PREFIX: &str = "lk";
const ID_CHARACTERS: usize = 12;
pub(crate) const SECRET_CHARACTERS: usize = 43;
/// Characters of a checksum: 32 bits in base 62.
const CHECKSUM_CHARACTERS: usize = 6;

text_type! {
    /// The public part of a key, which identifies it.
    ApiKeyId = "api key id", "must be 12 characters of A-Z a-z 0-9", |text| {
        is_base62(text, ID_CHARACTERS).then(|| text.to_owned())
    };
}

text_type! {
    /// A note on the purpose of a key. Surrounding white space is trimmed.
    ApiKeyName = "key name", "must have 1 to 100 bytes without control characters", |text| {
        made_of(text.trim(), ApiKeyName::BYTES_MAX, |c| !is_hidden(c))
    };
}

impl ApiKeyName {
    /// Length of a key's name: one line in a list.
    pub const BYTES_MAX: usize = 100;
}

/// A stored key, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    pub id: ApiKeyId,
    pub account: AccountId,
    pub name: Option<ApiKeyName>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    /// The hour in which the key was last used: a token was issued for it, or a request had it as its password.
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

/// The input for creating a key.
#[derive(Clone, Debug)]
pub struct NewApiKey {
    pub account: AccountId,
    pub name: Option<ApiKeyName>,
    pub expires_at: Option<Timestamp>,
}

impl ApiKeyId {
    /// Returns the id in a key, if the text has the format of a key and a right checksum.
    pub fn of_key(key: &str) -> Option<Self> {
        let id = key.split('_').nth(1).filter(|id| is_well_formed(key, id))?;
        Self::parse(id).ok()
    }

    /// Makes the key that has this id and a secret.
    pub fn make_key(&self, secret: &str) -> SecretValue {
        make_key(self.as_str(), secret)
    }

    /// Returns the beginning of the key, by which people can find it.
    pub fn prefix(&self) -> String {
        format!("{PREFIX}_{self}")
    }
}

/// Generates an id and the key with that id.
pub(crate) fn generate() -> (String, SecretValue) {
    let id = random::base62(ID_CHARACTERS);
    let key = make_key(&id, &random::base62(SECRET_CHARACTERS));
    (id, key)
}

fn make_key(id: &str, secret: &str) -> SecretValue {
    let body = format!("{PREFIX}_{id}_{secret}");
    SecretValue::new(format!("{body}_{}", compute_checksum(&body)))
}

/// Whether a text has the format of a key with this id, and a right checksum.
pub(crate) fn is_well_formed(key: &str, id: &str) -> bool {
    let Some((body, sum)) = key.rsplit_once('_') else { return false };
    let parts: Vec<&str> = body.splitn(4, '_').collect();
    let [PREFIX, key_id, secret] = parts[..] else { return false };
    let is_spelled = is_base62(key_id, ID_CHARACTERS) && is_base62(secret, SECRET_CHARACTERS);
    key_id == id && is_spelled && sum == compute_checksum(body)
}

/// Whether a text has the format of a token or of the secret of a key.
pub(crate) fn is_secret(text: &str) -> bool {
    is_base62(text, SECRET_CHARACTERS)
}

pub(crate) fn is_base62(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Returns the CRC-32 in base 62, most significant digit first.
pub(crate) fn compute_checksum(body: &str) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut rest = crc32fast::hash(body.as_bytes());
    let mut digits = [b'0'; CHECKSUM_CHARACTERS];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[(rest % 62) as usize];
        rest /= 62;
    }
    digits.iter().map(|digit| char::from(*digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::{ApiKeyId, ApiKeyName, compute_checksum, generate, is_well_formed};

    #[test]
    fn a_key_has_the_documented_format() {
        let (id, key) = generate();
        let parts: Vec<&str> = key.expose().split('_').collect();
        assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [2, 12, 43, 6]);
        assert!(is_well_formed(key.expose(), &id));
        assert_eq!(ApiKeyId::parse(&id).unwrap().prefix(), key.expose()[..15]);
        assert_eq!(ApiKeyId::of_key(key.expose()), ApiKeyId::parse(&id).ok());
    }

    #[test]
    fn any_changed_character_is_noticed() {
        let (id, key) = generate();
        for index in 0..key.expose().len() {
            let mut bytes = key.expose().as_bytes().to_vec();
            bytes[index] = if bytes[index] == b'x' { b'y' } else { b'x' };
            let changed = String::from_utf8(bytes).unwrap();
            assert!(!is_well_formed(&changed, &id), "{index}");
        }
    }

    #[test]
    fn other_texts_are_no_keys() {
        let (id, key) = generate();
        let (whole, body) = (key.expose(), &key.expose()[..59]);
        assert!(is_well_formed(whole, &id) && !is_well_formed(whole, "anotherid000"));
        for wrong in
            [body, &format!("{body}_"), &format!("{whole}_"), &format!("{body}_000000"), "", "lk__", "lk_wrong_key"]
        {
            assert!(!is_well_formed(wrong, &id) && ApiKeyId::of_key(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn the_checksum_is_the_usual_crc() {
        // 0xCBF43926, the check value of CRC-32.
        assert_eq!(compute_checksum("123456789"), "3jZRME");
    }

    #[test]
    fn names_are_one_line() {
        assert_eq!(ApiKeyName::parse(" ci ").unwrap().as_str(), "ci");
        for name in ["", "  ", "a\nb", &"x".repeat(101)] {
            assert!(ApiKeyName::parse(name).is_err(), "{name}");
        }
    }
}
