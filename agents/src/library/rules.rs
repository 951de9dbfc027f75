//! The tools for rules.

use runner::ToolRoute;
use serde_json::{Value, json};

use super::rule::Rule;
use super::rule_warnings;
use super::schemas;
use super::tools::{creates, deletes, gets, lists, updates};
use crate::platform_call::PlatformToolSpec;

/// The result that is a rule, which may have warnings.
fn with_warnings() -> Value {
    let warnings = json!({
        "type": "array", "items": {"type": "string"},
        "description": "Reasons why the rule can never act. Absent without any.",
    });
    schemas::item_with::<Rule>("WithWarnings", rule_warnings::WARNINGS, warnings)
}

pub(super) const TOOLS: &[PlatformToolSpec] = &[
    PlatformToolSpec {
        output_schema: Some(with_warnings),
        handler: Some(rule_warnings::create),
        ..creates::<Rule>(
            "rule_create",
            "Create a rule",
            "Keeps a rule for later conversations, which read it with rule_list. Use it when the user states a lasting requirement \
            or a ban.",
        )
        .at(&[ToolRoute::post("/api/v1/rules")])
    },
    lists::<Rule>("rule_list", "List rules", "Lists rules, newest first.")
    .at(&[ToolRoute::get("/api/v1/rules")]),
    gets::<Rule>("rule_get", "Get a rule", "Returns one rule.")
    .at(&[ToolRoute::get("/api/v1/rules/{rule_id}")]),
    PlatformToolSpec {
        output_schema: Some(with_warnings),
        handler: Some(rule_warnings::update),
        ..updates::<Rule>("rule_update", "Change a rule", "Changes a rule. Fields that are left out stay as they are.").at(&[
            ToolRoute::patch("/api/v1/rules/{rule_id}"),
            ToolRoute::put("/api/v1/rules/{rule_id}").named("rule_put"),
        ])
    },
    deletes::<Rule>("rule_delete", "Delete a rule", "Deletes a rule.")
    .at(&[ToolRoute::delete("/api/v1/rules/{rule_id}")]),
];
