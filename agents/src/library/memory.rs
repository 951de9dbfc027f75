//! Memories: facts, observations and decisions.

use runner::ToolRoute;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::record::Record;
use super::tools::{creates, deletes, gets, lists, searches, updates};
use crate::domain::library::LibraryFamily;
use crate::platform_call::PlatformToolSpec;

/// A memory.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Memory {
    /// The text to remember, in words that are understood without the conversation.
    #[schemars(length(min = 1, max = 65536))]
    content: String,
    /// Such as `fact`, `observation` or `decision`.
    #[schemars(length(min = 1, max = 64))]
    kind: Option<String>,
    #[schemars(length(min = 1, max = 2000))]
    summary: Option<String>,
    #[schemars(length(max = 32), inner(length(min = 1, max = 64)))]
    tags: Option<Vec<String>>,
    #[schemars(length(min = 1, max = 64))]
    category: Option<String>,
    /// From 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    importance: Option<f64>,
}

impl Record for Memory {
    const FAMILY: LibraryFamily = LibraryFamily::Memory;
    const ID: &'static str = "memory_id";
    const LABEL: Option<&'static str> = Some("kind");
}

pub(super) const TOOLS: &[PlatformToolSpec] = &[
    creates::<Memory>(
        "memory_create",
        "Remember something",
        "Stores a fact, an observation or a decision for later conversations. Keep what will matter again, not what the \
        conversation shows anyway.",
    )
    .at(&[ToolRoute::post("/api/v1/memory")]),
    searches::<Memory>(
        "memory_search",
        "Search memories",
        "Finds memories by words and by meaning, the best first. Use it before you ask the user for something that may be known.",
    )
    .at(&[ToolRoute::post("/api/v1/memory/search")]),
    lists::<Memory>("memory_list", "List memories", "Lists memories, newest first.")
        .at(&[ToolRoute::get("/api/v1/memory")]),
    gets::<Memory>("memory_get", "Get a memory", "Returns one memory.")
        .at(&[ToolRoute::get("/api/v1/memory/{memory_id}")]),
    updates::<Memory>(
        "memory_update",
        "Change a memory",
        "Changes a memory in place. Fields that are left out stay as they are.",
    )
    .at(&[
        ToolRoute::patch("/api/v1/memory/{memory_id}"),
        ToolRoute::put("/api/v1/memory/{memory_id}").named("memory_put"),
    ]),
    deletes::<Memory>("memory_delete", "Forget a memory", "Deletes a memory.")
    .at(&[ToolRoute::delete("/api/v1/memory/{memory_id}")]),
];
