//! Texts within a bound of bytes, and without the blanks around them.

/// Stands at the end of a text that was cut.
pub(crate) const CUT: &str = "[truncated]";

/// The first bytes of a text, with a mark when there are more.
#[must_use]
pub fn cut(text: String, bytes_max: usize) -> String {
    let is_whole = text.len() <= bytes_max;
    if is_whole { text } else { begin(text, bytes_max) + CUT }
}

/// The first bytes of a text, up to the end of a character.
#[must_use]
pub fn begin(mut text: String, bytes_max: usize) -> String {
    text.truncate(text.floor_char_boundary(bytes_max));
    text
}

/// Returns how many of the lines fit into `bytes_max`, and whether there are more lines.
pub(crate) fn count_lines_within(lines: &[String], bytes_max: usize) -> (usize, bool) {
    let mut left = bytes_max;
    let fits = |line: &&String| {
        let fits = line.len() <= left;
        left = left.saturating_sub(line.len());
        fits
    };
    let kept = lines.iter().take_while(fits).count();
    (kept, kept < lines.len())
}

/// The first lines, of which the last may be cut.
pub(crate) fn begin_lines(lines: Vec<String>, bytes_max: usize) -> Vec<String> {
    let mut left = bytes_max;
    let begun = lines.into_iter().map_while(|line| {
        let line = (left > 0 || line.is_empty()).then(|| begin(line, left))?;
        left -= line.len();
        Some(line)
    });
    begun.collect()
}

/// Removes what editors, shells and copying add around a secret: blanks, line ends, control characters, byte order marks and
/// invisible spaces.
#[must_use]
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_blank)
}

pub(crate) fn is_blank(character: char) -> bool {
    character.is_whitespace()
        || character.is_control()
        || matches!(character, '\u{feff}' | '\u{fffe}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{180e}' | '\u{ad}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_within_the_bound_is_cut() {
        let lines = begin_lines(vec!["x".repeat(1000); 100], 2_500);
        assert_eq!(lines.iter().map(String::len).collect::<Vec<_>>(), [1000, 1000, 500]);
        assert_eq!(count_lines_within(&lines, 2_000), (2, true));
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        let text = cut("é".repeat(10), 3);
        assert_eq!(text, format!("é{CUT}"));
    }
}
