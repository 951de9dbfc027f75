//! Preferences: wishes of a user, each under a key.

use futures_util::future::BoxFuture;
use registry::{Library, LibraryFamily, LibraryItem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::super::effect::ToolEffect;
use super::super::spec::NativeToolSpec;
use super::super::tool::NativeCall;
use super::super::tool_route::ToolRoute;
use super::answer::{Failure, not_found, outcome};
use super::item::shown;
use super::record::{Record, content_of};
use super::schemas;
use super::tools::{lists, of};
use crate::outcome::Outcome;

/// A preference.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Preference {
    /// Such as `timezone`, `tone` or `sign_off`.
    #[schemars(length(min = 1, max = 128))]
    key: String,
    /// Any JSON.
    value: Value,
    /// How the preference is known.
    #[serde(default)]
    source: Source,
    #[schemars(length(min = 1, max = 1024))]
    description: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "lowercase")]
enum Source {
    #[default]
    Explicit,
    Learned,
    Inferred,
    Imported,
    Manual,
}

impl Record for Preference {
    const FAMILY: LibraryFamily = LibraryFamily::Preferences;
    const ID: &'static str = "preference_id";
    const LABEL: Option<&'static str> = Some("source");
    const KEY: Option<&'static str> = Some("key");
    const HAS_TAGS: bool = false;
}

pub(super) const TOOLS: &[NativeToolSpec] = &[
    NativeToolSpec {
        effect: Some(ToolEffect::Idempotent),
        input_schema: Some(schemas::new::<Preference>),
        output_schema: Some(schemas::item::<Preference>),
        handler: Some(set),
        ..of::<Preference>([
            "preference_set",
            "Set a preference",
            "Keeps a lasting wish of the user under a key, in place of an earlier value.",
        ])
        .at(&[ToolRoute::put("/api/v1/preferences/{key}")])
    },
    NativeToolSpec {
        effect: Some(ToolEffect::ReadOnly),
        input_schema: Some(schemas::keyed),
        output_schema: Some(schemas::item::<Preference>),
        handler: Some(get),
        ..of::<Preference>(["preference_get", "Get a preference", "Returns the preference with a key."])
            .at(&[ToolRoute::get("/api/v1/preferences/{key}")])
    },
    lists::<Preference>(["preference_list", "List preferences", "Lists the preferences of the user, newest first."])
        .at(&[ToolRoute::get("/api/v1/preferences")]),
    NativeToolSpec {
        effect: Some(ToolEffect::Destroys),
        input_schema: Some(schemas::keyed),
        output_schema: Some(schemas::deleted::<Preference>),
        handler: Some(forget),
        ..of::<Preference>(["preference_forget", "Forget a preference", "Deletes the preference with a key."])
            .at(&[ToolRoute::delete("/api/v1/preferences/{key}")])
    },
];

fn set(call: NativeCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { outcome(stored(call).await) })
}

fn get(call: NativeCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { outcome(found(&call.library, &call.arguments).await.map(shown::<Preference>)) })
}

fn forget(call: NativeCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { outcome(forgotten(call).await) })
}

/// Writes a preference unless it is the present one.
async fn stored(NativeCall { library, arguments, .. }: NativeCall) -> Result<Value, Failure> {
    let content = content_of::<Preference>(arguments)?;
    let key = content.key.clone().unwrap_or_default();
    let item = match library.find(Preference::FAMILY, &key).await? {
        Some(present) if present.body == content.body => present,
        Some(LibraryItem { id, revision, .. }) => library.update(Preference::FAMILY, (&id, revision), content).await?,
        None => library.create(Preference::FAMILY, content).await?,
    };
    Ok(shown::<Preference>(item))
}

async fn forgotten(NativeCall { library, arguments, .. }: NativeCall) -> Result<Value, Failure> {
    let id = found(&library, &arguments).await?.id;
    library.delete(Preference::FAMILY, &id).await?;
    Ok(json!({Preference::ID: id, "deleted": true}))
}

async fn found(library: &Library, arguments: &Map<String, Value>) -> Result<LibraryItem, Failure> {
    let key = arguments.get("key").and_then(Value::as_str).unwrap_or_default();
    let found = library.find(Preference::FAMILY, key).await?;
    found.ok_or_else(|| not_found("preference"))
}
