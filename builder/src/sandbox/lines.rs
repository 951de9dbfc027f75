//! What a job prints, on its way into the log of its build.

use crate::progress::Progress;

/// Told as it comes. With the end of it below, this leaves half of a build's log to its other steps.
const BEGINNING_BYTES_MAX: usize = 36 << 10;
/// Told when the job has ended: compilers say last what went wrong.
const END_BYTES_MAX: usize = 12 << 10;
/// What does not fit on any screen helps nobody.
const LINE_BYTES_MAX: usize = 2_000;

/// Takes whatever comes, and keeps what is bounded.
pub struct Lines {
    progress: Progress,
    told: usize,
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// From where the beginning is full.
    end: Vec<u8>,
    dropped: u64,
    last: String,
}

impl Lines {
    pub fn into(progress: Progress) -> Self {
        Self { progress, told: 0, line: Vec::new(), end: Vec::new(), dropped: 0, last: String::new() }
    }

    pub fn take(&mut self, mut bytes: &[u8]) {
        while self.told < BEGINNING_BYTES_MAX && !bytes.is_empty() {
            let (line, ends, rest) = match bytes.iter().position(|byte| *byte == b'\n') {
                Some(at) => (&bytes[..at], true, &bytes[at + 1..]),
                None => (bytes, false, &[][..]),
            };
            let room = LINE_BYTES_MAX.saturating_sub(self.line.len());
            self.line.extend_from_slice(&line[..line.len().min(room)]);
            if ends {
                self.tell();
            }
            bytes = rest;
        }
        self.keep_end(bytes);
    }

    /// Tells what is left, and the last thing that was said.
    pub fn finish(mut self) -> String {
        if !self.line.is_empty() {
            self.tell();
        }
        if self.dropped > 0 {
            self.progress.line(format!("[{} bytes left out]", self.dropped));
        }
        let end = std::mem::take(&mut self.end);
        // What was cut began somewhere in a line.
        let whole = usize::from(self.dropped > 0);
        for line in end.split(|byte| *byte == b'\n').skip(whole).filter(|line| !line.is_empty()) {
            self.line.extend_from_slice(&line[..line.len().min(LINE_BYTES_MAX)]);
            self.tell();
        }
        self.last
    }

    fn tell(&mut self) {
        let line = plain(&std::mem::take(&mut self.line));
        self.told += line.len() + 1;
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

/// Text that moves no cursor and rings no bell where it is shown.
fn plain(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            // Colours and the like: up to the letter that ends them.
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

    fn told(chunks: &[&[u8]]) -> (String, String) {
        let progress = Progress::none();
        let mut lines = Lines::into(progress.clone());
        chunks.iter().for_each(|chunk| lines.take(chunk));
        let last = lines.finish();
        (progress.log(), last)
    }

    #[test]
    fn lines_are_told_whole_however_they_arrive() {
        assert_eq!(told(&[b"one\ntw", b"o\nthree"]).0, "one\ntwo\nthree\n");
    }

    #[test]
    fn of_too_much_the_beginning_and_the_end_are_kept() {
        let many: Vec<u8> = (0..1_000_000).flat_map(|number| format!("line {number}\n").into_bytes()).collect();
        for size in [7, 4_096, many.len()] {
            let chunks: Vec<&[u8]> = many.chunks(size).collect();
            let (log, last) = told(&chunks);
            assert!(log.starts_with("line 0\nline 1\n") && log.ends_with("line 999999\n"), "{size}");
            assert!(log.len() < BEGINNING_BYTES_MAX + END_BYTES_MAX + 100, "{}", log.len());
            assert_eq!(log.matches("bytes left out]").count(), 1, "{size}");
            assert_eq!(last, "line 999999");
        }
    }

    #[test]
    fn a_line_without_an_end_is_cut() {
        let (log, _) = told(&[&vec![b'x'; 30_000], b"y\nlast\n"]);
        assert_eq!(log, format!("{}\nlast\n", "x".repeat(LINE_BYTES_MAX)));
    }

    #[test]
    fn what_is_not_text_does_nothing_to_a_terminal() {
        let (log, _) = told(&[b"\x1b[31mred\x1b[0m \x07bell\x00 \xff tab\t.\r\n\x1b]0;title\n"]);
        assert_eq!(log, "red bell \u{fffd} tab\t.\n0;title\n");
    }
}
