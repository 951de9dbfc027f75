//! `lathe task`: work that is due at a time, once or again and again.

use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::family::{AmountArguments, Family, ItemArguments, ScopeArguments, ShowArguments, list_given_fields};
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::Screen;

const TASKS: Family = Family {
    noun: "task",
    plural: "tasks",
    list_command: "`lathe task list`",
    path: "tasks",
    id: "task_id",
    key: None,
    columns: ["status", "due_at", "description"],
    content: "description",
};

#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// Create a task
    Create(CreateArguments),
    /// List tasks, newest first; those with the status fired are due
    List(TaskListArguments),
    /// Show a task with its history
    Show(ShowArguments),
    /// Complete a task, or the latest occurrence of a recurring task
    Complete(CompleteArguments),
    /// Cancel a task; a recurring task has no more occurrences
    Cancel(CancelArguments),
    /// Leave out the next occurrence of a recurring task
    SkipNext(ItemArguments),
    /// End a recurring task; its latest occurrence can still be completed
    EndRecurrence(ItemArguments),
    /// Delete a task with its history
    Delete(ItemArguments),
}

#[derive(Debug, Args)]
pub struct CreateArguments {
    #[command(flatten)]
    fields: TaskFields,
    #[command(flatten)]
    scope: ScopeArguments,
}

#[derive(Debug, Args, Serialize)]
struct TaskFields {
    /// The work, in words that are understood without the conversation
    #[arg(value_name = "TEXT")]
    description: String,
    /// When the task is due: 2026-12-24T09:00 in the time zone, or with an offset; of a recurring task, the first time
    #[arg(long, value_name = "TIME")]
    due_at: Option<String>,
    /// Cron expression with five fields: '0 9 * * 1-5' is every working day at nine
    #[arg(long, value_name = "EXPRESSION")]
    cron: Option<String>,
    /// Interval at which the task recurs
    #[arg(long, value_parser = ["daily", "weekly", "monthly"], conflicts_with = "cron")]
    recurrence: Option<String>,
    /// Time zone, such as Europe/Berlin [default: UTC]
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
    /// Priority
    #[arg(long, value_parser = ["low", "medium", "high", "urgent"])]
    priority: Option<String>,
}

#[derive(Debug, Args)]
pub struct TaskListArguments {
    /// Only tasks with this status
    #[arg(long, value_parser = ["open", "fired", "done", "failed", "cancelled"])]
    status: Option<String>,
    #[command(flatten)]
    amount: AmountArguments,
}

#[derive(Debug, Args)]
pub struct CompleteArguments {
    #[command(flatten)]
    item: ItemArguments,
    /// What was done, or where the result is
    #[arg(long, value_name = "TEXT")]
    result: Option<String>,
}

#[derive(Debug, Args)]
pub struct CancelArguments {
    #[command(flatten)]
    item: ItemArguments,
    /// Why the work is not wanted any more
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub async fn run(command: TaskCommand, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        TaskCommand::Create(CreateArguments { fields: given, scope }) => {
            let created = TASKS.items(client, &scope).create(list_given_fields(&given)?).await?;
            TASKS.confirm("created", &created, screen)
        }
        TaskCommand::List(TaskListArguments { status, amount }) => {
            let filter: Vec<_> = status.map(|status| ("status", status)).into_iter().collect();
            TASKS.list(client, &amount, &filter, screen).await
        }
        TaskCommand::Show(arguments) => TASKS.show(client, &arguments, screen).await,
        TaskCommand::Complete(CompleteArguments { item, result }) => {
            let change = Change { operation: "complete", done: "completed", fields: build_end("done", result) };
            change.make(client, &item, screen).await
        }
        TaskCommand::Cancel(CancelArguments { item, reason }) => {
            let change = Change { operation: "complete", done: "cancelled", fields: build_end("cancelled", reason) };
            change.make(client, &item, screen).await
        }
        TaskCommand::SkipNext(item) => {
            let change = Change { operation: "skip-next", done: "left out the next occurrence of", fields: Map::new() };
            change.make(client, &item, screen).await
        }
        TaskCommand::EndRecurrence(item) => {
            let change = Change { operation: "end-recurrence", done: "ended the recurrence of", fields: Map::new() };
            change.make(client, &item, screen).await
        }
        TaskCommand::Delete(arguments) => TASKS.delete(client, &arguments, screen).await,
    }
}

/// A change of the state of a task.
struct Change {
    operation: &'static str,
    done: &'static str,
    fields: Map<String, Value>,
}

impl Change {
    async fn make(self, client: &Client, item: &ItemArguments, screen: Screen) -> anyhow::Result<Outcome> {
        let (task, said) = TASKS.act(client, item, self.operation, self.done, self.fields).await?;
        screen.answer(&task, || said)
    }
}

fn build_end(status: &str, result: Option<String>) -> Map<String, Value> {
    let result = result.map(|result| ("result".to_owned(), json!(result)));
    [("status".to_owned(), json!(status))].into_iter().chain(result).collect()
}
