//! Checks the heads of requests before hyper reads them.
//!
//! Hyper accepts lines that end with LF alone, a second `Host`, codings before `chunked`, and `Transfer-Encoding` beside
//! `Content-Length`. A proxy in front of the server may read such bytes as other requests than hyper does, and let a
//! request through that it should have stopped (RFC 9112, sections 2.2, 3.2, 6.1 and 11.2). So such heads are refused
//! here (`tests/contract/framing.rs`); all other faults of a head are left to hyper. No setting of hyper or of its parser
//! `httparse` refuses them, and middleware comes too late: hyper has removed the traces by then.
//!
//! Each byte of a head is examined once, and at most one unfinished line is kept. Of a body only the length is counted.

use super::limits::HEAD_BYTES_MAX;

/// Follows the bytes of one connection from head to head.
#[derive(Debug)]
pub(super) struct Heads(Part);

/// The part of the stream that is next.
#[derive(Debug)]
enum Part {
    Head(Head),
    /// The rest of a body, in bytes.
    Body(u64),
    /// A body in chunks. The connection closes after it, so that no further head follows.
    Rest,
    Refused(Refusal),
}

/// Why a head is refused.
#[derive(Clone, Copy, Debug)]
enum Refusal {
    /// The head can be read in two ways.
    Ambiguous,
    /// The head is larger than hyper's buffer. Hyper itself notices that only while the end of the head is missing.
    TooLarge,
}

impl Refusal {
    const fn status(self) -> u16 {
        match self {
            Self::Ambiguous => 400,
            Self::TooLarge => 431,
        }
    }
}

/// The lines of a head that have arrived.
#[derive(Debug, Default)]
struct Head {
    bytes: usize,
    /// The beginning of a line whose end has not arrived.
    line: Vec<u8>,
    lines: usize,
    hosts: usize,
    lengths: usize,
    length: u64,
    codings: usize,
}

impl Default for Heads {
    fn default() -> Self {
        Self(Part::Head(Head::default()))
    }
}

impl Heads {
    pub(super) const fn are_refused(&self) -> bool {
        self.refusal().is_some()
    }

    /// The status with which the client is refused.
    pub(super) const fn refusal(&self) -> Option<u16> {
        match self.0 {
            Part::Refused(refusal) => Some(refusal.status()),
            _ => None,
        }
    }

    /// Returns how many of these bytes hyper may read. If not all, a head is refused; hyper reads it without its end, so
    /// that hyper considers it unfinished.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> usize {
        let mut passed = 0;
        while let Some(left) = bytes.get(passed..).filter(|left| !left.is_empty()) {
            match &mut self.0 {
                Part::Head(head) => {
                    let end = left.iter().position(|byte| *byte == b'\n');
                    let taken = end.map_or(left.len(), |end| end + 1);
                    match head.take(&left[..taken]) {
                        Ok(None) => {}
                        Ok(Some(next)) => self.0 = next,
                        Err(refusal) => {
                            self.0 = Part::Refused(refusal);
                            return passed + taken - 1;
                        }
                    }
                    passed += taken;
                }
                Part::Body(bytes_left) => {
                    let taken = usize::try_from(*bytes_left).unwrap_or(usize::MAX).min(left.len());
                    *bytes_left -= taken as u64;
                    if *bytes_left == 0 {
                        self.0 = Part::Head(Head::default());
                    }
                    passed += taken;
                }
                Part::Rest => return bytes.len(),
                Part::Refused(_) => return passed,
            }
        }
        passed
    }
}

impl Head {
    /// Reads a line or a part of it, and returns the next part of the stream after the last line of the head.
    fn take(&mut self, bytes: &[u8]) -> Result<Option<Part>, Refusal> {
        self.bytes += bytes.len();
        if self.bytes > HEAD_BYTES_MAX {
            return Err(Refusal::TooLarge);
        }
        if bytes.last() != Some(&b'\n') {
            self.line.extend_from_slice(bytes);
            return Ok(None);
        }
        let mut line = std::mem::take(&mut self.line);
        let whole = if line.is_empty() {
            bytes
        } else {
            line.extend_from_slice(bytes);
            &line
        };
        match whole.strip_suffix(b"\r\n").ok_or(Refusal::Ambiguous)? {
            // Empty lines before a request are skipped, by hyper too.
            [] if self.lines == 0 => Ok(None),
            [] => self.find_framing().map(Some),
            field => self.read(field).map(|()| None),
        }
    }

