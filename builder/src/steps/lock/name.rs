//! Names of Python packages.

/// Bytes of a name; the longest on the public index have about a hundred.
const NAME_BYTES_MAX: usize = 200;

/// The name at the start of a requirement, normalised, and the text after it.
///
/// The grammar is that of PEP 508: letters, digits, `-`, `_` and `.`, with a letter or digit at both ends.
pub fn split_name(text: &str) -> Option<(String, &str)> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let end = text.bytes().take_while(is_part).count();
    let (name, rest) = text.split_at(end);
    let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let is_name = name.len() <= NAME_BYTES_MAX && is_end(name.as_bytes().first()) && is_end(name.as_bytes().last());
    is_name.then(|| (normalise(name), rest))
}

/// The normal form of PEP 503: lower case, and one `-` for each run of `-`, `_` and `.`.
pub fn normalise(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '-' | '_' | '.' if normal.ends_with('-') => {}
            '-' | '_' | '.' => normal.push('-'),
            letter => normal.push(letter.to_ascii_lowercase()),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_where_its_grammar_does() {
        for (text, expected) in [
            ("Attrs==1", Some(("attrs", "==1"))),
            ("zope.interface [x]", Some(("zope-interface", " [x]"))),
            ("a__.-b", Some(("a-b", ""))),
            ("a @ x", Some(("a", " @ x"))),
            ("-e .", None),
            ("a-==1", None),
            ("", None),
            ("ü", None),
        ] {
            let expected = expected.map(|(name, rest): (&str, &str)| (name.to_owned(), rest));
            assert_eq!(split_name(text), expected, "{text:?}");
        }
        assert_eq!(split_name(&"a".repeat(NAME_BYTES_MAX + 1)), None);
    }
}
