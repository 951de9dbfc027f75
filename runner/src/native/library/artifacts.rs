//! Artifacts: reports, dashboards, plans and other results that are kept.

use registry::LibraryFamily;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::spec::NativeToolSpec;
use super::super::tool_route::ToolRoute;
use super::record::Record;
use super::tools::{creates, deletes, gets, lists, shares};

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
    #[schemars(length(min = 1, max = 2000))]
    summary: Option<String>,
    #[schemars(length(max = 32), inner(length(min = 1, max = 64)))]
    tags: Option<Vec<String>>,
}

impl Record for Artifact {
    const FAMILY: LibraryFamily = LibraryFamily::Artifacts;
    const ID: &'static str = "artifact_id";
    const LABEL: Option<&'static str> = Some("artifact_type");
    const CONTENT: Option<&'static str> = Some("content");
}

pub(super) const TOOLS: &[NativeToolSpec] = &[
    creates::<Artifact>([
        "artifact_save",
        "Save an artifact",
        "Keeps a result, such as a report, a dashboard or a plan. Save what the user wants to have, not notes for yourself.",
    ])
    .at(&[ToolRoute::post("/api/v1/artifacts")]),
    lists::<Artifact>(["artifact_list", "List artifacts", "Lists artifacts without their content, newest first."])
    .at(&[ToolRoute::get("/api/v1/artifacts")]),
    gets::<Artifact>(["artifact_get", "Get an artifact", "Returns one artifact with its content."])
    .at(&[ToolRoute::get("/api/v1/artifacts/{artifact_id}")]),
    shares::<Artifact>([
        "artifact_share",
        "Share an artifact",
        "Lets another user of the organisation read an artifact.",
    ])
    .at(&[ToolRoute::post("/api/v1/artifacts/{artifact_id}/share")]),
    deletes::<Artifact>(["artifact_delete", "Delete an artifact", "Deletes an artifact."])
    .at(&[ToolRoute::delete("/api/v1/artifacts/{artifact_id}")]),
];
