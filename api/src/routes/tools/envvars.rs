//! `POST /v1/{organization}/tool/{tool_id}/envvar`: variables go in, all changes or none; values never come out.

use axum::extract::State;
use axum::http::StatusCode;
use registry::{EnvvarChanges, EnvvarInsert, EnvvarName, EnvvarUpdate, SecretValue, ToolId};
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, InPath, Node};
use crate::openapi::{Operation, Tag, form};
use crate::routes::names::{envvar_name_form, stripped};

/// Changes of one kind in one request; a tool has tens of variables.
const CHANGES_MAX: usize = 100;

pub(crate) struct Request(EnvvarChanges);

pub(crate) fn operation() -> Operation {
    Operation::new("modify-tool-envvars", Tag::Tools, "Change variables")
        .says(
            "Deletes first, then updates, then inserts; all of them or none. Values are encrypted and never come out \
            again, except into a run. A value has at most 32 KiB, a tool at most 100 variables.",
        )
        .answers_nothing(204, "Changed.")
        .refuses(400, &["variable_unknown", "variable_required", "invalid_value", "too_many"])
        .refuses(409, &["already_exists"])
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    Body(Request(changes)): Body<Request>,
) -> Result<StatusCode, Error> {
    app.store().modify_envvars(&principal, &tool, changes).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl FromBody for Request {
    const NAME: &'static str = "ModifyToolEnvvars";

    fn form() -> Value {
        let value = || form::text();
        let secret = form::said(json!({"type": "boolean"}), "Whether the tool gets it among its secrets.");
        json!({
            "type": "object",
            "properties": {
                "inserts": changes_form(&[("name", envvar_name_form()), ("value", value()), ("is_secret", secret)]),
                "updates": changes_form(&[("name", envvar_name_form()), ("value", value())]),
                "deletes": changes_form(&[("name", envvar_name_form())]),
            },
        })
    }

    fn example() -> Value {
        json!({
            "inserts": [{"name": "API_TOKEN", "value": "s3cret", "is_secret": true}],
            "updates": [{"name": "GREETING", "value": "hello"}],
            "deletes": [{"name": "OLD_GREETING"}],
        })
    }

    fn from_body(body: &Node) -> Option<Self> {
        body.object()?;
        let inserts = changes(body, "inserts", insert);
        let updates = changes(body, "updates", update);
        let deletes = changes(body, "deletes", name);
        Some(Self(EnvvarChanges { inserts, updates, deletes }))
    }
}

fn changes_form(properties: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    let properties: serde_json::Map<_, _> =
        properties.iter().map(|(name, form)| ((*name).to_owned(), form.clone())).collect();
    let items = json!({"type": "object", "required": names, "properties": properties});
    form::default(form::or_null(json!({"type": "array", "maxItems": CHANGES_MAX, "items": items})), &json!([]))
}

fn changes<T>(body: &Node, key: &str, read: fn(&Node) -> Option<T>) -> Vec<T> {
    let items = body.optional(key).and_then(|node| node.items(0..=CHANGES_MAX));
    items.unwrap_or_default().iter().filter_map(read).collect()
}

fn insert(node: &Node) -> Option<EnvvarInsert> {
    let (name, value) = (name(node), value(node));
    let is_secret = node.required("is_secret").and_then(|node| node.boolean());
    Some(EnvvarInsert { name: name?, value: value?, is_secret: is_secret? })
}

fn update(node: &Node) -> Option<EnvvarUpdate> {
    let (name, value) = (name(node), value(node));
    Some(EnvvarUpdate { name: name?, value: value? })
}

fn name(node: &Node) -> Option<EnvvarName> {
    node.required("name")?.parsed(stripped)
}

fn value(node: &Node) -> Option<SecretValue> {
    node.required("value")?.text().map(|text| SecretValue::new(text.to_owned()))
}
