//! A message of a client before a handler or the SDK reads it: unambiguous JSON, whose texts are small but for arguments and answers.
//!
//! This is the one place of these bounds, since every message passes it, and no schema of the SDK has any.

use std::borrow::Cow;
use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::Response;
use registry::check_json;
use rmcp::model::ErrorCode;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::parameters::{ParameterProblem, find_problem};

/// Parameters with bounds of their own: inputs are matched with the schema of a tool or fill a prompt, answers and states belong to a
/// call ([`super::dialogue`], [`super::request_state`]).
const PAYLOADS: [&str; 3] = ["arguments", "inputResponses", "requestState"];
/// Bytes of all other parameters of a message: a hundred URIs to watch fit.
pub const PARAMETERS_BYTES_MAX: usize = 256 << 10;
/// Bytes of the parameters of `initialize`, which a session keeps.
pub const INITIALIZE_BYTES_MAX: usize = 16 << 10;
/// Bytes of a text in them, such as a name, a URI, a cursor, a progress token or a value to complete.
const TEXT_BYTES_MAX: usize = 4_096;
/// Bytes of the id of a request and of the name of its method.
const ID_BYTES_MAX: usize = 256;
/// The code of an error about one of these bounds, in its data.
const TOO_LONG: &str = "parameter_too_long";
/// The code of an error about another parameter.
const INVALID: &str = "parameter_invalid";

/// Why a message is refused.
#[derive(Debug)]
pub struct MessageRefused {
    code: ErrorCode,
    message: String,
    /// The kind of the problem, and its place.
    data: Option<Value>,
    /// The id of the request, as it was sent.
    id: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow, default, deserialize_with = "read_present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "read_present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "read_present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "read_present")]
    params: Option<&'a RawValue>,
}

/// Reads a member that is there, also one that is null.
fn read_present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'a> Frame<'a> {
    /// Reads the frame of a message; `None` for what is no object.
    fn read(body: &'a [u8]) -> Option<Self> {
        let is_object = body.trim_ascii_start().starts_with(b"{");
        is_object.then(|| serde_json::from_slice(body).ok()).flatten()
    }

    fn is_request_or_notification(&self) -> bool {
        self.method.is_some()
    }

    /// The id, if an answer can have it: a text or a whole number of 64 bits.
    fn find_own_id(&self) -> Option<&'a RawValue> {
        let id = self.id.filter(|id| id.get().len() <= ID_BYTES_MAX)?;
        let is_id = id.get().starts_with('"') || id.get().parse::<i64>().is_ok();
        is_id.then_some(id)
    }

    /// The name of the method, if it is a text.
    fn find_method_name(&self) -> Option<Cow<'a, str>> {
        serde_json::from_str(self.method?.get()).ok()
    }
}

/// The id of a request, for an answer to it.
pub fn find_id(body: &[u8]) -> Option<Box<RawValue>> {
    Frame::read(body)?.find_own_id().map(ToOwned::to_owned)
}

/// The name of the method of a message.
pub fn find_method(body: &[u8]) -> Option<Cow<'_, str>> {
    Frame::read(body)?.find_method_name()
}

/// Checks the parameters of a request, as its method describes them.
///
/// # Errors
/// When they are not those of its method.
pub fn check_parameters(body: &[u8]) -> Result<(), MessageRefused> {
    let Some(frame) = Frame::read(body) else { return Ok(()) };
    let (Some(method), Some(id)) = (frame.find_method_name(), frame.find_own_id()) else { return Ok(()) };
    let Some(ParameterProblem { place, text }) = find_problem(&method, frame.params.map(RawValue::get)) else {
        return Ok(());
    };
    Err(MessageRefused {
        code: ErrorCode::INVALID_PARAMS,
        message: format!("{place}: {text}"),
        data: Some(json!({"type": INVALID, "field": place})),
        id: Some(id.to_owned()),
    })
}

/// Checks the members of a request or a notification. The SDK takes a request with another id for a notification, which has no answer.
fn check_frame(frame: &Frame<'_>) -> Result<(), MessageRefused> {
    let refused = |message: &str| MessageRefused {
        code: ErrorCode::INVALID_REQUEST,
        message: message.to_owned(),
        data: None,
        id: frame.find_own_id().map(ToOwned::to_owned),
    };
    if frame.jsonrpc.is_none_or(|version| version.get() != "\"2.0\"") {
        return Err(refused("jsonrpc: should be \"2.0\""));
    }
    if frame.id.is_some() && frame.find_own_id().is_none() {
        return Err(refused("id: should be a text or a whole number of 64 bits"));
    }
    match frame.find_method_name() {
        Some(_) => Ok(()),
        None => Err(refused("method: should be a text")),
    }
}

