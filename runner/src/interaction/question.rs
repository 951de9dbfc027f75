//! Questions as a tool asks them.

use std::collections::BTreeSet;

use registry::{Digest, visible_lines};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::confirmed_call::ConfirmedCall;
use super::refusal::{InputErrorCode, InputRefused};
use crate::nesting::{LEVELS_MAX, is_within};

/// Questions that a tool asks at once. A person answers them as one form after another.
pub const QUESTIONS_MAX: usize = 8;
/// Bytes of the questions that a tool asks at once: as much as the largest form that a person reads.
const QUESTION_BYTES_MAX: usize = 64 << 10;
/// Bytes of a key: a name that an author writes.
const KEY_BYTES_MAX: usize = 64;

/// The fields of a question and its form that clients show to a person.
const TEXTS: [&str; 3] = ["message", "title", "description"];
/// The field with the names of choices.
const ENUM_NAMES: &str = "enumNames";

/// The kind of a question, for which the client needs a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum QuestionKind {
    /// A form for the person.
    Form,
    /// A page that the person visits.
    Visit,
    /// A request for a message that the client generates.
    Sampling,
    /// The directories that the client works in.
    Roots,
}

/// One question of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub key: String,
    pub kind: QuestionKind,
    /// `{"method", "params"}` as JSON.
    pub body: String,
    /// Digest of the body as the tool wrote it, and of the call that it is about. An answer is of this question only.
    pub digest: Digest,
    /// The call that a person confirms; `None` for a question of a tool.
    pub confirms: Option<ConfirmedCall>,
}

/// Questions that are asked at once, within their bounds.
#[derive(Debug)]
pub struct QuestionSet(pub Vec<Question>);

impl QuestionKind {
    pub(super) const ALL: [Self; 4] = [Self::Form, Self::Visit, Self::Sampling, Self::Roots];

    /// Why a client is not asked.
    pub(super) const fn missing(self) -> &'static str {
        match self {
            Self::Form => "the call has no client that shows forms",
            Self::Visit => "the call has no client that opens pages",
            Self::Sampling => "the call has no client that generates messages",
            Self::Roots => "the call has no client that tells its directories",
        }
    }

    /// The kind of a request, if it is one.
    fn of(request: &Value) -> Result<Self, &'static str> {
        let params = request["params"].as_object().ok_or("`params` should be an object")?;
        let text = |name: &str| params.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        match request["method"].as_str() {
            Some("elicitation/create") => {
                text("message").ok_or("`message` should be a text")?;
                match params.get("mode").map(Value::as_str) {
                    None | Some(Some("form")) => {
                        let schema = params.get("requestedSchema").unwrap_or(&Value::Null);
                        let is_form = schema["type"] == "object" && schema["properties"].is_object();
                        is_form.then_some(Self::Form).ok_or("`requestedSchema` should be the schema of an object")
                    }
                    Some(Some("url")) => text("url").map(|_| Self::Visit).ok_or("`url` should be a text"),
                    Some(_) => Err("`mode` should be `form` or `url`"),
                }
            }
            Some("sampling/createMessage") => {
                let has_messages = params.get("messages").is_some_and(|messages| messages.is_array());
                has_messages.then_some(Self::Sampling).ok_or("`messages` should be an array")
            }
            Some("roots/list") => Ok(Self::Roots),
            _ => Err("`method` should be elicitation/create, sampling/createMessage or roots/list"),
        }
    }
}

impl Question {
    /// Parses a question of a tool, or of the server.
    ///
    /// # Errors
    /// When the body is no request, with the reason.
    pub fn parse(key: String, body: String) -> Result<Self, String> {
        let request: Value =
            serde_json::from_str(&body).map_err(|error| format!("the question is not JSON: {error}"))?;
        if !is_within(&request, LEVELS_MAX) {
            return Err(format!("the question {key} nests more than {LEVELS_MAX} levels"));
        }
        let kind = QuestionKind::of(&request).map_err(|reason| format!("the question {key}: {reason}"))?;
        let digest = Digest::of(body.as_bytes());
        let is_for_people = matches!(kind, QuestionKind::Form | QuestionKind::Visit);
        let body = if is_for_people { show_texts(request).unwrap_or(body) } else { body };
        Ok(Self { kind, digest, key, body, confirms: None })
    }

    /// The question whether a call is made. Its answer is not that of another call, although a person reads the same text.
    ///
    /// # Errors
    /// When the call cannot be written as JSON.
    #[must_use = "the question has the call"]
    pub(crate) fn about(self, call: ConfirmedCall) -> Result<Self, String> {
        let written = serde_json::to_string(&(&self.body, &call)).map_err(|error| error.to_string())?;
        Ok(Self { digest: Digest::of(written.as_bytes()), confirms: Some(call), ..self })
    }
}

/// Shows hidden characters in the texts that a person reads, if there are any. Names and values of fields stay as they are.
fn show_texts(mut request: Value) -> Option<String> {
    let before = request.clone();
    show_texts_in(&mut request["params"]);
    (request != before).then(|| request.to_string())
}

fn show_texts_in(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text) if TEXTS.contains(&name.as_str()) => *text = visible_lines(text),
                    Value::Array(texts) if name == ENUM_NAMES => {
                        for text in texts {
                            if let Value::String(text) = text {
                                *text = visible_lines(text);
                            }
                        }
                    }
                    field => show_texts_in(field),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(show_texts_in),
        _ => {}
    }
}

