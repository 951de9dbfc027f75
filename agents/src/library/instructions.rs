//! Instructions for models: when to use each tool of a family.

/// A family, what it keeps, and its tools with the time to use each of them.
type Instructions = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const INSTRUCTIONS: [Instructions; 7] = [
    (
        "memory",
        "Memories are facts, observations and decisions that outlast this conversation.",
        &[
            (
                "memory_search",
                "before you ask for something that may be known, and before you decide what may be decided already",
            ),
            (
                "memory_create",
                "when you learn something that will matter again. Search first, so that nothing is kept twice",
            ),
            ("memory_list", "to look through the memories of one kind, or with certain tags"),
            ("memory_get", "to read a memory whose id you have"),
            ("memory_update", "when a memory is not right any more"),
            ("memory_delete", "when the user asks you to forget something"),
        ],
    ),
    (
        "rules",
        "Rules are lasting requirements and bans.",
        &[
            ("rule_list", "at the beginning of the work, with enabled_only. Follow the rules that apply"),
            ("rule_create", "when the user states a lasting requirement or a ban"),
            ("rule_get", "to read a rule whose id you have"),
            ("rule_update", "when the user changes a rule, or switches it on or off"),
            ("rule_delete", "when the user withdraws a rule"),
        ],
    ),
    (
        "skills",
        "Skills are instructions for work that comes again.",
        &[
            ("skill_list", "before work that may have been done before"),
            ("skill_get", "to read a skill that fits, before you follow it"),
            ("skill_create", "for a procedure that worked and will be needed again"),
            ("skill_update", "when the instructions of a skill were wrong or incomplete"),
            ("skill_delete", "when the user does not want a skill any more"),
        ],
    ),
    (
        "tasks",
        "Tasks are work that is due at a time, once or again and again.",
        &[
            ("task_create", "for work at a later time. Not for the steps of the present work"),
            ("task_list", "to see what is open, or what has failed. Tasks with the status fired are due"),
            ("task_get", "to read a task with its history"),
            (
                "task_complete",
                "when the work of a task is finished, or with the status cancelled when it is not wanted any more",
            ),
            ("task_skip_next", "when the user wants the next occurrence of a recurring task left out"),
            ("task_end_recurrence", "when a recurring task should not come again, and its history should stay"),
            ("task_delete", "when a task should not have been created"),
        ],
    ),
    (
        "prompts",
        "Prompts are texts with variables that are used again.",
        &[
            ("prompt_list", "to find a prompt that fits"),
            ("prompt_get", "to read a prompt before you use it. Put values in place of its variables"),
            ("prompt_create", "when the user wants to keep a text for later use"),
            ("prompt_update", "when the user changes such a text"),
        ],
    ),
    (
        "artifacts",
        "Artifacts are results that the user keeps.",
        &[
            (
                "artifact_save",
                "for a finished result that the user wants to have, such as a report or a plan. Not for notes of your own",
            ),
            ("artifact_list", "to find an earlier result"),
            ("artifact_get", "to read a result, or with with_download_url for a link that a person opens"),
            ("artifact_share", "when the user names another user who should read a result"),
            ("artifact_delete", "when the user asks for it"),
        ],
    ),
    (
        "preferences",
        "Preferences are lasting wishes of the user.",
        &[
            ("preference_list", "at the beginning of the work. Follow the wishes that apply"),
            ("preference_get", "before you guess a wish whose key you know, such as timezone"),
            ("preference_set", "when the user states a lasting wish"),
            ("preference_forget", "when a wish does not hold any more"),
        ],
    ),
];

/// Returns the instructions of a family for a model that has some of its tools. `None` when the family has none.
#[must_use]
pub fn library_instructions(family: &str, has_tool: impl Fn(&str) -> bool) -> Option<String> {
    let (name, purpose, tools) = INSTRUCTIONS.iter().find(|(name, ..)| *name == family)?;
    let lines = tools.iter().filter(|(tool, _)| has_tool(tool)).map(|(tool, time)| format!("\n- {tool}: {time}."));
    let lines: String = lines.collect();
    (!lines.is_empty()).then(|| format!("## {name}\n\n{purpose}\n{lines}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::FAMILIES;
    use super::*;

    #[test]
    fn every_tool_of_the_library_has_instructions() {
        let declared: BTreeSet<_> = FAMILIES.iter().copied().flatten().map(|tool| (tool.family, tool.name)).collect();
        let tools =
            |(family, _, tools): &Instructions| tools.iter().map(|(tool, _)| (*family, *tool)).collect::<Vec<_>>();
        let instructed: BTreeSet<_> = INSTRUCTIONS.iter().flat_map(tools).collect();
        assert_eq!(declared, instructed);
    }

    /// Each tool with one that a model might call instead, and the words that tell them apart.
    #[test]
    fn s4_007_tools_that_are_easily_confused_are_told_apart() {
        for (tool, words, other) in [
            ("memory_create", "Search first", "memory_update"),
            ("memory_list", "of one kind", "memory_search"),
            ("task_create", "Not for the steps of the present work", "task_complete"),
            ("task_complete", "when the work of a task is finished", "task_delete"),
            ("task_end_recurrence", "its history should stay", "task_delete"),
            ("task_skip_next", "the next occurrence", "task_end_recurrence"),
            ("artifact_save", "Not for notes", "memory_create"),
            ("preference_set", "a lasting wish", "rule_create"),
        ] {
            let told = |name: &str| {
                let all = INSTRUCTIONS.iter().flat_map(|(_, _, tools)| *tools);
                all.filter(|(tool, _)| *tool == name).map(|(_, time)| *time).collect::<String>()
            };
            assert!(told(tool).contains(words), "{tool}: {}", told(tool));
            assert!(!told(other).is_empty() && !told(other).contains(words), "{other}: {}", told(other));
        }
    }

    #[test]
    fn instructions_are_about_the_tools_that_there_are() {
        let only_get = library_instructions("prompts", |tool| tool == "prompt_get");
        let expected = "## prompts\n\nPrompts are texts with variables that are used again.\n\n- prompt_get: to read a prompt \
            before you use it. Put values in place of its variables.";
        assert_eq!(only_get.as_deref(), Some(expected));
        assert_eq!(library_instructions("prompts", |_| false), None);
        assert_eq!(library_instructions("tools", |_| true), None);
    }
}