/// Checks the body of a request.
///
/// # Errors
/// When it is no unambiguous JSON, or a part of it is too long. A body that is no message of the protocol is left to its reader.
pub fn check_message(body: &[u8]) -> Result<(), MessageRefused> {
    let unreadable = |problem: &dyn std::fmt::Display| MessageRefused {
        code: ErrorCode::PARSE_ERROR,
        message: format!("The body is not JSON: {problem}"),
        data: None,
        id: None,
    };
    check_json(body).map_err(|error| unreadable(&error))?;
    let Some(frame) = Frame::read(body) else { return Ok(()) };
    let Frame { id, method, params, .. } = frame;
    let too_long = |place: &str, bytes_max: usize| MessageRefused {
        code: ErrorCode::INVALID_PARAMS,
        message: format!("{place}: has at most {bytes_max} bytes"),
        data: Some(json!({"type": TOO_LONG, "field": place})),
        id: frame.find_own_id().map(ToOwned::to_owned),
    };
    for (place, part) in [("id", id), ("method", method)] {
        if part.is_some_and(|part| part.get().len() > ID_BYTES_MAX) {
            return Err(too_long(place, ID_BYTES_MAX));
        }
    }
    if frame.is_request_or_notification() {
        check_frame(&frame)?;
    }
    let begins_session = method.is_some_and(|method| method.get() == "\"initialize\"");
    let bytes_max = if begins_session { INITIALIZE_BYTES_MAX } else { PARAMETERS_BYTES_MAX };
    let Some(Ok(parameters)) =
        params.map(|params| serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(params.get()))
    else {
        return if params.is_some_and(|params| params.get().len() > bytes_max) {
            Err(too_long("params", bytes_max))
        } else {
            Ok(())
        };
    };
    let parameters = parameters.iter().filter(|(name, _)| !PAYLOADS.contains(&name.as_ref()));
    let mut bytes = 0;
    for (name, parameter) in parameters {
        bytes += name.len() + parameter.get().len();
        if name.len() > TEXT_BYTES_MAX || bytes > bytes_max {
            return Err(too_long("params", bytes_max));
        }
        if let Some(place) = find_long_text(parameter) {
            return Err(too_long(&format!("params/{name}{place}"), TEXT_BYTES_MAX));
        }
    }
    Ok(())
}

/// The place of a text in a parameter that is too long.
fn find_long_text(parameter: &RawValue) -> Option<String> {
    if parameter.get().len() <= TEXT_BYTES_MAX {
        return None;
    }
    find_long_text_in(&serde_json::from_str(parameter.get()).ok()?)
}

fn find_long_text_in(value: &Value) -> Option<String> {
    let below = |name: &dyn std::fmt::Display, value: &Value| Some(format!("/{name}{}", find_long_text_in(value)?));
    match value {
        Value::String(text) => (text.len() > TEXT_BYTES_MAX).then(String::new),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| below(&index, item)),
        Value::Object(members) => {
            members.iter().find_map(
                |(name, member)| {
                    if name.len() > TEXT_BYTES_MAX { Some(String::new()) } else { below(name, member) }
                },
            )
        }
        _ => None,
    }
}

