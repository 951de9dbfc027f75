//! Writes a job's output to the log of its build.

use crate::progress::BuildProgress;
use crate::text::CUT;

/// Output that is logged as it arrives. With [`END_BYTES_MAX`], it leaves half of a build's log to other steps.
const BEGINNING_BYTES_MAX: usize = 36 << 10;
/// Output that is logged when the job has ended: compilers print the reason of a failure last.
const END_BYTES_MAX: usize = 12 << 10;
/// Length of a line in the log. Longer lines are truncated, since no screen shows them whole.
const LINE_BYTES_MAX: usize = 2_000;

/// Splits output into lines and keeps its beginning and its end.
pub struct BatchedLogWriter {
    progress: BuildProgress,
    written: usize,
    /// The line that has no line break yet.
    line: Vec<u8>,
    is_line_cut: bool,
    /// The last bytes after the beginning.
    end: Vec<u8>,
    dropped: u64,
    last: String,
}

impl BatchedLogWriter {
    pub fn new(progress: BuildProgress) -> Self {
        Self {
            progress,
            written: 0,
            line: Vec::new(),
            is_line_cut: false,
            end: Vec::new(),
            dropped: 0,
            last: String::new(),
        }
    }

    pub fn take(&mut self, mut bytes: &[u8]) {
        while self.written < BEGINNING_BYTES_MAX && !bytes.is_empty() {
            let (line, ends, rest) = match bytes.iter().position(|byte| *byte == b'\n') {
                Some(at) => (&bytes[..at], true, &bytes[at + 1..]),
                None => (bytes, false, &[][..]),
            };
            self.extend_line(line);
            if ends {
                self.write_line();
            }
            bytes = rest;
        }
        self.keep_end(bytes);
    }

    /// Writes the rest, and returns the last line.
    pub fn finish(mut self) -> String {
        if !self.line.is_empty() {
            self.write_line();
        }
        if self.dropped > 0 {
            self.progress.line(format!("[{} bytes of output left out]", self.dropped));
        }
        let end = std::mem::take(&mut self.end);
        // The first line of the end may have lost its beginning.
        let whole = usize::from(self.dropped > 0);
        for line in end.split(|byte| *byte == b'\n').skip(whole).filter(|line| !line.is_empty()) {
            self.extend_line(line);
            self.write_line();
        }
        self.last
    }

    fn extend_line(&mut self, bytes: &[u8]) {
        let room = LINE_BYTES_MAX.saturating_sub(self.line.len());
        self.is_line_cut |= bytes.len() > room;
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn write_line(&mut self) {
        let mut line = strip_controls(&std::mem::take(&mut self.line));
        if std::mem::take(&mut self.is_line_cut) {
            line.push_str(CUT);
        }
        self.written += line.len() + 1;
        self.last.clone_from(&line);
        self.progress.line(line);
    }

    fn keep_end(&mut self, bytes: &[u8]) {
        let (gone, kept) = bytes.split_at(bytes.len().saturating_sub(END_BYTES_MAX));
        let excess = (self.end.len() + kept.len()).saturating_sub(END_BYTES_MAX);
        self.end.drain(..excess.min(self.end.len()));
        self.end.extend_from_slice(kept);
        self.dropped += (gone.len() + excess) as u64;
    }
}

/// The text without control characters, which would move a terminal's cursor or ring its bell.
fn strip_controls(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            // An escape sequence, such as a colour, up to the letter that ends it.
            '\u{1b}' if characters.next() == Some('[') => {
                characters.by_ref().find(|next| next.is_ascii_alphabetic());
            }
            '\t' => plain.push(character),
            _ if !character.is_control() => plain.push(character),
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_chunks(chunks: &[&[u8]]) -> (String, String) {
        let progress = BuildProgress::none();
        let mut writer = BatchedLogWriter::new(progress.clone());
        chunks.iter().for_each(|chunk| writer.take(chunk));
        let last = writer.finish();
        (progress.log(), last)
    }

    #[test]
    fn lines_are_written_whole_however_the_chunks_are_cut() {
        assert_eq!(write_chunks(&[b"one\ntw", b"o\nthree"]).0, "one\ntwo\nthree\n");
    }

    #[test]
    fn the_middle_of_long_output_is_left_out() {
        let many: Vec<u8> = (0..1_000_000).flat_map(|number| format!("line {number}\n").into_bytes()).collect();
        for size in [7, 4_096, many.len()] {
            let chunks: Vec<&[u8]> = many.chunks(size).collect();
            let (log, last) = write_chunks(&chunks);
            assert!(log.starts_with("line 0\nline 1\n") && log.ends_with("line 999999\n"), "{size}");
            assert!(log.len() < BEGINNING_BYTES_MAX + END_BYTES_MAX + 100, "{}", log.len());
            assert_eq!(log.matches("bytes of output left out]").count(), 1, "{size}");
            assert_eq!(last, "line 999999");
        }
    }

    #[test]
    fn a_line_without_an_end_is_cut() {
        let (log, _) = write_chunks(&[&vec![b'x'; 30_000], b"y\nlast\n"]);
        assert_eq!(log, format!("{}{CUT}\nlast\n", "x".repeat(LINE_BYTES_MAX)));
    }

    #[test]
    fn control_characters_are_removed() {
        let (log, _) = write_chunks(&[b"\x1b[31mred\x1b[0m \x07bell\x00 \xff tab\t.\r\n\x1b]0;title\n"]);
        assert_eq!(log, "red bell \u{fffd} tab\t.\n0;title\n");
    }
}