    /// Reads a field. Some fields tell where the request goes or ends.
    fn read(&mut self, field: &[u8]) -> Result<(), Refusal> {
        self.lines += 1;
        let colon = field.iter().position(|byte| *byte == b':').filter(|_| self.lines > 1);
        let Some((name, value)) = colon.map(|colon| field.split_at(colon)) else { return Ok(()) };
        let value = value[1..].trim_ascii();
        let is_fine = if name.eq_ignore_ascii_case(b"host") {
            self.hosts += 1;
            self.hosts == 1
        } else if name.eq_ignore_ascii_case(b"content-length") {
            self.lengths += 1;
            let length = parse_digits(value);
            self.length = length.unwrap_or_default();
            self.lengths == 1 && length.is_some()
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.codings += 1;
            self.codings == 1 && value.eq_ignore_ascii_case(b"chunked")
        } else {
            true
        };
        if is_fine { Ok(()) } else { Err(Refusal::Ambiguous) }
    }

    fn find_framing(&self) -> Result<Part, Refusal> {
        match (self.codings, self.lengths) {
            (0, _) if self.length == 0 => Ok(Part::Head(Self::default())),
            (0, _) => Ok(Part::Body(self.length)),
            (_, 0) => Ok(Part::Rest),
            _ => Err(Refusal::Ambiguous),
        }
    }
}

fn parse_digits(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value).ok()?;
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_refused(text: &str) -> bool {
        let mut heads = Heads::default();
        let passed = heads.pass(text.as_bytes());
        assert_eq!(heads.are_refused(), passed < text.len(), "{text:?}");
        heads.are_refused()
    }

    /// Empty lines before a request count, too, because hyper keeps them in its buffer.
    #[test]
    fn a_head_beyond_the_buffer_ends_the_connection() {
        for start in
            ["\r\n".repeat(HEAD_BYTES_MAX / 2), format!("GET / HTTP/1.1\r\nx: {}\r\n", "1".repeat(HEAD_BYTES_MAX))]
        {
            let mut heads = Heads::default();
            heads.pass(start.as_bytes());
            let rest = b"GET / HTTP/1.1\nhost: a\nhost: b\n\n";
            assert!(heads.pass(rest) < rest.len());
            assert_eq!(heads.refusal(), Some(431));
            assert_eq!(heads.pass(b"GET / HTTP/1.1\r\n\r\n"), 0);
        }
    }

    #[test]
    fn an_ambiguous_head_is_refused() {
        for fields in [
            "host: x\n",
            "x: 1\r\ny: 2\nz: 3\r\n",
            "host: x\r\nHost: y\r\n",
            "host: x\r\nhost:x\r\n",
            "transfer-encoding: gzip, chunked\r\n",
            "transfer-encoding: identity\r\n",
            "Transfer-Encoding:\tchunked\r\nTransfer-Encoding: chunked\r\n",
            "transfer-encoding: chunked\r\ncontent-length: 3\r\n",
            "content-length: 3\r\ntransfer-encoding: chunked\r\n",
            "content-length: 3\r\ncontent-length: 3\r\n",
            "content-length: 3, 3\r\n",
            "content-length: +3\r\n",
            "content-length:\r\n",
        ] {
            assert!(is_refused(&format!("POST / HTTP/1.1\r\n{fields}\r\n")), "{fields:?}");
        }
        assert!(is_refused("GET / HTTP/1.1\n\n") && is_refused("\nGET / HTTP/1.1\r\n\r\n"));
    }

    #[test]
    fn a_clear_head_and_one_that_hyper_refuses_pass() {
        for text in [
            "\r\n\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n",
            "GET http://host:/ HTTP/1.1\r\nx-host: x\r\nhost: x\r\n\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 4\r\n\r\na\n\nbGET / HTTP/1.1\r\nhost: y\r\n\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n1\r\n\n\r\n0\r\n\r\n",
            "no request at all\r\n\r\n",
        ] {
            assert!(!is_refused(text), "{text:?}");
        }
    }

    #[test]
    fn the_second_head_is_refused_after_the_first_one_has_passed() {
        let first = "POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n\n\n";
        let mut heads = Heads::default();
        assert_eq!(heads.pass(format!("{first}GET / HTTP/1.1\n\n").as_bytes()), first.len() + "GET / HTTP/1.1".len());
        assert_eq!(heads.pass(b"GET / HTTP/1.1\r\n\r\n"), 0);
    }

    proptest! {
        /// The same number of bytes passes, however they are cut into reads.
        #[test]
        fn cuts_change_nothing(
            parts in prop::collection::vec(prop::sample::select(vec![
                "GET / HTTP/1.1", "POST / HTTP/1.1", "\r\n", "\r\n", "\r\n\r\n", "\n", "\r", "host: x", "content-length: 3",
                "transfer-encoding: chunked", "abc", ":", " ",
            ]), 0..24),
            size in 1_usize..7,
        ) {
            let bytes = parts.concat().into_bytes();
            let (mut whole, mut cut) = (Heads::default(), Heads::default());
            let expected = whole.pass(&bytes);
            prop_assert_eq!(bytes.chunks(size).map(|chunk| cut.pass(chunk)).sum::<usize>(), expected);
        }
    }
}
