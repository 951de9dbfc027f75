//! A request in parts, so that a test can damage one part and keep the others.

#[derive(Clone)]
pub struct Message {
    pub method: Vec<u8>,
    pub target: Vec<u8>,
    pub version: Vec<u8>,
    /// Header lines without line ends.
    pub headers: Vec<Vec<u8>>,
    pub line_end: &'static [u8],
    pub framing: Framing,
    pub body: Vec<u8>,
}

/// The framing of the body.
#[derive(Clone)]
pub enum Framing {
    Length,
    Chunked,
    /// These header lines, whether they match the body or not.
    Claimed(Vec<Vec<u8>>),
}

impl Message {
    pub fn new(method: &str, target: String) -> Self {
        let headers = ["host: localhost", "connection: close"].map(|line| line.as_bytes().to_vec()).to_vec();
        let (version, line_end) = (b"HTTP/1.1".to_vec(), &b"\r\n"[..]);
        let framing = Framing::Length;
        Self {
            method: method.into(),
            target: target.into_bytes(),
            version,
            headers,
            line_end,
            framing,
            body: Vec::new(),
        }
    }

    pub fn with_header(mut self, line: impl Into<Vec<u8>>) -> Self {
        self.headers.push(line.into());
        self
    }

    pub fn with_body(self, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..self.with_header(format!("content-type: {media_type}")) }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = [&self.method[..], &self.target[..], &self.version[..]].join(&b' ');
        for line in self.headers.iter().chain(&self.framing_lines()) {
            bytes.extend_from_slice(self.line_end);
            bytes.extend_from_slice(line);
        }
        bytes.extend_from_slice(&self.line_end.repeat(2));
        match self.framing {
            Framing::Chunked => bytes.extend(chunked(&self.body)),
            Framing::Length | Framing::Claimed(_) => bytes.extend_from_slice(&self.body),
        }
        bytes
    }

    fn framing_lines(&self) -> Vec<Vec<u8>> {
        match &self.framing {
            Framing::Length if self.body.is_empty() => Vec::new(),
            Framing::Length => vec![format!("content-length: {}", self.body.len()).into_bytes()],
            Framing::Chunked => vec![b"transfer-encoding: chunked".to_vec()],
            Framing::Claimed(lines) => lines.clone(),
        }
    }

    pub fn text(&self) -> String {
        shown(&self.bytes())
    }
}

fn chunked(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for piece in body.chunks(1000) {
        bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        bytes.extend_from_slice(piece);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

/// Returns the message as text for a failed assertion.
pub fn shown(bytes: &[u8]) -> String {
    const SHOWN_MAX: usize = 3_000;
    let rest = bytes.len().saturating_sub(SHOWN_MAX);
    format!("{}… and {rest} bytes", bytes[..bytes.len() - rest].escape_ascii())
}
