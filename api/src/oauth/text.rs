//! Texts of strangers, made harmless before people read them.

/// Characters of a client's name that are shown.
const NAME_CHARACTERS_MAX: usize = 80;

/// Returns a name on one line, without characters that hide or reorder others.
pub(super) fn name(text: &str) -> String {
    let shown = text.chars().filter(|c| !is_hidden(*c)).map(|c| if c.is_whitespace() { ' ' } else { c });
    let shown: String = shown.take(NAME_CHARACTERS_MAX).collect();
    shown.trim().to_owned()
}

/// Whether a character is not seen, or changes how others are seen.
fn is_hidden(c: char) -> bool {
    (c.is_control() && !c.is_whitespace())
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Escapes a text for HTML, in content and in quoted attributes.
pub(super) fn html(text: &str) -> String {
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
        assert_eq!(name("  My\tClient\n2 "), "My Client 2");
        assert_eq!(name("a\u{202e}b\u{200b}\u{0}\u{e0041}c"), "abc");
        assert_eq!(name(&"é".repeat(1_000)).chars().count(), NAME_CHARACTERS_MAX);
    }

    #[test]
    fn markup_is_text() {
        assert_eq!(html(r#"<a b="c" d='e'>&"#), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;");
    }
}
