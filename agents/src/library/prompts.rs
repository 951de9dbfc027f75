//! Prompts: texts with variables.

use runner::ToolRoute;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::record::Record;
use super::tools::{creates, gets_versions, lists, updates};
use super::variables::find_variables;
use crate::domain::library::LibraryFamily;
use crate::platform_call::PlatformToolSpec;

/// A prompt.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Prompt {
    /// Unique among the prompts of a user.
    #[schemars(length(min = 1, max = 128))]
    name: String,
    /// The text, with variables such as `{{customer}}`.
    #[schemars(length(min = 1, max = 131_072))]
    content: String,
    #[serde(rename = "type", default)]
    prompt_type: PromptType,
    #[schemars(length(min = 1, max = 1024))]
    description: Option<String>,
    #[schemars(length(max = 32), inner(length(min = 1, max = 64)))]
    tags: Option<Vec<String>>,
    /// The variables of the content. Those that are not described are required.
    #[serde(default)]
    #[schemars(length(max = 64))]
    variables: Vec<Variable>,
}

#[derive(Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "kebab-case")]
enum PromptType {
    SystemPrompt,
    #[default]
    UserPrompt,
    Skill,
    Template,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Variable {
    #[schemars(length(min = 1, max = 64))]
    name: String,
    #[schemars(length(max = 1024))]
    description: Option<String>,
    #[schemars(length(max = 1024))]
    default_value: Option<String>,
    #[serde(default)]
    required: bool,
}

impl Record for Prompt {
    const FAMILY: LibraryFamily = LibraryFamily::Prompts;
    const ID: &'static str = "prompt_id";
    const LABEL: Option<&'static str> = Some("type");
    const KEY: Option<&'static str> = Some("name");
    const CONTENT: Option<&'static str> = Some("content");

    /// Keeps the descriptions of variables that the content has.
    fn complete(&mut self) {
        let mut described = std::mem::take(&mut self.variables);
        self.variables = find_variables(&self.content).into_iter().map(|name| of(name, &mut described)).collect();
    }
}

fn of(name: String, described: &mut Vec<Variable>) -> Variable {
    match described.iter().position(|variable| variable.name == name) {
        Some(position) => described.swap_remove(position),
        None => Variable { name, description: None, default_value: None, required: true },
    }
}

pub(super) const TOOLS: &[PlatformToolSpec] = &[
    creates::<Prompt>(
        "prompt_create",
        "Create a prompt",
        "Stores a prompt under a name. Names between `{{` and `}}` in the content are its variables.",
    )
    .at(&[ToolRoute::post("/api/v1/prompts")]),
    lists::<Prompt>("prompt_list", "List prompts", "Lists prompts without their content, newest first.")
        .at(&[ToolRoute::get("/api/v1/prompts")]),
    gets_versions::<Prompt>(
        "prompt_get",
        "Get a prompt",
        "Returns one prompt with its whole content, as it is or in an earlier version.",
    )
    .at(&[ToolRoute::get("/api/v1/prompts/{prompt_id}")]),
    updates::<Prompt>(
        "prompt_update",
        "Change a prompt",
        "Makes a new version of a prompt. Fields that are left out stay as they are.",
    )
    .at(&[
        ToolRoute::patch("/api/v1/prompts/{prompt_id}"),
        ToolRoute::put("/api/v1/prompts/{prompt_id}").named("prompt_put"),
    ]),
];