impl QuestionSet {
    /// Parses the questions that a tool asks at once.
    ///
    /// # Errors
    /// When they exceed their bounds or are malformed.
    pub(crate) fn parse(requests: Vec<(String, String)>) -> Result<Self, InputRefused> {
        let refuse = |code, message: String| Err(InputRefused::new(code, message));
        if requests.is_empty() || requests.len() > QUESTIONS_MAX {
            let message = format!("a tool asks 1 to {QUESTIONS_MAX} questions at once, not {}", requests.len());
            return refuse(InputErrorCode::TooMany, message);
        }
        let bytes: usize = requests.iter().map(|(key, body)| key.len() + body.len()).sum();
        if bytes > QUESTION_BYTES_MAX {
            let message = format!("questions that are asked at once have at most {QUESTION_BYTES_MAX} bytes");
            return refuse(InputErrorCode::TooLarge, message);
        }
        let mut keys = BTreeSet::new();
        for (key, _) in &requests {
            if !is_key(key) {
                let message = format!("a key has 1 to {KEY_BYTES_MAX} letters, digits, `_`, `.` or `-`");
                return refuse(InputErrorCode::Invalid, message);
            }
            if !keys.insert(key) {
                return refuse(InputErrorCode::Invalid, format!("two questions have the key {key}"));
            }
        }
        let parsed = requests.into_iter().map(|(key, body)| Question::parse(key, body)).collect::<Result<_, _>>();
        parsed.map(Self).map_err(|message| InputRefused::new(InputErrorCode::Invalid, message))
    }
}

/// Whether a tool may use a key. Keys of the server have a `/`.
fn is_key(key: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=KEY_BYTES_MAX).contains(&key.len()) && key.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(requests: &[(&str, &str)]) -> (InputErrorCode, String) {
        let requests = requests.iter().map(|(key, body)| ((*key).to_owned(), (*body).to_owned()));
        let InputRefused { code, message } = QuestionSet::parse(requests.collect()).expect_err("a refusal");
        (code, message)
    }

    #[test]
    fn kinds_are_told_apart() {
        for (body, kind) in [
            (r#"{"method":"roots/list","params":{}}"#, QuestionKind::Roots),
            (r#"{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}"#, QuestionKind::Sampling),
            (
                r#"{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://a"}}"#,
                QuestionKind::Visit,
            ),
        ] {
            assert_eq!(Question::parse("k".into(), body.into()).map(|question| question.kind), Ok(kind), "{body}");
        }
    }

    #[test]
    fn people_see_every_character_of_a_question() {
        let form = |message: &str, title: &str| {
            let field =
                serde_json::json!({"type": "string", "title": title, "enum": ["a\u{200b}"], "enumNames": [title]});
            let schema = serde_json::json!({"type": "object", "properties": {"x": field}});
            let params = serde_json::json!({"mode": "form", "message": message, "requestedSchema": schema});
            serde_json::json!({"method": "elicitation/create", "params": params}).to_string()
        };
        let plain = form("Pay\n5 €?", "Zoë");
        assert_eq!(Question::parse("k".into(), plain.clone()).map(|question| question.body), Ok(plain));
        let hidden = form("Pay \u{202e}5", "a\u{e0041}b");
        let asked = Question::parse("k".into(), hidden.clone()).expect("a question");
        assert_eq!(asked.body, form("Pay \\u{202e}5", "a\\u{e0041}b"));
        assert_eq!(asked.digest, Digest::of(hidden.as_bytes()));
    }

    #[test]
    fn malformed_questions_are_refused_with_their_reason() {
        let roots = r#"{"method":"roots/list","params":{}}"#;
        for key in ["", "a/b", "a b", &"k".repeat(65)] {
            assert_eq!(refused(&[(key, roots)]).0, InputErrorCode::Invalid, "{key:?}");
        }
        assert!(refused(&[("a", roots), ("a", roots)]).1.contains("two questions"));
        assert_eq!(refused(&[]).0, InputErrorCode::TooMany);
        assert_eq!(refused(&[("a", &"x".repeat(QUESTION_BYTES_MAX))]).0, InputErrorCode::TooLarge);
        let deep = format!(r#"{{"method":"roots/list","params":{{"x":{}{}}}}}"#, "[".repeat(63), "]".repeat(63));
        for (body, reason) in [
            (deep.as_str(), "nests more than 64 levels"),
            ("x", "not JSON"),
            (r#"{"method":"ping","params":{}}"#, "`method` should be"),
            (r#"{"method":"roots/list"}"#, "`params` should be an object"),
            (r#"{"method":"sampling/createMessage","params":{}}"#, "`messages`"),
            (r#"{"method":"elicitation/create","params":{"message":"m"}}"#, "`requestedSchema`"),
            (r#"{"method":"elicitation/create","params":{"message":"m","mode":"x"}}"#, "`mode`"),
            (r#"{"method":"elicitation/create","params":{"message":"m","mode":"url"}}"#, "`url`"),
            (r#"{"method":"elicitation/create","params":{}}"#, "`message`"),
        ] {
            let (code, message) = refused(&[("a", body)]);
            assert!(code == InputErrorCode::Invalid && message.contains(reason), "{body}: {message}");
        }
    }
}
