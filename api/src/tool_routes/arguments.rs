//! The arguments of a call: the parameters of path and query, and the fields of the body.

use api_kit::error::{Error, Problem};
use api_kit::extract::{self, QueryParameters};
use axum::extract::{FromRequestParts as _, Request};
use runner::ToolRoute;
use serde_json::{Map, Value};

use super::query::parse_argument;

/// Reads the arguments. An argument that occurs in two places must have one value.
pub(super) async fn read_arguments(
    request: Request,
    route: ToolRoute,
    schema: &Value,
) -> Result<Map<String, Value>, Error> {
    let (mut parts, body) = request.into_parts();
    let mut arguments = Map::new();
    for name in route.parameters() {
        let text = extract::read_parameter(&mut parts, &(), name).await?;
        arguments.insert(name.to_owned(), Value::String(text));
    }
    let query = QueryParameters::from_request_parts(&mut parts, &()).await?.by_name();
    for (name, texts) in query {
        let value = parse_argument(&schema["properties"][&name], &texts);
        add(&mut arguments, "query", name, value)?;
    }
    if route.verb.has_body() {
        let fields = extract::read_object(Request::from_parts(parts, body)).await?;
        for (name, value) in fields {
            add(&mut arguments, "body", name, value)?;
        }
    }
    Ok(arguments)
}

fn add(arguments: &mut Map<String, Value>, place: &str, name: String, value: Value) -> Result<(), Error> {
    match arguments.get(&name) {
        Some(present) if *present != value => {
            let location = vec![place.into(), name.as_str().into()];
            let message = "Input should be the value that the path or the query has";
            Err(Error::Invalid { problems: vec![Problem::new(location, "contradiction", message)] })
        }
        Some(_) => Ok(()),
        None => {
            arguments.insert(name, value);
            Ok(())
        }
    }
}
