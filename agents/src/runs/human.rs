//! Questions of a run to a person, and the answers.

use registry::visible_lines;
use runner::{
    Answer, CONFIRMATION, ConfirmedCall, Interaction, NESTING_LEVELS_MAX, Question, is_confirmed, nests_within,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::domain::agent_runs::{HumanRequestKind, Urgency};
use crate::error::Error;

/// The control tool that asks a person.
pub(super) const PAUSE: &str = "__pause_for_human__";
/// Bytes of an observation, and of a thought, in the list of steps.
pub(super) const STEP_TEXT_BYTES_MAX: usize = 2_000;

/// A question to a person, while the run is paused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HumanQuestion {
    pub kind: HumanRequestKind,
    pub question: String,
    pub options: Vec<String>,
    pub context_summary: Option<String>,
    pub urgency: Option<Urgency>,
    /// The tool that asks, or whose call needs a permission.
    pub(super) tool: Option<String>,
    /// The forms of a tool, or that of the permission.
    pub forms: Vec<Question>,
    /// Answers that the call had before.
    pub(super) answers_before: usize,
    /// How the call differs from the one that was confirmed.
    pub(super) changes: Option<String>,
}

/// The texts of a request to a person.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HumanRequestDetails {
    pub question: String,
    pub options: Vec<String>,
    pub context_summary: Option<String>,
    pub tool: Option<String>,
    pub forms: Vec<HumanForm>,
    /// The call for which a permission is asked. The permission is for no other one.
    pub call: Option<ConfirmedCall>,
    /// How the call differs from the one that a person has permitted before.
    pub changes: Option<String>,
}

/// A form of a tool.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "HumanRequestForm")]
pub struct HumanForm {
    /// The name of the form in the answer.
    pub key: String,
    pub message: String,
    /// The JSON schema of the values.
    pub schema: Value,
}

/// The answer of a person.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "HumanRequestResponse")]
pub struct HumanResponse {
    pub human_input: Option<String>,
    pub approved: Option<bool>,
    /// The values of forms, by the keys of the forms.
    pub forms: Option<Map<String, Value>>,
}

impl HumanQuestion {
    /// A question without a tool.
    pub(super) fn of_server(question: &str) -> Self {
        Self {
            kind: HumanRequestKind::Question,
            question: visible_lines(question),
            options: Vec::new(),
            context_summary: None,
            urgency: None,
            tool: None,
            forms: Vec::new(),
            answers_before: 0,
            changes: None,
        }
    }

    /// The questions of a call of a tool: its forms, or that for a permission.
    pub(super) fn of_tool(tool: &str, forms: Vec<Question>) -> Self {
        let is_approval = forms.iter().any(|form| form.key == CONFIRMATION);
        let messages: Vec<_> = forms.iter().map(|form| build_form(form).message).collect();
        Self {
            kind: if is_approval { HumanRequestKind::Approval } else { HumanRequestKind::Form },
            tool: Some(tool.to_owned()),
            forms,
            ..Self::of_server(&messages.join("\n"))
        }
    }

    /// The call for which the question asks for a permission.
    pub(super) fn confirms(&self) -> Option<&ConfirmedCall> {
        self.forms.iter().find_map(|form| form.confirms.as_ref())
    }

    /// The same question about a call that differs from one that a person has permitted. Each form says so, too.
    pub(super) fn with_changes(mut self, changes: String) -> Self {
        self.question = format!("{changes} {}", self.question);
        for form in &mut self.forms {
            let Ok(mut body) = serde_json::from_str::<Value>(&form.body) else { continue };
            let message = format!("{changes} {}", body["params"]["message"].as_str().unwrap_or_default());
            body["params"]["message"] = Value::String(message);
            form.body = body.to_string();
        }
        Self { changes: Some(changes), ..self }
    }

    pub(super) fn build_details(&self) -> HumanRequestDetails {
        let is_form = self.kind == HumanRequestKind::Form;
        HumanRequestDetails {
            question: self.question.clone(),
            options: self.options.clone(),
            context_summary: self.context_summary.clone(),
            tool: self.tool.clone(),
            forms: self.forms.iter().filter(|_| is_form).map(build_form).collect(),
            call: self.confirms().cloned(),
            changes: self.changes.clone(),
        }
    }
}

impl HumanRequestDetails {
    /// Writes the texts as JSON.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(super) fn encode(&self) -> Result<String, Error> {
        serde_json::to_string(self).map_err(|error| Error::internal(error.to_string()))
    }

    /// Reads the texts of a request.
    ///
    /// # Errors
    /// When the document is damaged.
    pub fn read(document: &str) -> Result<Self, Error> {
        serde_json::from_str(document)
            .map_err(|error| Error::internal(format!("a request to a person is damaged: {error}")))
    }
}