impl MessageRefused {
    /// The refusal in the form of JSON-RPC. An error of parameters is the answer to a request, as it is from a handler.
    pub fn into_response(self) -> Response {
        let Self { code, message, data, id } = self;
        let mut error = json!({"code": code.0, "message": message});
        if let Some(data) = data {
            error["data"] = data;
        }
        let is_answer = code == ErrorCode::INVALID_PARAMS && id.is_some();
        let status = if is_answer { StatusCode::OK } else { StatusCode::BAD_REQUEST };
        let mut response = Response::new(Body::from(json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_refusal(body: &str) -> Option<(i32, String)> {
        check_message(body.as_bytes()).err().map(|refused| (refused.code.0, refused.message))
    }

    fn of_params(method: &str, params: &Value) -> Option<(i32, String)> {
        find_refusal(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string())
    }

    #[test]
    fn ambiguous_json_is_refused_with_its_place() {
        for (arguments, told) in [
            (r#"{"amount": 1, "amount": 1000}"#, "The body is not JSON: an object has the same key twice at line 1"),
            (
                r#"{"amount": 18446744073709551616}"#,
                "The body is not JSON: a whole number does not fit into 64 bits at line 1",
            ),
            ("{", "The body is not JSON: EOF"),
        ] {
            let body = format!(
                r#"{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{"arguments": {arguments}}}}}"#
            );
            let (code, message) = find_refusal(&body).unwrap();
            assert!(code == -32700 && message.starts_with(told), "{message}");
        }
        assert_eq!(find_refusal(r#"{"a": 1, "b": 18446744073709551615}"#), None);
    }

    #[test]
    fn every_text_but_a_payload_has_a_bound() {
        let text = |bytes: usize| "x".repeat(bytes);
        for (method, params, place) in [
            ("prompts/get", json!({"name": text(4_097), "arguments": {}}), "params/name"),
            ("resources/read", json!({"uri": text(4_097)}), "params/uri"),
            ("tools/list", json!({"cursor": text(4_097)}), "params/cursor"),
            ("tools/call", json!({"name": "a", "_meta": {"progressToken": text(4_097)}}), "params/_meta/progressToken"),
            ("completion/complete", json!({"argument": {"name": "a", "value": text(4_097)}}), "params/argument/value"),
            (
                "subscriptions/listen",
                json!({"resourceSubscriptions": ["a", text(4_097)]}),
                "params/resourceSubscriptions/1",
            ),
            ("initialize", json!({"clientInfo": {"name": text(4_097)}}), "params/clientInfo/name"),
        ] {
            let expected = (-32602, format!("{place}: has at most 4096 bytes"));
            assert_eq!(of_params(method, &params), Some(expected), "{method}");
        }
        let small = json!({"name": text(4_096), "arguments": {"x": text(1_000_000)}, "requestState": text(100_000)});
        assert_eq!(of_params("tools/call", &small), None);
    }

    #[test]
    fn many_small_texts_have_a_bound_together() {
        let many = |count: usize| json!({"capabilities": vec!["x".repeat(1_000); count]});
        assert_eq!(of_params("initialize", &many(15)), None);
        assert_eq!(of_params("initialize", &many(17)), Some((-32602, "params: has at most 16384 bytes".to_owned())));
        assert_eq!(of_params("tools/list", &many(200)), None);
        assert_eq!(of_params("tools/list", &many(300)), Some((-32602, "params: has at most 262144 bytes".to_owned())));
        assert!(of_params("tools/list", &json!(vec![1; 200_000])).is_some());
        let long_id = json!({"jsonrpc": "2.0", "id": "x".repeat(300), "method": "tools/list"}).to_string();
        assert_eq!(find_refusal(&long_id), Some((-32602, "id: has at most 256 bytes".to_owned())));
    }

    #[test]
    fn the_members_of_a_request_are_checked() {
        for (body, expected) in [
            (json!({"id": 1, "method": "ping"}), "jsonrpc: should be"),
            (json!({"jsonrpc": "1.0", "id": 1, "method": "ping"}), "jsonrpc: should be"),
            (json!({"jsonrpc": "2.0", "id": null, "method": "ping"}), "id: should be"),
            (json!({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}), "id: should be"),
            (json!({"jsonrpc": "2.0", "id": u64::MAX, "method": "ping"}), "id: should be"),
            (json!({"jsonrpc": "2.0", "id": {}, "method": "ping"}), "id: should be"),
            (json!({"jsonrpc": "2.0", "id": 1, "method": null}), "method: should be"),
        ] {
            let (code, message) = find_refusal(&body.to_string()).unwrap_or_else(|| panic!("{body}"));
            assert!(code == -32600 && message.starts_with(expected), "{body}: {message}");
        }
        for body in [
            json!({"jsonrpc": "2.0", "id": i64::MIN, "method": "ping"}),
            json!({"jsonrpc": "2.0", "id": "a", "method": "ping"}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
        ] {
            assert_eq!(find_refusal(&body.to_string()), None, "{body}");
        }
    }

    #[test]
    fn what_is_no_message_is_left_to_its_reader() {
        let batch = json!(["x".repeat(300)]).to_string();
        for other in ["[]", "1", "[{}]", r#"{"params": 1}"#, &batch] {
            assert_eq!(find_refusal(other), None, "{other}");
        }
    }
}
