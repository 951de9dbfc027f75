//! Reads `text/event-stream` as bytes arrive, whatever the pieces they arrive in. Event ids and retry times are not used here.

/// Ten results of 20,000 characters (4 bytes each, escaped) with their stack traces stay well below this.
const EVENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// One event: its name (`message` when it has none) and its data lines.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    pub event: String,
    pub data: String,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    #[error("an event is longer than {EVENT_BYTES_MAX} bytes")]
    TooLong,
    #[error("an event is not UTF-8")]
    NotUtf8,
}

/// Push bytes in, take whole events out.
#[derive(Debug, Default)]
pub struct Parser {
    line: Vec<u8>,
    event: String,
    data: String,
    is_data_seen: bool,
    is_after_carriage_return: bool,
    is_after_first_line: bool,
}

impl Parser {
    /// The events that these bytes complete. An event that never gets its empty line is dropped, as the format wants it.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Frame>, SseError> {
        let mut frames = Vec::new();
        for &byte in bytes {
            let is_second_half = byte == b'\n' && self.is_after_carriage_return;
            self.is_after_carriage_return = byte == b'\r';
            match byte {
                _ if is_second_half => {}
                b'\n' | b'\r' => frames.extend(self.end_line()?),
                _ => self.grow(byte)?,
            }
        }
        Ok(frames)
    }

    fn grow(&mut self, byte: u8) -> Result<(), SseError> {
        if self.line.len() + self.data.len() >= EVENT_BYTES_MAX {
            return Err(SseError::TooLong);
        }
        self.line.push(byte);
        Ok(())
    }

    fn end_line(&mut self) -> Result<Option<Frame>, SseError> {
        let line = String::from_utf8(std::mem::take(&mut self.line)).map_err(|_| SseError::NotUtf8)?;
        let is_first_line = !std::mem::replace(&mut self.is_after_first_line, true);
        let line = if is_first_line { line.trim_start_matches('\u{feff}') } else { &line };
        if line.is_empty() {
            return Ok(self.end_event());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        self.take_field(field, value.strip_prefix(' ').unwrap_or(value));
        Ok(None)
    }

    fn take_field(&mut self, field: &str, value: &str) {
        match field {
            "event" => value.clone_into(&mut self.event),
            "data" => {
                if std::mem::replace(&mut self.is_data_seen, true) {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            _ => {}
        }
    }

    fn end_event(&mut self) -> Option<Frame> {
        let event = std::mem::take(&mut self.event);
        let data = std::mem::take(&mut self.data);
        std::mem::take(&mut self.is_data_seen)
            .then(|| Frame { event: if event.is_empty() { "message".to_owned() } else { event }, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "\u{feff}: hello\nevent: step\ndata: {\"name\":\"bauen – ü\"}\n\nevent:log\r\ndata:  two\r\ndata\r\ndata: lines\r\n\r\nid: 4\rretry: 10\rdata: bare\r\revent: empty\n\nevent: done\ndata: {}\n\nevent: cut\ndata: off";

    fn frame(event: &str, data: &str) -> Frame {
        Frame { event: event.to_owned(), data: data.to_owned() }
    }

    fn expected() -> Vec<Frame> {
        vec![
            frame("step", "{\"name\":\"bauen – ü\"}"),
            frame("log", " two\n\nlines"),
            frame("message", "bare"),
            frame("done", "{}"),
        ]
    }

    fn check(pieces: &[&[u8]]) {
        let mut parser = Parser::default();
        let frames: Vec<Frame> = pieces.iter().flat_map(|piece| parser.push(piece).expect("a valid stream")).collect();
        assert_eq!(frames, expected(), "in {} pieces", pieces.len());
    }

    #[test]
    fn a_whole_stream() {
        check(&[STREAM.as_bytes()]);
    }

    #[test]
    fn split_at_any_byte() {
        for at in 0..=STREAM.len() {
            let (start, end) = STREAM.as_bytes().split_at(at);
            check(&[start, end]);
        }
    }

    #[test]
    fn byte_by_byte_and_in_every_piece_size() {
        for size in 1..20 {
            check(&STREAM.as_bytes().chunks(size).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_event_may_not_grow_without_end() {
        let mut parser = Parser::default();
        let piece = vec![b'x'; EVENT_BYTES_MAX / 2];
        assert_eq!(parser.push(&piece), Ok(vec![]));
        assert_eq!(parser.push(&piece), Ok(vec![]));
        assert_eq!(parser.push(b"x"), Err(SseError::TooLong));
    }

    #[test]
    fn broken_text_is_refused() {
        assert_eq!(Parser::default().push(b"data: \xff\n\n"), Err(SseError::NotUtf8));
    }
}
