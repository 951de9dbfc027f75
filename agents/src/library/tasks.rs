//! Tasks: work of an agent that is due at a time, once or again and again.

mod change;
mod create;
mod cron;
mod cron_problem;
mod heartbeat;
mod local_times;
mod moment;
mod occurrence;
mod schedule;
mod task;
#[cfg(test)]
mod tests;

use runner::{ToolEffect, ToolRoute, schema_of};

use super::schemas;
use super::tools::{deletes, gets, lists, of};
use crate::platform_call::PlatformToolSpec;
use create::NewTask;
pub(crate) use heartbeat::{end_run, find_creator, fire};
pub(crate) use occurrence::RunEnd;
use task::Task;

pub(super) const TOOLS: &[PlatformToolSpec] = &[
    PlatformToolSpec {
        effect: Some(ToolEffect::Adds),
        input_schema: Some(schema_of::<NewTask>),
        output_schema: Some(schemas::item::<Task>),
        handler: Some(create::create),
        ..of::<Task>(
            "task_create",
            "Create a task",
            "Keeps work that is due at a time: once (due_at), by a cron expression, or daily, weekly or monthly. Without a time, the \
            task stays open until it is completed. Do not use it for the steps of the present conversation.",
        )
        .at(&[ToolRoute::post("/api/v1/tasks")])
    },
    lists::<Task>(
        "task_list",
        "List tasks",
        "Lists tasks without their history, newest first. Tasks with the status fired are due.",
    )
    .at(&[ToolRoute::get("/api/v1/tasks")]),
    gets::<Task>("task_get", "Get a task", "Returns one task with its history.")
        .at(&[ToolRoute::get("/api/v1/tasks/{task_id}")]),
    PlatformToolSpec {
        input_schema: Some(schemas::one_and_result::<Task>),
        handler: Some(change::complete),
        ..changes(
            "task_complete",
            "Complete a task",
            "Marks a task as done, or the latest occurrence of a recurring task. Use it when the work is finished; or with the status \
            cancelled, which ends the whole task, when it is not wanted any more.",
        )
        .at(&[ToolRoute::post("/api/v1/tasks/{task_id}/complete")])
    },
    PlatformToolSpec {
        handler: Some(change::skip_next),
        ..changes("task_skip_next", "Skip an occurrence", "Leaves out the next occurrence of a recurring task.")
            .at(&[ToolRoute::post("/api/v1/tasks/{task_id}/skip-next")])
    },
    PlatformToolSpec {
        effect: Some(ToolEffect::Destroys),
        handler: Some(change::end_recurrence),
        ..changes("task_end_recurrence", "End a recurrence", "Ends a recurring task: it has no more occurrences.")
            .at(&[ToolRoute::post("/api/v1/tasks/{task_id}/end-recurrence")])
    },
    deletes::<Task>("task_delete", "Delete a task", "Deletes a task with its history. It has no more occurrences.")
        .at(&[ToolRoute::delete("/api/v1/tasks/{task_id}")]),
];

/// A tool that changes the state of a task.
const fn changes(name: &'static str, title: &'static str, description: &'static str) -> PlatformToolSpec {
    PlatformToolSpec {
        effect: Some(ToolEffect::Idempotent),
        input_schema: Some(schemas::one::<Task>),
        output_schema: Some(schemas::item::<Task>),
        ..of::<Task>(name, title, description)
    }
}
