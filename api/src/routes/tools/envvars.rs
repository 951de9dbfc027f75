//! `POST /v1/{organization}/tool/{tool_id}/envvar`: variables go in, all changes or none; values never come out.

use axum::extract::State;
use axum::http::StatusCode;
use registry::{EnvvarChanges, EnvvarInsert, EnvvarName, EnvvarUpdate, SecretValue, ToolId};

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, InPath, Node};
use crate::routes::names::stripped;

/// Changes of one kind in one request; a tool has tens of variables.
const CHANGES_MAX: usize = 100;

pub(crate) struct Request(EnvvarChanges);

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
    fn from_body(body: &Node) -> Option<Self> {
        body.object()?;
        let inserts = changes(body, "inserts", insert);
        let updates = changes(body, "updates", update);
        let deletes = changes(body, "deletes", name);
        Some(Self(EnvvarChanges { inserts, updates, deletes }))
    }
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
