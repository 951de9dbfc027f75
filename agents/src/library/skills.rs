//! Skills: instructions in Markdown that are used again.

use futures_util::future::BoxFuture;
use runner::{Outcome, ToolRoute};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answer::{Failure, build_outcome};
use super::get::find_item;
use super::item::show_item;
use super::record::Record;
use super::tools::{creates, deletes, gets_versions, lists, updates};
use super::variables::find_variables;
use crate::domain::library::LibraryFamily;
use crate::platform_call::{PlatformCall, PlatformToolSpec};

/// A skill.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Skill {
    /// Unique among the skills of a user.
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[a-z0-9]+(-[a-z0-9]+)*$"))]
    name: String,
    /// When to use the skill, and for what.
    #[schemars(length(min = 1, max = 1024))]
    description: Option<String>,
    /// The instructions, in Markdown.
    #[schemars(length(min = 1, max = 131_072))]
    content: String,
    #[schemars(length(max = 32), inner(length(min = 1, max = 64)))]
    tags: Option<Vec<String>>,
    /// The tools that the skill needs.
    #[schemars(length(max = 64), inner(length(min = 1, max = 64)))]
    mcp_tools: Option<Vec<String>>,
    /// The names between `{{` and `}}` in the content. The server sets them.
    #[serde(default)]
    #[schemars(length(max = 64), inner(length(max = 64)))]
    variables: Vec<String>,
    /// Times that an agent has read the skill before, about.
    #[serde(default)]
    usage_count: u64,
}

impl Record for Skill {
    const FAMILY: LibraryFamily = LibraryFamily::Skills;
    const ID: &'static str = "skill_id";
    const KEY: Option<&'static str> = Some("name");
    const CONTENT: Option<&'static str> = Some("content");
    const SERVER_FIELDS: &'static [&'static str] = &["usage_count"];

    fn complete(&mut self) {
        self.variables = find_variables(&self.content);
    }
}

pub(super) const TOOLS: &[PlatformToolSpec] = &[
    creates::<Skill>(
        "skill_create",
        "Create a skill",
        "Stores instructions in Markdown that can be followed again later, under a name. Use it for a procedure that worked.",
    )
    .at(&[ToolRoute::post("/api/v1/skills")]),
    lists::<Skill>("skill_list", "List skills", "Lists skills without their instructions, newest first.")
    .at(&[ToolRoute::get("/api/v1/skills")]),
    PlatformToolSpec {
        handler: Some(get),
        ..gets_versions::<Skill>(
            "skill_get",
            "Get a skill",
            "Returns one skill with its instructions, as it is or in an earlier version.",
        )
        .at(&[ToolRoute::get("/api/v1/skills/{skill_id}")])
    },
    updates::<Skill>("skill_update", "Change a skill", "Makes a new version of a skill. Fields that are left out stay as they are.")
    .at(&[
        ToolRoute::patch("/api/v1/skills/{skill_id}"),
        ToolRoute::put("/api/v1/skills/{skill_id}").named("skill_put"),
    ]),
    deletes::<Skill>("skill_delete", "Delete a skill", "Deletes a skill.")
    .at(&[ToolRoute::delete("/api/v1/skills/{skill_id}")]),
];

fn get(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { build_outcome(use_skill(call).await) })
}

/// Returns a skill. A skill that an agent reads is used: the count that is shown is that before this use.
async fn use_skill(PlatformCall { library, agent_call, arguments, .. }: PlatformCall) -> Result<Value, Failure> {
    let found = find_item::<Skill>(&library, arguments).await?;
    if agent_call.is_some()
        && let Err(error) = library.count_use(Skill::FAMILY, &found.id).await
    {
        tracing::warn!(%error, "a use of a skill is not counted");
    }
    Ok(show_item::<Skill>(found))
}
