//! Texts in messages, bounded whatever a file, an archive or a compiler contains.

/// Characters of a text that an author chose, such as a path or a key.
const SHOWN_CHARACTERS_MAX: usize = 80;
/// Bytes of a message. The longest is a refusal with a compiler's output.
pub const MESSAGE_BYTES_MAX: usize = 64 << 10;

/// Stands at the end of a message that was cut.
pub const CUT: &str = "[truncated]";

/// The beginning of an author's text in quotation marks.
pub fn quote(text: &str) -> String {
    match show(text) {
        whole if whole.len() == text.len() => format!("{whole:?}"),
        start => format!("{start:?}…"),
    }
}

/// The beginning of an author's text.
pub fn show(text: &str) -> &str {
    text.char_indices().nth(SHOWN_CHARACTERS_MAX).map_or(text, |(end, _)| &text[..end])
}

/// The beginning of a message, with a mark if there is more.
pub fn cut(mut message: String) -> String {
    if message.len() > MESSAGE_BYTES_MAX {
        message.truncate(message.floor_char_boundary(MESSAGE_BYTES_MAX - CUT.len()));
        message.push_str(CUT);
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut() {
        assert_eq!((quote("a\n"), show("a\n")), ("\"a\\n\"".into(), "a\n"));
        assert_eq!(quote(&"é".repeat(1 << 20)), format!("\"{}\"…", "é".repeat(80)));
        assert_eq!(show(&"é".repeat(1 << 20)), "é".repeat(80));
        let long = cut("é".repeat(1 << 20));
        assert!(long.len() <= MESSAGE_BYTES_MAX && long.ends_with(&format!("é{CUT}")), "{}", long.len());
        assert_eq!(cut("a".into()), "a");
    }
}
