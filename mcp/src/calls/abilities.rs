//! The kinds of questions that a client can answer, by its declared capabilities.

use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, ElicitationCapability, ErrorCode, ErrorData, FormElicitationCapability, RootsCapabilities,
    SamplingCapability, UrlElicitationCapability,
};
use rmcp::service::RequestContext;
use runner::QuestionKind;
use serde_json::json;

/// The kinds of questions that the client of a request can answer.
pub fn find_kinds(context: &RequestContext<RoleServer>) -> Vec<QuestionKind> {
    context.client_capabilities().map_or_else(Vec::new, |declared| list_declared_kinds(&declared))
}

/// A client that names no form of elicitation shows forms.
fn list_declared_kinds(declared: &ClientCapabilities) -> Vec<QuestionKind> {
    let elicitation = declared.elicitation.as_ref();
    let has_form = elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none());
    let has_url = elicitation.is_some_and(|modes| modes.url.is_some());
    let kinds = [
        (QuestionKind::Form, has_form),
        (QuestionKind::Visit, has_url),
        (QuestionKind::Sampling, declared.sampling.is_some()),
        (QuestionKind::Roots, declared.roots.is_some()),
    ];
    kinds.into_iter().filter(|(_, is_declared)| *is_declared).map(|(kind, _)| kind).collect()
}

/// The error of a call whose tool needs what its client did not declare.
pub fn refuse_missing(kinds: &[QuestionKind]) -> ErrorData {
    let mut required = ClientCapabilities::default();
    for kind in kinds {
        match kind {
            QuestionKind::Form => require_elicitation(&mut required).form = Some(FormElicitationCapability::default()),
            QuestionKind::Visit => require_elicitation(&mut required).url = Some(UrlElicitationCapability::default()),
            QuestionKind::Sampling => required.sampling = Some(SamplingCapability::default()),
            QuestionKind::Roots => required.roots = Some(RootsCapabilities::default()),
        }
    }
    let message = "The tool asks questions that the client did not declare to answer.";
    let data = json!({"requiredCapabilities": required});
    ErrorData::new(ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY, message, Some(data))
}

fn require_elicitation(required: &mut ClientCapabilities) -> &mut ElicitationCapability {
    required.elicitation.get_or_insert_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_capabilities_are_kinds_of_questions() {
        let of = |declared: serde_json::Value| list_declared_kinds(&serde_json::from_value(declared).unwrap());
        assert_eq!(of(json!({})), []);
        assert_eq!(of(json!({"elicitation": {}})), [QuestionKind::Form]);
        assert_eq!(of(json!({"elicitation": {"url": {}}})), [QuestionKind::Visit]);
        assert_eq!(of(json!({"elicitation": {"url": {}, "form": {}}})), [QuestionKind::Form, QuestionKind::Visit]);
        assert_eq!(of(json!({"sampling": {}, "roots": {}})), [QuestionKind::Sampling, QuestionKind::Roots]);
    }

    #[test]
    fn the_error_names_what_is_missing() {
        let error = refuse_missing(&[QuestionKind::Form, QuestionKind::Sampling]);
        let required = json!({"elicitation": {"form": {}}, "sampling": {}});
        assert_eq!((error.code.0, error.data), (-32021, Some(json!({"requiredCapabilities": required}))));
    }
}
