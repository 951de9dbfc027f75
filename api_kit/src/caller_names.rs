//! The application and the workflow in whose names a client calls.

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use registry::{CallerName, CallerNames, InvalidValue};
use serde_json::json;

use crate::error::Error;
use crate::openapi::{DocumentedInput, Inputs, Parameter};

/// The headers with the application, of which the second is what agents of other platforms send.
const APP: [&str; 2] = ["x-app-id", "x-strongly-app-id"];
const WORKFLOW: [&str; 1] = ["x-agent-workflow-id"];

const APP_DESCRIPTION: &str =
    "The application in whose name the client calls. It sees the items of this application only.";
const WORKFLOW_DESCRIPTION: &str =
    "The workflow in whose name the client calls. What it writes counts as written by a model.";

/// The names of a request, as an input of a handler.
pub struct InNamesOf(pub CallerNames);

impl DocumentedInput for InNamesOf {
    fn describe(inputs: &mut Inputs) {
        inputs.parameters.extend(list_parameters());
    }
}

impl<S: Sync> FromRequestParts<S> for InNamesOf {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        read(&parts.headers).map(Self)
    }
}

/// The headers, for the OpenAPI document.
pub fn list_parameters() -> impl Iterator<Item = Parameter> {
    let name = || json!({"type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[A-Za-z0-9._:-]+$"});
    let app = ["X-App-Id", "X-Strongly-App-Id"].map(|header| Parameter::header(header, APP_DESCRIPTION, name()));
    app.into_iter().chain([Parameter::header("X-Agent-Workflow-Id", WORKFLOW_DESCRIPTION, name())])
}

/// Reads the names. A request that contradicts itself is refused.
pub fn read(headers: &HeaderMap) -> Result<CallerNames, Error> {
    Ok(CallerNames { app: read_name(headers, &APP)?, workflow: read_name(headers, &WORKFLOW)? })
}

fn read_name(headers: &HeaderMap, names: &[&str]) -> Result<Option<CallerName>, Error> {
    let mut values = names.iter().flat_map(|name| headers.get_all(*name));
    let Some(first) = values.next() else { return Ok(None) };
    if values.any(|value| value != first) {
        return Err(refuse_name(InvalidValue::new("header with an application or a workflow", "must have one value")));
    }
    let name = CallerName::parse(first.to_str().unwrap_or_default()).map_err(refuse_name)?;
    Ok(Some(name))
}

fn refuse_name(error: InvalidValue) -> Error {
    registry::Error::from(error).into()
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderName, HeaderValue};

    use super::read;

    fn headers(given: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = given.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, value);
        }
        headers
    }

    #[test]
    fn a_header_names_one_application() {
        let app = |given: &[_]| read(&headers(given)).map(|names| names.app.map(|app| app.to_string()));
        assert_eq!(app(&[]).unwrap(), None);
        for name in ["x-app-id", "x-strongly-app-id"] {
            assert_eq!(app(&[(name, "shop")]).unwrap().as_deref(), Some("shop"));
        }
        assert_eq!(app(&[("x-app-id", "shop"), ("x-strongly-app-id", "shop")]).unwrap().as_deref(), Some("shop"));
        for wrong in
            [&[("x-app-id", "shop"), ("x-strongly-app-id", "desk")][..], &[("x-app-id", "")], &[("x-app-id", "a b")]]
        {
            assert!(app(wrong).is_err(), "{wrong:?}");
        }
    }
}
