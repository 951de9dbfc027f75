//! Text formatting.

use std::time::Duration;

use registry::visible_lines;

pub const RED: &str = "\u{1b}[31m";
pub const GREEN: &str = "\u{1b}[32m";
pub const DIM: &str = "\u{1b}[2m";
pub const RESET: &str = "\u{1b}[0m";

/// The colours of this program.
const COLOURS: [&str; 4] = [RED, GREEN, DIM, RESET];

/// Shows hidden characters as escapes, since texts of tools and servers must not control the terminal or hide a part of themselves.
pub fn escape_hidden(text: &str) -> String {
    visible_lines(text)
}

/// Shows hidden characters of a text that has the colours of this program.
pub fn escape_hidden_with_colours(text: &str) -> String {
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('\u{1b}') {
        let (before, sequence) = rest.split_at(at);
        shown.push_str(&escape_hidden(before));
        let colour = COLOURS.iter().find(|colour| sequence.starts_with(**colour));
        let end = colour.map_or(1, |colour| colour.len());
        match colour {
            Some(colour) => shown.push_str(colour),
            None => shown.push_str(&escape_hidden(&sequence[..end])),
        }
        rest = &sequence[end..];
    }
    shown.push_str(&escape_hidden(rest));
    shown
}

/// Shortens a text to `characters_max` characters, with an ellipsis at the end.
pub fn clip(text: &str, characters_max: usize) -> String {
    if text.chars().count() <= characters_max {
        return text.to_owned();
    }
    let mut start: String = text.chars().take(characters_max.saturating_sub(1)).collect();
    start.push('…');
    start
}

/// Removes the fraction of a timestamp.
pub fn cut_to_second(timestamp: &str) -> String {
    match timestamp.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z"),
        None => timestamp.to_owned(),
    }
}

pub fn render_duration(duration: Duration) -> String {
    match duration.as_millis() {
        milliseconds @ 0..1_000 => format!("{milliseconds} ms"),
        _ => format!("{:.1} s", duration.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_of_tools_are_shown() {
        assert_eq!(escape_hidden("a\u{1b}[2Jb\r\n\u{9b}c\u{202e}"), "a\\u{1b}[2Jb\\u{d}\n\\u{9b}c\\u{202e}");
        let text = format!("{RED}error:{RESET} a\u{1b}[2Jb\u{1b}");
        assert_eq!(escape_hidden_with_colours(&text), format!("{RED}error:{RESET} a\\u{{1b}}[2Jb\\u{{1b}}"));
    }

    #[test]
    fn clipping_counts_characters() {
        assert_eq!(clip("häuser", 6), "häuser");
        assert_eq!(clip("häuser", 4), "häu…");
    }

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(render_duration(Duration::from_millis(12)), "12 ms");
        assert_eq!(render_duration(Duration::from_millis(2_345)), "2.3 s");
    }

    #[test]
    fn timestamps_are_shown_to_the_second() {
        assert_eq!(cut_to_second("2026-11-20T18:00:00.123Z"), "2026-11-20T18:00:00Z");
        assert_eq!(cut_to_second("2026-11-20T18:00:00Z"), "2026-11-20T18:00:00Z");
    }
}
