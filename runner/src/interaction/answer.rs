//! Answers of a client.

use registry::Digest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::form;
use super::question::{Question, QuestionKind};

/// The answer to a question of an earlier attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub key: String,
    /// The question. `None` for an answer that the client sent before it was asked.
    pub question: Option<Digest>,
    /// The result of the request, as JSON.
    pub result: String,
}

impl Answer {
    /// The answer to a question that was asked.
    #[must_use]
    pub fn to(question: &Question, result: String) -> Self {
        Self { key: question.key.clone(), question: Some(question.digest), result }
    }

    /// Whether this is the answer to a question, has the form of one, and what a form asks for.
    pub(super) fn is_of(&self, question: &Question) -> bool {
        let is_asked = match &self.question {
            Some(digest) => *digest == question.digest,
            // The server's own questions have a `/` in their keys.
            None => !self.key.contains('/'),
        };
        let answers = |result: Value| {
            is_result(question.kind, &result) && (question.kind != QuestionKind::Form || fits(question, &result))
        };
        self.key == question.key && is_asked && serde_json::from_str(&self.result).is_ok_and(answers)
    }
}

fn fits(question: &Question, result: &Value) -> bool {
    serde_json::from_str(&question.body).is_ok_and(|body| form::fits(&body, result))
}

/// Whether a value has the form of a result for questions of a kind.
#[must_use]
pub fn is_result(kind: QuestionKind, result: &Value) -> bool {
    let has_content = || result["content"].is_object();
    match kind {
        QuestionKind::Form => match result["action"].as_str() {
            Some("accept") => has_content(),
            action => matches!(action, Some("decline" | "cancel")),
        },
        QuestionKind::Visit => matches!(result["action"].as_str(), Some("accept" | "decline" | "cancel")),
        QuestionKind::Sampling => {
            result["role"].is_string() && result["model"].is_string() && (has_content() || result["content"].is_array())
        }
        QuestionKind::Roots => {
            let is_root = |root: &Value| root["uri"].is_string();
            result["roots"].as_array().is_some_and(|roots| roots.iter().all(is_root))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_have_the_form_of_their_kind() {
        let accepted = json!({"action": "accept", "content": {"name": "Ada"}});
        let sampled = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "a"}});
        let roots = json!({"roots": [{"uri": "file:///a"}]});
        assert!(
            is_result(QuestionKind::Form, &accepted) && is_result(QuestionKind::Form, &json!({"action": "cancel"}))
        );
        assert!(is_result(QuestionKind::Visit, &json!({"action": "accept"})));
        assert!(is_result(QuestionKind::Sampling, &sampled) && is_result(QuestionKind::Roots, &roots));
        for (kind, wrong) in [
            (QuestionKind::Form, json!(12345)),
            (QuestionKind::Form, json!({"action": "accept"})),
            (QuestionKind::Form, json!({"action": "maybe"})),
            (QuestionKind::Sampling, accepted),
            (QuestionKind::Roots, json!({"roots": [{"name": "a"}]})),
            (QuestionKind::Visit, roots),
        ] {
            assert!(!is_result(kind, &wrong), "{kind:?} {wrong}");
        }
    }
}
