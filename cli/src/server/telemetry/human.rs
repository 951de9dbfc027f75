//! The log for people: one event, one line, whatever the values say.
//!
//! What is logged may come from outside: the message of a tool's exception, what git said. A line break in it would
//! begin a line that nobody wrote, and an escape sequence would command the operator's terminal. So every control
//! character of a message or a value is written as an escape; colours are the formatter's own and stay.

use std::fmt;

use tracing::Subscriber;
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::format::{DefaultFields, Writer};
use tracing_subscriber::fmt::{FormatFields, MakeWriter};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, fmt as log};

pub(super) fn layer<S, W>(writer: W, has_colours: bool) -> impl Layer<S> + Send + Sync
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    log::layer().with_writer(writer).with_ansi(has_colours).fmt_fields(Escaping)
}

/// What the fields of a request need.
const BYTES_USUAL: usize = 512;

/// The usual fields, without control characters.
struct Escaping;

impl<'writer> FormatFields<'writer> for Escaping {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut text = String::with_capacity(BYTES_USUAL);
        DefaultFields::new().format_fields(Writer::new(&mut text), fields)?;
        for part in text.split_inclusive(is_escaped) {
            match part.chars().next_back().filter(|last| is_escaped(*last)) {
                None => writer.write_str(part)?,
                Some(last) => write!(writer, "{}{}", &part[..part.len() - last.len_utf8()], last.escape_default())?,
            }
        }
        Ok(())
    }
}

/// Also what ends a line for some programs, and what makes a line read otherwise than it is.
fn is_escaped(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What the log says of something that happens.
    fn logged(has_colours: bool, happening: impl FnOnce()) -> String {
        let written = Written::default();
        let writer = written.clone();
        let subscriber = tracing_subscriber::registry().with(layer(move || writer.clone(), has_colours));
        tracing::subscriber::with_default(subscriber, happening);
        let bytes = written.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    fn hostile() -> String {
        let controls = (0..=0x9f).filter_map(char::from_u32).filter(|character| character.is_control());
        let controls: String = controls.collect();
        format!("no such file\n2026-01-01T00:00:00Z  INFO api::access: \x1b[2J{controls}\u{2028}\u{202e}")
    }

    fn log_hostile() {
        let text = hostile();
        let error = io::Error::other(hostile());
        let span = tracing::error_span!("run", tool = %text, kind = text, later = tracing::field::Empty);
        let _entered = span.enter();
        span.record("later", tracing::field::display(&text));
        tracing::error!(%error, ?text, text, cause = &error as &dyn std::error::Error, "failed: {text}");
        tracing::error!("{text}");
    }

    #[test]
    fn values_and_messages_have_no_control_characters() {
        let log = logged(false, log_hostile);
        assert_eq!(log.lines().count(), 2, "{log:?}");
        assert!(log.ends_with('\n'));
        let is_bad = |character: char| character.is_control() || ('\u{2028}'..='\u{202e}').contains(&character);
        assert_eq!(log.lines().flat_map(str::chars).find(|character| is_bad(*character)), None, "{log:?}");
        assert!(log.contains(r"no such file\n2026-01-01T00:00:00Z  INFO api::access: "), "{log}");
    }

    #[test]
    fn colours_are_the_formatters_own() {
        let log = logged(true, log_hostile);
        assert!(log.contains("\x1b[31mERROR"), "{log:?}");
        assert!(!log.contains("\x1b[2J") && log.lines().count() == 2, "{log:?}");
    }

    #[test]
    fn what_is_harmless_stays_as_it_is() {
        let log = logged(false, || tracing::info!(path = %r"a\b", name = "Zoë", "it's 100 % \"done\""));
        assert!(log.ends_with("it's 100 % \"done\" path=a\\b name=\"Zoë\"\n"), "{log}");
    }
}
