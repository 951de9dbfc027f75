//! The parts of a secret, one layer deep.

mod decoded;
mod json;
mod lists;
mod pairs;
mod url;

pub(super) use url::Url;

/// A part of a secret.
pub(super) enum Part {
    /// What a scheme or a URL marks as a credential. It is searched also when it is an ordinary word.
    Credential(String),
    /// Anything else.
    Text(String),
    /// A text whose parts are found otherwise.
    Whole(String),
}

/// Finds the parts of a value. Each is at most as long as the value.
pub(super) fn find_parts(value: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = lists::join_lines(value).into_iter().map(Part::Whole).collect();
    if let Some(members) = json::find_members(value) {
        // The lines and the words of a document are no values that a program uses.
        parts.extend(lists::find_lines(value).into_iter().map(Part::Whole));
        parts.extend(members.into_iter().map(Part::Text));
        return parts;
    }
    parts.extend(lists::find_lines(value).into_iter().map(Part::Text));
    parts.extend(decoded::find_variants(value).into_iter().map(Part::Text));
    parts.extend(pairs::find_credential(value).into_iter().map(Part::Credential));
    parts.extend(pairs::find_value(value).into_iter().map(Part::Text));
    if let Some(url) = Url::parse(value) {
        parts.extend(url.find_credentials().into_iter().map(Part::Credential));
        parts.extend(url.find_tokens().into_iter().map(Part::Text));
    }
    parts.extend(lists::find_items(value).into_iter().map(Part::Text));
    parts
}
