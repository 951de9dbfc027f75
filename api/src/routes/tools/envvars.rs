//! `POST /v1/{organization}/tool/{tool_id}/envvar`: changes variables, all or none. No operation returns their values.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Body, Boolean, Decoder as _, Fields, FromBody, InPath, List, Object, any_text};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::ENVVAR_NAME;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{EnvvarChanges, EnvvarInsert, EnvvarUpdate, SecretValue, Store, ToolId};
use serde_json::{Value, json};

use crate::sections;

/// Changes of one kind in one request. A tool has tens of variables.
const CHANGES_MAX: usize = 100;

pub(crate) struct Request(EnvvarChanges);

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("modify-tool-envvars", sections::TOOLS, "Change variables")
        .description(
            "Deletes, then updates, then inserts variables; all changes are made or none. Values are encrypted; only \
            runs can read them. A value has at most 32 KiB, a tool at most 100 variables.",
        )
        .returns_nothing(204, "Changed.")
        .errors(400, &["variable_unknown", "variable_required", "invalid_value", "too_many"])
        .errors(409, &["already_exists"])
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    Body(Request(changes)): Body<Request>,
) -> Result<StatusCode, Error> {
    store.tools().modify_envvars(&principal, &tool, changes).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl FromBody for Request {
    const NAME: &'static str = "ModifyToolEnvvars";

    fn example() -> Value {
        json!({
            "inserts": [{"name": "API_TOKEN", "value": "s3cret", "is_secret": true}],
            "updates": [{"name": "GREETING", "value": "hello"}],
            "deletes": [{"name": "OLD_GREETING"}],
        })
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        let inserts = read_changes(fields, "inserts", insert);
        let updates = read_changes(fields, "updates", update);
        let deletes = read_changes(fields, "deletes", |fields| fields.read_required("name", ENVVAR_NAME));
        Some(Self(EnvvarChanges { inserts, updates, deletes }))
    }
}

fn read_changes<T>(fields: &mut Fields, name: &str, read: fn(&mut Fields) -> Option<T>) -> Vec<T> {
    let list = List { items: Object(read), length: 0..=CHANGES_MAX };
    fields.read_optional(name, list.with_default(Vec::<Value>::new())).unwrap_or_default()
}

fn insert(fields: &mut Fields) -> Option<EnvvarInsert> {
    let name = fields.read_required("name", ENVVAR_NAME);
    let value = fields.read_required("value", any_text());
    let is_secret =
        fields.read_required("is_secret", Boolean.described("Whether the tool receives the variable as a secret."));
    Some(EnvvarInsert { name: name?, value: SecretValue::new(value?), is_secret: is_secret? })
}

fn update(fields: &mut Fields) -> Option<EnvvarUpdate> {
    let name = fields.read_required("name", ENVVAR_NAME);
    let value = fields.read_required("value", any_text());
    Some(EnvvarUpdate { name: name?, value: SecretValue::new(value?) })
}
