//! Failed calls: refusals of the server, and servers that cannot be reached or understood.

use std::error::Error;
use std::fmt::Display;

use reqwest::Response;
use serde_json::Value;

use super::location;
use crate::failure::Failure;

/// Reads a refusal. A response without the API's error document is described by its status.
pub async fn read_refusal(response: Response) -> Failure {
    let status = response.status();
    let body: Value = response.json().await.unwrap_or_default();
    let hint = find_hint(body.get("detail"));
    // Routes of the Library have the code and the message in an object.
    let of_library = body.get("error");
    let code = of_library.unwrap_or(&body).get("code");
    let detail = render_detail(body.get("detail").or_else(|| of_library?.get("message")));
    let failure = Failure::Server {
        status: status.as_u16(),
        code: code.and_then(Value::as_str).unwrap_or_default().to_owned(),
        detail: detail.unwrap_or_else(|| format!("the server answered {status}")),
        build_id: body.get("build_id").and_then(Value::as_str).map(str::to_owned),
    };
    match hint {
        Some(hint) => Failure::Advised { failure: Box::new(failure), advice: hint.to_owned() },
        None => failure,
    }
}

/// The next step for the first problem of a malformed request that has one.
fn find_hint(detail: Option<&Value>) -> Option<&'static str> {
    detail?.as_array()?.iter().find_map(|item| location::find_hint(item["loc"].as_array()?))
}

/// Reads `detail`, which is a text, or a list of `{loc, msg}` for a malformed request.
pub fn render_detail(detail: Option<&Value>) -> Option<String> {
    match detail? {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => Some(items.iter().map(render_item).collect::<Vec<_>>().join("; ")),
        other => Some(other.to_string()),
    }
}

fn render_item(item: &Value) -> String {
    let argument = item["loc"].as_array().map(|location| location::find_argument_name(location)).unwrap_or_default();
    format!("{argument}: {}", item["msg"].as_str().unwrap_or("not accepted"))
}

pub fn explain_unreachable(url: &str, error: &reqwest::Error) -> Failure {
    Failure::Unreachable { url: url.to_owned(), reason: find_root_cause(error) }
}

pub fn find_root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

pub fn explain_unexpected(url: &str, reason: impl Display) -> Failure {
    Failure::UnexpectedResponse { url: url.to_owned(), reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_forms_of_detail_are_read() {
        assert_eq!(render_detail(Some(&json!("no"))).as_deref(), Some("no"));
        let list = json!([{"loc": ["body", "inputs", 0], "msg": "missing", "type": "missing"}]);
        assert_eq!(render_detail(Some(&list)).as_deref(), Some("--input 1: missing"));
    }
}
