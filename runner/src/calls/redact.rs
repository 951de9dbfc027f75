//! Redacts secrets from the texts of a run, before they are stored, indexed or sent.
//!
//! A secret is found in plain form and in the encodings that `docs/explanation/secrets.md` lists. Redaction protects
//! against accidents: a user who may change a tool's code can always write a secret in another encoding.
//!
//! | file | contents |
//! |---|---|
//! | `values` | the values to find: the secret without blanks around it, and its parts |
//! | `parts` | the parts of a value: without quotes, after `Bearer` or `KEY=`, of a URL, of JSON, of a list, of lines |
//! | `common` | parts that are no secrets, such as `-----BEGIN PRIVATE KEY-----` |
//! | `armour` | the marks of key files |
//! | `forms` | the byte strings to find for a value: itself, base64 at any alignment, hexadecimal, UTF-16 |
//! | `reading` | the decoded texts to search: plain, without escapes, without percent-encoding, without line breaks |
//! | `search` | searches all readings with one automaton of all forms, and finds prefixes of secrets before a cut |
//! | `spans` | found ranges, and the text without them |

mod armour;
mod common;
mod forms;
mod parts;
mod reading;
mod search;
mod spans;
mod values;

use std::sync::Arc;

use registry::{ContentBlock, REDACTED, RawJson, SecretValue};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::sandbox::executed::Printed;
use crate::sandbox::outcome::{self, MESSAGE_BYTES_MAX, Outcome, STACK_TRACE_BYTES_MAX};
use crate::sandbox::ports::{LogDocument, StatusDocument};
use crate::text::{CUT, count_lines_within};
use search::Forms;
use values::Values;

/// Bytes of all secrets of a run up to which all forms are searched. Their automaton takes some ten megabytes.
const ALL_FORMS_BYTES_MAX: usize = 8 * 1024;
const LIKELY_FORMS_BYTES_MIN: usize = ALL_FORMS_BYTES_MAX + 1;
/// Bytes of all parts of these secrets up to which all forms of the parts are searched, too. The parts of three keys of 2,048 bits
/// have as many. Beyond it, UTF-16 is not searched for parts, which has most of the bytes of all forms.
const PARTS_ALL_FORMS_BYTES_MAX: usize = 12 * 1024;
/// Bytes of all secrets beyond which nothing is searched, and all texts of the run are redacted as a whole.
const SECRETS_BYTES_MAX: usize = 64 * 1024;

/// Bytes of texts up to which they are searched on the calling thread. 64 KiB of escapes take some milliseconds, a
/// megabyte a tenth of a second.
const INLINE_BYTES_MAX: usize = 16 * 1024;

/// The secrets that are redacted from the runs of a call.
pub(crate) struct Redaction {
    secrets: Vec<SecretValue>,
    /// Whether answers to callers are redacted too.
    redacts_answers: bool,
}

/// The redactors of one run. Stored texts are also redacted of sensitive user variables; answers are not, since the
/// caller sent them.
#[derive(Clone, Default)]
pub(crate) struct Redactors {
    pub stored: Redactor,
    pub answered: Redactor,
}

impl Redaction {
    pub const fn of(secrets: Vec<SecretValue>, redacts_answers: bool) -> Self {
        Self { secrets, redacts_answers }
    }

    pub fn secrets(&self) -> impl Iterator<Item = &SecretValue> {
        self.secrets.iter()
    }

    /// A redactor for host names, which are in lower case.
    pub fn of_hosts(&self, sensitive: &[SecretValue]) -> Redactor {
        let values = Values::of(self.secrets.iter().chain(sensitive).map(SecretValue::expose));
        values.map_or(Redactor::Everything, |values| Redactor::of_values(values.into_lowercase()))
    }

    /// The redactors of one run. They are made when the run starts, since many runs may wait.
    pub fn with(&self, sensitive: &[SecretValue]) -> Redactors {
        let stored = Redactor::of(self.secrets.iter().chain(sensitive).map(SecretValue::expose));
        let answered = match (self.redacts_answers, sensitive.is_empty()) {
            (false, _) => Redactor::default(),
            (true, true) => stored.clone(),
            (true, false) => Redactor::of(self.secrets.iter().map(SecretValue::expose)),
        };
        Redactors { stored, answered }
    }
}

