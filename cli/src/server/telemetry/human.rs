//! The text format of the log: one line per event.
//!
//! Logged values may come from outside, such as a tool's exception or git's output. A line break in a value would forge
//! a log line, and an escape sequence would control the operator's terminal. Control characters of messages and values
//! are therefore written as escapes; the formatter's colours stay. `tracing-subscriber`'s own format (0.3.23) escapes
//! neither line breaks nor Unicode separators, which `values_and_messages_have_no_control_characters` demands.

use std::error::Error;
use std::fmt::{self, Write};

use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FormatFields, MakeWriter};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, fmt as log};

pub(super) fn build_layer<S, W>(writer: W, has_colours: bool) -> impl Layer<S> + Send + Sync
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    log::layer().with_writer(writer).with_ansi(has_colours).fmt_fields(Escaping)
}

/// Initial capacity of a line, enough for the fields of a request.
const BYTES_USUAL: usize = 512;

/// Formats fields as `message name=value name="text"`, with control characters escaped.
struct Escaping;

impl<'writer> FormatFields<'writer> for Escaping {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut line = Line { text: String::with_capacity(BYTES_USUAL), written: Ok(()) };
        fields.record(&mut line);
        line.written?;
        write_escaped(&mut writer, &line.text)
    }
}

fn write_escaped(writer: &mut Writer<'_>, text: &str) -> fmt::Result {
    if is_plain(text) {
        return writer.write_str(text);
    }
    for part in text.split_inclusive(is_escaped) {
        match part.chars().next_back().filter(|last| is_escaped(*last)) {
            None => writer.write_str(part)?,
            Some(last) => write!(writer, "{}{}", &part[..part.len() - last.len_utf8()], last.escape_default())?,
        }
    }
    Ok(())
}

/// Whether a text is printable ASCII, as nearly all values are.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

struct Line {
    text: String,
    written: fmt::Result,
}

impl Line {
    fn push(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        if self.begin(field.name()) {
            self.written = self.written.and(self.text.write_fmt(value));
        }
    }

    /// Starts a field. Returns `false` for the fields that the `log` bridge adds, which the line's head shows already.
    fn begin(&mut self, name: &str) -> bool {
        if name.starts_with("log.") {
            return false;
        }
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        if name != "message" {
            self.text.push_str(name.strip_prefix("r#").unwrap_or(name));
            self.text.push('=');
        }
        true
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.push(field, format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.push(field, format_args!("{value}"));
        } else if value.contains(['"', '\\']) || !is_plain(value) {
            self.push(field, format_args!("{value:?}"));
        } else if self.begin(field.name()) {
            self.text.extend(["\"", value, "\""]);
        }
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        let (mut sources, mut next) = (Vec::new(), value.source());
        while let Some(source) = next {
            sources.push(source.to_string());
            next = source.source();
        }
        if sources.is_empty() {
            self.push(field, format_args!("{value}"));
        } else {
            self.push(field, format_args!("{value} {}.sources=[{}]", field.name(), sources.join(", ")));
        }
    }
}

/// Controls, line separators, and everything else that is not seen as itself.
fn is_escaped(character: char) -> bool {
    registry::is_hidden(character)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use parking_lot::Mutex;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns the log of a function.
    fn collect_log(has_colours: bool, logging: impl FnOnce()) -> String {
        let written = Written::default();
        let writer = written.clone();
        let subscriber = tracing_subscriber::registry().with(build_layer(move || writer.clone(), has_colours));
        tracing::subscriber::with_default(subscriber, logging);
        let bytes = written.0.lock().clone();
        String::from_utf8(bytes).unwrap()
    }

    fn build_hostile_text() -> String {
        let controls = (0..=0x9f).filter_map(char::from_u32).filter(|character| character.is_control());
        let controls: String = controls.collect();
        format!(
            "no such file\n2026-01-01T00:00:00Z  INFO api::access: \x1b[2J{controls}\u{2028}\u{202e}\u{e0041}\u{3164}"
        )
    }

    fn log_hostile() {
        let text = build_hostile_text();
        let error = io::Error::other(build_hostile_text());
        let span = tracing::error_span!("run", tool = %text, kind = text, later = tracing::field::Empty);
        let _entered = span.enter();
        span.record("later", tracing::field::display(&text));
        tracing::error!(%error, ?text, text, cause = &error as &dyn std::error::Error, "failed: {text}");
        tracing::error!("{text}");
    }

    #[test]
    fn values_and_messages_have_no_control_characters() {
        let log = collect_log(false, log_hostile);
        assert_eq!(log.lines().count(), 2, "{log:?}");
        assert!(log.ends_with('\n'));
        let is_bad = registry::is_hidden;
        assert_eq!(log.lines().flat_map(str::chars).find(|character| is_bad(*character)), None, "{log:?}");
        assert!(log.contains(r"no such file\n2026-01-01T00:00:00Z  INFO api::access: "), "{log}");
    }

    #[test]
    fn only_the_formatter_writes_colours() {
        let log = collect_log(true, log_hostile);
        assert!(log.contains("\x1b[31mERROR"), "{log:?}");
        assert!(!log.contains("\x1b[2J") && log.lines().count() == 2, "{log:?}");
    }

    #[test]
    fn printable_text_is_not_changed() {
        let log = collect_log(false, || tracing::info!(path = %r"a\b", name = "Zoë", "it's 100 % \"done\""));
        assert!(log.ends_with("it's 100 % \"done\" path=a\\b name=\"Zoë\"\n"), "{log}");
    }

    #[test]
    fn fields_have_the_format_of_tracing_subscriber() {
        let sourced = io::Error::other(io::Error::new(io::ErrorKind::NotFound, io::Error::other("the cause")));
        let ours = collect_log(false, || log_all(&sourced));
        let usual = Written::default();
        let writer = usual.clone();
        let layer = log::layer().with_ansi(false).with_writer(move || writer.clone());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || log_all(&sourced));
        let usual = String::from_utf8(usual.0.lock().clone()).unwrap();
        let without_time = |log: &str| log.lines().map(|line| line[27..].to_owned()).collect::<Vec<_>>();
        assert_eq!(without_time(&ours), without_time(&usual));
    }

    fn log_all(error: &io::Error) {
        let span = tracing::info_span!("run", text = "a \"b\" \\", number = 7, later = tracing::field::Empty);
        let _entered = span.enter();
        span.record("later", 1.5);
        let error = error as &dyn Error;
        tracing::info!(
            yes = true,
            below = -1,
            r#type = "x",
            none = None::<&str>,
            some = Some("y"),
            ?span,
            "said {}",
            "it"
        );
        tracing::warn!(error, path = %"p q", name = "Zoë");
    }
}