impl HumanResponse {
    /// Reads an answer that was written.
    ///
    /// # Errors
    /// When the document is damaged.
    pub fn read(document: &str) -> Result<Self, Error> {
        serde_json::from_str(document)
            .map_err(|error| Error::internal(format!("the answer of a person is damaged: {error}")))
    }

    /// The answer of a client of MCP: whether it confirms the call, or the values of the forms that it filled in.
    pub(super) fn of_results(kind: HumanRequestKind, answers: &[Answer]) -> Self {
        let result = |answer: &Answer| serde_json::from_str::<Value>(&answer.result).unwrap_or_default();
        if kind == HumanRequestKind::Approval {
            let is_yes = answers.iter().all(|answer| is_confirmed(&answer.result));
            return Self { approved: Some(is_yes), ..Self::default() };
        }
        let values = |answer| (Answer::clone(answer).key, result(answer)["content"].take());
        let given: Map<_, _> = answers.iter().map(values).filter(|(_, content)| content.is_object()).collect();
        Self { approved: given.is_empty().then_some(false), forms: Some(given), human_input: None }
    }

    /// Writes the answer as JSON.
    pub(super) fn encode(&self) -> String {
        json!(self).to_string()
    }

    /// # Errors
    /// When the answer does not have what the kind of the question takes, or has more.
    pub(super) fn require_fit(&self, question: &HumanQuestion) -> Result<(), Error> {
        let Self { human_input, approved, forms } = self;
        match question.kind {
            HumanRequestKind::Question if human_input.is_none() && approved.is_none() => {
                Err(refuse("a question needs `human_input` or `approved`"))
            }
            HumanRequestKind::Approval if approved.is_none() => Err(refuse("an approval needs `approved`")),
            HumanRequestKind::Approval if human_input.is_some() && *approved == Some(true) => {
                Err(refuse("an approval has `human_input` only as the reason of `approved: false`"))
            }
            HumanRequestKind::Question | HumanRequestKind::Approval if forms.is_some() => {
                Err(refuse("`forms` are the answer to a form only"))
            }
            HumanRequestKind::Form if human_input.is_some() => Err(refuse("a form takes no `human_input`")),
            HumanRequestKind::Form => {
                let is_asked = |key: &String| question.forms.iter().any(|form| form.key == *key);
                let unknown = forms.iter().flat_map(|forms| forms.keys()).find(|key| !is_asked(key));
                unknown.map_or(Ok(()), |key| Err(refuse(format!("there is no form {key}"))))
            }
            HumanRequestKind::Question | HumanRequestKind::Approval => Ok(()),
        }
    }

    /// The answer as a model reads it.
    pub(super) fn describe(&self) -> String {
        json!({"human_input": self.human_input, "approved": self.approved}).to_string()
    }

    /// The values of a form, or that the person does not fill it in.
    pub(super) fn answer(&self, form: &Question) -> Result<Answer, Error> {
        if self.approved == Some(false) {
            return Ok(decline(form));
        }
        let key = &form.key;
        let content = self.forms.as_ref().and_then(|forms| forms.get(key));
        let content =
            content.ok_or_else(|| refuse(format!("forms.{key} is missing; decline with `approved: false`")))?;
        answer_form(form, &json!({"action": "accept", "content": content}))
    }
}

fn build_form(form: &Question) -> HumanForm {
    let body: Value = serde_json::from_str(&form.body).unwrap_or_default();
    let params = &body["params"];
    let message = params["message"].as_str().unwrap_or_default().to_owned();
    HumanForm { key: form.key.clone(), message, schema: params["requestedSchema"].clone() }
}

/// The answer of a person who does not fill in a form.
pub(super) fn decline(form: &Question) -> Answer {
    Answer::to(form, json!({"action": "decline"}).to_string())
}

/// The answer to a form, if it has the values that the form asks for.
pub(super) fn answer_form(form: &Question, result: &Value) -> Result<Answer, Error> {
    if !nests_within(result, NESTING_LEVELS_MAX) {
        return Err(refuse(format!("forms.{} nests more than {NESTING_LEVELS_MAX} levels", form.key)));
    }
    let answer = Answer::to(form, result.to_string());
    let interaction = Interaction { answers: vec![answer.clone()], ..Interaction::default() };
    match interaction.answer(form) {
        Some(_) => Ok(answer),
        None => Err(refuse(format!("forms.{} does not have the values that its schema asks for", form.key))),
    }
}

pub(super) fn refuse(reason: impl Into<String>) -> Error {
    Error::HumanResponse { reason: reason.into() }
}