/// The outcome, the content and the logs of a run, redacted for its record and for its caller.
pub(crate) struct RedactedEnd {
    pub stored: Outcome,
    pub answered: Outcome,
    pub logs: String,
    pub stored_content: Vec<ContentBlock>,
    pub answered_content: Vec<ContentBlock>,
}

impl Redactors {
    /// # Errors
    /// When the process cannot start a thread.
    pub async fn redact_end(
        self,
        outcome: Outcome,
        printed: Printed,
        content: Vec<ContentBlock>,
    ) -> Result<RedactedEnd, Error> {
        let has_secrets = !matches!(self.stored, Redactor::Nothing);
        let content_bytes: usize = content.iter().map(ContentBlock::contents_bytes).sum();
        if !has_secrets || outcome::count_bytes(&outcome) + printed.bytes() + content_bytes <= INLINE_BYTES_MAX {
            return Ok(self.redact_texts(outcome, printed, content));
        }
        let redacted = tokio::task::spawn_blocking(move || self.redact_texts(outcome, printed, content)).await;
        redacted.map_err(|error| Error::internal(format!("the texts of a run could not be redacted: {error}")))
    }

    fn redact_texts(&self, outcome: Outcome, printed: Printed, content: Vec<ContentBlock>) -> RedactedEnd {
        RedactedEnd {
            stored: self.stored.outcome(outcome.clone()),
            answered: self.answered.outcome(outcome),
            logs: self.stored.logs(printed),
            stored_content: self.stored.content(content.clone()),
            answered_content: self.answered.content(content),
        }
    }
}

/// Redacts some secrets. Clones share their forms.
#[derive(Clone, Default)]
pub enum Redactor {
    /// There are no secrets.
    #[default]
    Nothing,
    Forms(Arc<Forms>),
    /// There are too many secrets to search for, or too long ones. Every text is replaced as a whole.
    Everything,
}

