//! Texts of strangers, made harmless before people read them.

use registry::visible;

/// Characters of a client's name that are shown.
const NAME_CHARACTERS_MAX: usize = 80;

/// Returns a name on one line. Hidden characters are shown as escapes: the person sees that the name has them.
pub(super) fn escape_name(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().map(visible).collect();
    words.join(" ").chars().take(NAME_CHARACTERS_MAX).collect()
}

/// Escapes a text for HTML, in content and in quoted attributes.
pub(super) fn escape_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_short_visible_line() {
        assert_eq!(escape_name("  My\tClient\n2 "), "My Client 2");
        assert_eq!(escape_name("a\u{202e}b\u{200b}\u{e0041}c"), "a\\u{202e}b\\u{200b}\\u{e0041}c");
        assert_eq!(escape_name(&"é".repeat(1_000)).chars().count(), NAME_CHARACTERS_MAX);
    }

    #[test]
    fn markup_is_text() {
        assert_eq!(escape_html(r#"<a b="c" d='e'>&"#), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;");
    }
}
