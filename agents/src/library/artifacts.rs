//! Artifacts: reports, dashboards, plans and other results that are kept.

use futures_util::future::BoxFuture;
use runner::{Outcome, ToolEffect, ToolRoute};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::answer::{Failure, build_outcome, not_found};
use super::artifact_encoding::ArtifactEncoding;
use super::fields::take_id;
use super::item::show_item;
use super::record::{Record, build_content};
use super::rule_warnings::WARNINGS;
use super::schemas;
use super::tools::{creates, deletes, lists, of, shares};
use crate::domain::library::LibraryFamily;
use crate::platform_call::{PlatformCall, PlatformToolSpec};

/// The field with the agent that saved an artifact.
const PRODUCER_AGENT: &str = "producer_agent_id";

/// An artifact.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Artifact {
    #[schemars(length(min = 1, max = 256))]
    title: String,
    /// Such as `report`, `dashboard`, `plan`, `document`, `html_report` or `pdf`.
    #[schemars(length(min = 1, max = 64))]
    artifact_type: String,
    #[schemars(length(min = 1, max = 786_432))]
    content: String,
    /// The media type of the content, such as `text/markdown`.
    #[schemars(
        length(max = 128),
        regex(pattern = r"^[a-zA-Z0-9!#$&^_.+-]+/[a-zA-Z0-9!#$&^_.+-]+(; ?[a-zA-Z0-9._=-]+)*$")
    )]
    content_type: String,
    /// How `content` is written: `text`, or `base64` for the bytes of a file such as a PDF or an image.
    #[serde(default)]
    content_encoding: ArtifactEncoding,
    #[schemars(length(min = 1, max = 2000))]
    summary: Option<String>,
    #[schemars(length(max = 32), inner(length(min = 1, max = 64)))]
    tags: Option<Vec<String>>,
    /// Whether everyone in the organisation can read the artifact, by its id.
    #[serde(default)]
    shared_to_org: bool,
    /// Whether links to the artifact work until it is deleted, for everyone who has one. Everyone in the organisation can read it.
    #[serde(default)]
    is_public: bool,
    /// The conversation that the artifact is from, as the application names it.
    #[schemars(length(min = 1, max = 128))]
    producer_thread_id: Option<String>,
    /// The agent that saved the artifact. Null for a user.
    producer_agent_id: Option<String>,
}

impl Record for Artifact {
    const FAMILY: LibraryFamily = LibraryFamily::Artifacts;
    const ID: &'static str = "artifact_id";
    const LABEL: Option<&'static str> = Some("artifact_type");
    const CONTENT: Option<&'static str> = Some("content");
    const SERVER_FIELDS: &'static [&'static str] = &[PRODUCER_AGENT];
}

pub(super) const TOOLS: &[PlatformToolSpec] = &[
    PlatformToolSpec {
        output_schema: Some(with_warnings),
        handler: Some(save),
        ..creates::<Artifact>(
            "artifact_save",
            "Save an artifact",
            "Keeps a result, such as a report, a dashboard or a plan. Save what the user wants to have, not notes for yourself.",
        )
        .at(&[ToolRoute::post("/api/v1/artifacts")])
    },
    lists::<Artifact>("artifact_list", "List artifacts", "Lists artifacts without their content, newest first.")
    .at(&[ToolRoute::get("/api/v1/artifacts")]),
    PlatformToolSpec {
        effect: Some(ToolEffect::ReadOnly),
        input_schema: Some(schemas::one_and_link::<Artifact>),
        output_schema: Some(schemas::linked_item::<Artifact>),
        handler: Some(get),
        ..of::<Artifact>(
            "artifact_get",
            "Get an artifact",
            "Returns one artifact with its content, and on demand with a link for a person who downloads it.",
        )
        .at(&[ToolRoute::get("/api/v1/artifacts/{artifact_id}")])
    },
    shares::<Artifact>(
        "artifact_share",
        "Share an artifact",
        "Lets another user of the organisation read an artifact.",
    )
    .at(&[ToolRoute::post("/api/v1/artifacts/{artifact_id}/share")]),
    deletes::<Artifact>("artifact_delete", "Delete an artifact", "Deletes an artifact.")
    .at(&[ToolRoute::delete("/api/v1/artifacts/{artifact_id}")]),
];

fn save(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { build_outcome(save_artifact(call).await) })
}

async fn save_artifact(
    PlatformCall { library, agent_call, mut arguments, .. }: PlatformCall,
) -> Result<Value, Failure> {
    arguments.insert(PRODUCER_AGENT.to_owned(), json!(agent_call.map(|call| call.agent)));
    let content = build_content::<Artifact>(arguments)?;
    let text = |name: &str| content.body[name].as_str().unwrap_or_default();
    let encoding = ArtifactEncoding::of(text("content_encoding"));
    encoding.check(text("content"), text("content_type"))?;
    let warning = encoding.find_warning(text("artifact_type"), text("content_type"));
    let mut saved = show_item::<Artifact>(library.create(Artifact::FAMILY, content).await?);
    if let Some(warning) = warning {
        saved[WARNINGS] = json!([warning]);
    }
    Ok(saved)
}

/// The result that is an artifact, which may have warnings.
fn with_warnings() -> Value {
    let warnings = json!({
        "type": "array", "items": {"type": "string"},
        "description": "What is most likely wrong with the artifact. Absent without any.",
    });
    schemas::item_with::<Artifact>("", WARNINGS, warnings)
}

fn get(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { build_outcome(get_artifact(call).await) })
}

async fn get_artifact(PlatformCall { library, base_url, mut arguments, .. }: PlatformCall) -> Result<Value, Failure> {
    let id = take_id::<Artifact>(&mut arguments)?;
    let own = library.get(Artifact::FAMILY, &id).await?;
    let found = match own {
        Some(own) => Some(own),
        None => library.artifact_of_organization(&id).await?,
    };
    let found = found.ok_or_else(|| not_found("artifact"))?;
    let mut shown = show_item::<Artifact>(found);
    if arguments.get("with_download_url") == Some(&Value::Bool(true)) {
        shown["download_url"] = json!(format!("{base_url}/api/v1/downloads/{}", library.sign_download(&id)?));
    }
    Ok(shown)
}