impl Redactor {
    #[must_use]
    pub fn of<'s>(secrets: impl Iterator<Item = &'s str>) -> Self {
        let secrets: Vec<&str> = secrets.collect();
        // Parts of longer secrets are not even looked for.
        if secrets.iter().map(|secret| secret.len()).sum::<usize>() > SECRETS_BYTES_MAX {
            return Self::Everything;
        }
        Values::of(secrets.into_iter()).map_or(Self::Everything, Self::of_values)
    }

    fn of_values(values: Values) -> Self {
        let numbers = values.all().filter_map(parse_number).collect();
        let of_parts = match values.parts_bytes() {
            ..=PARTS_ALL_FORMS_BYTES_MAX => forms::of,
            _ => forms::without_utf16,
        };
        let wholes = values.wholes.iter().map(String::as_str);
        let parts = values.parts.iter().map(String::as_str);
        let texts = match values.wholes_bytes() {
            0 => return Self::Nothing,
            1..=ALL_FORMS_BYTES_MAX => wholes.flat_map(forms::of).chain(parts.flat_map(of_parts)).collect(),
            LIKELY_FORMS_BYTES_MIN..=SECRETS_BYTES_MAX => values.all().flat_map(forms::list_most_likely).collect(),
            _ => return Self::Everything,
        };
        Forms::new(texts, numbers).map_or(Self::Everything, |forms| Self::Forms(Arc::new(forms)))
    }

    #[must_use]
    pub fn text(&self, text: String) -> String {
        let Self::Forms(forms) = self else { return self.unsearched(text) };
        let spans = forms.find(&text, false);
        if spans.is_empty() { text } else { spans.redact(&text, 0..text.len()) }
    }

    /// The first bytes of a text, with a mark when it is cut. Secrets are redacted before the text is cut.
    fn within(&self, text: String, bytes_max: usize, mark: &str) -> String {
        if text.len() <= bytes_max {
            return self.text(text);
        }
        let shown = text.floor_char_boundary(bytes_max);
        let shown = match self {
            Self::Forms(forms) => forms.find(&text, true).redact(&text, 0..shown),
            _ => self.unsearched(text.get(..shown).unwrap_or_default().to_owned()),
        };
        shown + mark
    }

    /// A text that is not searched.
    fn unsearched(&self, text: String) -> String {
        let is_hidden = matches!(self, Self::Everything) && !text.is_empty();
        if is_hidden { REDACTED.to_owned() } else { text }
    }

    /// Redacts an outcome, and cuts its texts at their bounds.
    pub fn outcome(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Succeeded { output } => Outcome::Succeeded { output: self.text(output) },
            Outcome::Failed { exception_type, exception_message, exception_stack_trace } => Outcome::Failed {
                exception_type: self.within(exception_type, MESSAGE_BYTES_MAX, CUT),
                exception_message: self.within(exception_message, MESSAGE_BYTES_MAX, CUT),
                exception_stack_trace: self.trace(exception_stack_trace),
            },
        }
    }

    /// Redacts the lines of a stack trace. A secret may span several lines.
    fn trace(&self, lines: Vec<String>) -> Vec<String> {
        let (kept, is_cut) = count_lines_within(&lines, STACK_TRACE_BYTES_MAX);
        let mark = is_cut.then(|| CUT.to_owned());
        let Self::Forms(forms) = self else {
            return lines.into_iter().take(kept).map(|line| self.unsearched(line)).chain(mark).collect();
        };
        let text = lines.join("\n");
        let spans = forms.find(&text, is_cut);
        let mut end = 0;
        let parts = lines.iter().take(kept).map(|line| {
            let start = end;
            end += line.len() + 1;
            start..start + line.len()
        });
        let redacted = parts.filter(|part| !spans.hide(part)).map(|part| spans.redact(&text, part));
        redacted.chain(mark).collect()
    }

    /// Redacts printed text, and cuts it at its bound.
    pub fn logs(&self, printed: Printed) -> String {
        let Printed { text, shown, refusals } = printed;
        self.within(text, shown, Printed::CUT) + &refusals
    }

    /// Redacts the texts of content blocks. Bytes, such as those of an image, are not searched.
    pub fn content(&self, blocks: Vec<ContentBlock>) -> Vec<ContentBlock> {
        blocks.into_iter().map(|block| block.map_texts(|text| self.text(text))).collect()
    }

    /// Redacts the texts of a question, which is JSON.
    pub fn question(&self, body: &mut String) {
        if !matches!(self, Self::Nothing)
            && let Ok(value) = serde_json::from_str(body)
        {
            *body = self.value(value).to_string();
        }
    }

    pub fn log_document(&self, document: LogDocument) -> LogDocument {
        let LogDocument { level, logger, data } = document;
        LogDocument { level, logger: logger.map(|logger| self.text(logger)), data: self.value(data) }
    }

    pub fn document(&self, document: StatusDocument) -> StatusDocument {
        if matches!(self, Self::Nothing) {
            return document;
        }
        let StatusDocument { message, progress, total, data } = document;
        let is_kept = |number: &f64| !self.is_secret(*number, &number.to_string());
        StatusDocument {
            message: self.text(message),
            progress: progress.filter(is_kept),
            total: total.filter(is_kept),
            data: data.map(|data| self.value(data)),
        }
    }

    /// Redacts the arguments of a call.
    ///
    /// # Errors
    /// When the process cannot start a thread.
    pub async fn arguments(&self, arguments: RawJson) -> Result<RawJson, Error> {
        let bytes = arguments.bytes();
        let redactor = self.clone();
        let redact = move || match arguments.members().map(|members| redactor.value(Value::Object(members))) {
            Ok(Value::Object(arguments)) => arguments.into(),
            _ => RawJson::default(),
        };
        if bytes <= INLINE_BYTES_MAX {
            return Ok(redact());
        }
        let redacted = tokio::task::spawn_blocking(redact).await;
        redacted.map_err(|error| Error::internal(format!("the arguments of a call could not be redacted: {error}")))
    }

    pub fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(members) => {
                let members = members.into_iter().map(|(name, value)| (self.text(name), self.value(value)));
                Value::Object(members.collect::<Map<_, _>>())
            }
            Value::Number(number) if self.is_secret(number.as_f64().unwrap_or_default(), &number.to_string()) => {
                Value::String(REDACTED.to_owned())
            }
            other => other,
        }
    }

    fn is_secret(&self, number: f64, digits: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Forms(forms) => forms.has_number(number, digits),
            Self::Everything => true,
        }
    }
}

/// The numeric value of a secret, if a program could read it as a number. Leading zeros do not matter.
fn parse_number(secret: &str) -> Option<f64> {
    let is_decimal = secret.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    secret.parse::<f64>().ok().filter(|number| is_decimal && *number > 0.0)
}

#[cfg(test)]
mod tests;
