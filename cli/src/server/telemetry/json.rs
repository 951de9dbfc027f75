//! The JSON format of the log: hidden characters of values are JSON's escapes, as in the text format.

use std::io::{self, Write};

use registry::visible_document;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, fmt};

pub(super) fn build_layer<S, W>(writer: W) -> impl Layer<S> + Send + Sync
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    fmt::layer().with_writer(Escaping(writer)).json().flatten_event(true).with_span_list(false)
}

/// Makes writers of lines.
struct Escaping<W>(W);

impl<'w, W: MakeWriter<'w>> MakeWriter<'w> for Escaping<W> {
    type Writer = EscapingWriter<W::Writer>;

    fn make_writer(&'w self) -> Self::Writer {
        EscapingWriter(self.0.make_writer())
    }

    fn make_writer_for(&'w self, metadata: &Metadata<'_>) -> Self::Writer {
        EscapingWriter(self.0.make_writer_for(metadata))
    }
}

/// Writes lines, each at once.
struct EscapingWriter<W>(W);

impl<W: Write> Write for EscapingWriter<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if line.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n')) {
            self.0.write_all(line)?;
        } else {
            self.0.write_all(visible_document(&String::from_utf8_lossy(line)).as_bytes())?;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_has_no_hidden_characters_and_the_same_value() {
        let written = Written::default();
        let writer = written.clone();
        let subscriber = tracing_subscriber::registry().with(build_layer(move || writer.clone()));
        let text = "Zoë \u{202e}\u{9b}2J\u{e0041}\u{3164}";
        tracing::subscriber::with_default(subscriber, || tracing::info!(text, "done"));
        let line = String::from_utf8(written.0.lock().clone()).expect("UTF-8");
        assert!(line.ends_with('\n') && !line.trim_end().chars().any(registry::is_hidden), "{line:?}");
        let event: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!((&event["text"], &event["message"]), (&text.into(), &"done".into()));
    }
}
