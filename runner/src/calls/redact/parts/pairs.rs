//! Credentials after the name of a scheme, and values after a name.

/// Schemes of the header Authorization, and words that services use in their place.
const SCHEMES: [&str; 22] = [
    "apikey",
    "api-key",
    "authorization",
    "aws",
    "aws4-hmac-sha256",
    "basic",
    "bearer",
    "bot",
    "digest",
    "dpop",
    "genie-key",
    "hawk",
    "hmac",
    "jwt",
    "key",
    "mac",
    "negotiate",
    "oauth",
    "signature",
    "ssws",
    "token",
    "sharedaccesssignature",
];

/// The credential after the name of a scheme: of `Bearer abc` and of `token: abc`, `abc`.
pub(super) fn find_credential(value: &str) -> Option<String> {
    let end = value.find(|character: char| character.is_whitespace() || matches!(character, ':' | '='))?;
    let (scheme, rest) = value.split_at_checked(end)?;
    let is_scheme = SCHEMES.iter().any(|one| one.eq_ignore_ascii_case(scheme));
    let rest = rest.trim_start_matches(|character: char| character.is_whitespace() || matches!(character, ':' | '='));
    is_scheme.then(|| rest.to_owned())
}

/// The value after a name: of `KEY=value`, `export KEY=value`, `Name: value` and `user:password`.
pub(super) fn find_value(value: &str) -> Option<String> {
    let (name, rest) = value.split_once(['=', ':'])?;
    let name = name.trim().trim_matches(['"', '\'', '{', '[']);
    let is_name = |character: char| character.is_alphanumeric() || "_-.@+$/ ".contains(character);
    (!name.is_empty() && name.chars().all(is_name) && !rest.starts_with("//")).then(|| rest.to_owned())
}
