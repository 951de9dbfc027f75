//! Preferences: wishes of a user, each under a key, with the values that they had before.

mod source;
mod superseded;

use futures_util::future::BoxFuture;
use runner::{Outcome, ToolEffect, ToolRoute};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::answer::{Failure, build_outcome, invalid, not_found};
use super::item::show_item;
use super::record::{Record, build_content};
use super::schemas;
use super::tools::{lists, of};
use crate::domain::library::{LibraryFamily, LibraryItem};
use crate::platform_call::{PlatformCall, PlatformToolSpec};
use crate::store::Library;
use source::PreferenceSource;
use superseded::Superseded;

/// Bytes of a value as JSON, as of all its earlier values together. A list shows hundreds of preferences.
const VALUE_BYTES_MAX: usize = 65_536;

/// The field with the values that others have replaced.
const SUPERSEDES: &str = "supersedes";

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
    source: PreferenceSource,
    #[schemars(length(min = 1, max = 1024))]
    description: Option<String>,
    /// The latest values that others have replaced, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    supersedes: Vec<Superseded>,
}

impl Record for Preference {
    const FAMILY: LibraryFamily = LibraryFamily::Preferences;
    const ID: &'static str = "preference_id";
    const LABEL: Option<&'static str> = Some("source");
    const KEY: Option<&'static str> = Some("key");
    const HAS_TAGS: bool = false;
    const CONTENT: Option<&'static str> = Some(SUPERSEDES);
    const SERVER_FIELDS: &'static [&'static str] = &[SUPERSEDES];
}

pub(super) const TOOLS: &[PlatformToolSpec] = &[
    PlatformToolSpec {
        bounded_by_handler: &["/value"],
        effect: Some(ToolEffect::Idempotent),
        input_schema: Some(schemas::new::<Preference>),
        output_schema: Some(schemas::item::<Preference>),
        handler: Some(set),
        ..of::<Preference>(
            "preference_set",
            "Set a preference",
            "Keeps a lasting wish of the user under a key, in place of an earlier value, which the preference remembers.",
        )
        .at(&[ToolRoute::put("/api/v1/preferences/{key}")])
    },
    PlatformToolSpec {
        effect: Some(ToolEffect::ReadOnly),
        input_schema: Some(schemas::keyed),
        output_schema: Some(schemas::item::<Preference>),
        handler: Some(get),
        ..of::<Preference>("preference_get", "Get a preference", "Returns the preference with a key.")
            .at(&[ToolRoute::get("/api/v1/preferences/{key}")])
    },
    lists::<Preference>(
        "preference_list",
        "List preferences",
        "Lists the preferences of the user without their earlier values, newest first.",
    )
    .at(&[ToolRoute::get("/api/v1/preferences")]),
    PlatformToolSpec {
        effect: Some(ToolEffect::Destroys),
        input_schema: Some(schemas::keyed),
        output_schema: Some(schemas::deleted::<Preference>),
        handler: Some(forget),
        ..of::<Preference>("preference_forget", "Forget a preference", "Deletes the preference with a key.")
            .at(&[ToolRoute::delete("/api/v1/preferences/{key}")])
    },
];

fn set(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { build_outcome(store_preference(call).await) })
}

fn get(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        build_outcome(find_preference(&call.library, &call.arguments).await.map(show_item::<Preference>))
    })
}

fn forget(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { build_outcome(forget_preference(call).await) })
}

/// Creates a preference, or replaces the present one under its key.
async fn store_preference(PlatformCall { library, arguments, .. }: PlatformCall) -> Result<Value, Failure> {
    if arguments.get("value").is_some_and(|value| value.to_string().len() > VALUE_BYTES_MAX) {
        return Err(invalid(format!(
            "/value: a value has at most {VALUE_BYTES_MAX} bytes as JSON; keep more as an artifact"
        )));
    }
    let present = with_key(&library, &arguments).await?;
    let item = match present {
        Some(present) => replace_preference(&library, present, arguments).await?,
        None => library.create(Preference::FAMILY, build_content::<Preference>(arguments)?).await?,
    };
    Ok(show_item::<Preference>(item))
}

/// Writes a preference unless it is the present one. The present value is kept if another one replaces it.
async fn replace_preference(
    library: &Library,
    present: LibraryItem,
    mut arguments: Map<String, Value>,
) -> Result<LibraryItem, Failure> {
    let before: Preference = serde_json::from_value(Value::Object(present.body.clone())).map_err(Failure::internal)?;
    let mut supersedes = before.supersedes;
    if arguments.get("value") != Some(&before.value) {
        supersedes.push(Superseded::new(before.value, before.source, &present));
        superseded::bound(&mut supersedes);
    }
    arguments.insert(SUPERSEDES.to_owned(), json!(supersedes));
    let content = build_content::<Preference>(arguments)?;
    if content.body == present.body {
        return Ok(present);
    }
    Ok(library.update(Preference::FAMILY, &present.id, present.revision, content).await?)
}

async fn forget_preference(PlatformCall { library, arguments, .. }: PlatformCall) -> Result<Value, Failure> {
    let id = find_preference(&library, &arguments).await?.id;
    library.delete(Preference::FAMILY, &id).await?;
    Ok(json!({Preference::ID: id, "deleted": true}))
}

async fn find_preference(library: &Library, arguments: &Map<String, Value>) -> Result<LibraryItem, Failure> {
    with_key(library, arguments).await?.ok_or_else(|| not_found("preference"))
}

/// Finds the preference with the key of the arguments.
async fn with_key(library: &Library, arguments: &Map<String, Value>) -> Result<Option<LibraryItem>, Failure> {
    let key = arguments.get("key").and_then(Value::as_str).unwrap_or_default();
    Ok(library.find(Preference::FAMILY, key).await?)
}
