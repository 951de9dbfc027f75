//! The marks at the begin and the end of a key file.

/// Whether a text is a mark such as `-----BEGIN PRIVATE KEY-----`, or a piece of one.
pub(super) fn is_armour(text: &str) -> bool {
    let is_mark = |text: &str| text.starts_with("-----") || text.ends_with("-----") || text.starts_with("---- ");
    // A key in one line begins with a mark, too.
    is_mark(text) && text.chars().all(|character| character.is_ascii_uppercase() || "- 0123456789".contains(character))
}
