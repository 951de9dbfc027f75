//! The parts of a template of URIs.

use crate::kit::byte_cache::HeapBytes;

/// Bytes of a template.
const BYTES_MAX: usize = 256;
/// Variables of a template.
const VARIABLES_MAX: usize = 8;
/// Schemes that the server uses itself.
const RESERVED: [&str; 2] = ["artifact", "skill"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UriPart {
    Literal(String),
    Variable(String),
}

impl HeapBytes for UriPart {
    fn heap_bytes(&self) -> usize {
        let (Self::Literal(text) | Self::Variable(text)) = self;
        text.heap_bytes()
    }
}

/// Separates a template at its variables.
///
/// # Errors
/// Says what a template must be.
pub(crate) fn parse_parts(text: &str) -> Result<Vec<UriPart>, &'static str> {
    check_scheme(text)?;
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((literal, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').ok_or("must close each variable with `}`")?;
        push_literal(&mut parts, literal)?;
        push_variable(&mut parts, name)?;
        rest = after;
    }
    push_literal(&mut parts, rest)?;
    Ok(parts)
}

fn check_scheme(text: &str) -> Result<(), &'static str> {
    let (scheme, path) = text.split_once(':').ok_or("must be a URI, such as `report://{year}/sales`")?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_lowercase())
        && scheme.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c));
    if !is_scheme || path.is_empty() || text.len() > BYTES_MAX {
        return Err(
            "must be a URI of at most 256 bytes that begins with a scheme in small letters, such as `report://{year}/sales`",
        );
    }
    if RESERVED.contains(&scheme) {
        return Err("must have another scheme: the server has resources with `artifact` and `skill` itself");
    }
    Ok(())
}

fn push_literal(parts: &mut Vec<UriPart>, text: &str) -> Result<(), &'static str> {
    if !text.chars().all(|c| c.is_ascii_graphic() && !"\"<>\\^`|}".contains(c)) {
        return Err("must have the characters of a URI, with others percent-encoded");
    }
    if !text.is_empty() {
        parts.push(UriPart::Literal(text.to_owned()));
    }
    Ok(())
}

fn push_variable(parts: &mut Vec<UriPart>, name: &str) -> Result<(), &'static str> {
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        return Err("must have variables with names of letters, digits and `_`, such as `{year}`");
    }
    if matches!(parts.last(), Some(UriPart::Variable(_))) {
        return Err("must have text between two variables");
    }
    let variable = UriPart::Variable(name.to_owned());
    if parts.contains(&variable) || parts.len() >= 2 * VARIABLES_MAX {
        return Err("must name each variable once, and at most 8");
    }
    parts.push(variable);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_has_texts_and_variables() {
        let found = parse_parts("test://{id}/data").unwrap();
        let expected =
            [UriPart::Literal("test://".into()), UriPart::Variable("id".into()), UriPart::Literal("/data".into())];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_no_template_is_refused() {
        let many = format!("t:{}", (0..9).map(|n| format!("/{{v{n}}}")).collect::<String>());
        let long = format!("t:{}", "x".repeat(BYTES_MAX));
        let wrong = [
            "",
            "test",
            "test:",
            "Test://a",
            "1t:a",
            "artifact://x",
            "skill://x",
            "t:{a",
            "t:a}",
            "t:{}",
            "t:{a b}",
            "t:{+a}",
            "t:{a}{b}",
            "t:{a}/{a}",
            "t:a b",
            "t:ä",
            "t:\n",
            &many,
            &long,
        ];
        for text in wrong {
            assert!(parse_parts(text).is_err(), "{text}");
        }
    }
}
