//! `lathe rule`: what agents must, must not or should do.

use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::content::ContentArguments;
use super::family::{AmountArguments, Family, ItemArguments, ScopeArguments, ShowArguments, list_given_fields};
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::Screen;

const RULES: Family = Family {
    noun: "rule",
    plural: "rules",
    list_command: "`lathe rule list`",
    path: "rules",
    id: "rule_id",
    key: None,
    columns: ["category", "severity", "description"],
    content: "content",
};

const CATEGORIES: [&str; 3] = ["must", "must-not", "should"];
const SEVERITIES: [&str; 4] = ["critical", "high", "medium", "low"];

#[derive(Debug, Subcommand)]
pub enum RuleCommand {
    /// Create a rule
    Create(CreateArguments),
    /// List rules, newest first
    List(RuleListArguments),
    /// Show a rule
    Show(ShowArguments),
    /// Change a rule; what is not given stays as it is
    Edit(EditArguments),
    /// Delete a rule
    Delete(ItemArguments),
}

#[derive(Debug, Args)]
pub struct CreateArguments {
    /// The rule itself, as the agent reads it
    #[arg(value_name = "TEXT", conflicts_with_all = ["content", "file"])]
    text: Option<String>,
    #[command(flatten)]
    content: ContentArguments,
    /// What the rule is about [default: the rule]
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Category of the rule
    #[arg(long, value_parser = CATEGORIES)]
    category: String,
    /// Severity of the rule
    #[arg(long, value_parser = SEVERITIES, default_value = "medium")]
    severity: String,
    #[command(flatten)]
    fields: RuleFields,
    #[command(flatten)]
    scope: ScopeArguments,
}

#[derive(Debug, Args)]
pub struct EditArguments {
    #[command(flatten)]
    item: ItemArguments,
    #[command(flatten)]
    content: ContentArguments,
    #[command(flatten)]
    changes: RuleChanges,
    #[command(flatten)]
    fields: RuleFields,
}

#[derive(Debug, Args, Serialize)]
struct RuleChanges {
    /// New description
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// New category
    #[arg(long, value_parser = CATEGORIES)]
    category: Option<String>,
    /// New severity
    #[arg(long, value_parser = SEVERITIES)]
    severity: Option<String>,
}

#[derive(Debug, Args)]
struct RuleFields {
    /// Enforcement: in the instructions of models, as a gate before calls of --tool, or both
    #[arg(long, value_name = "MODE", value_parser = ["inject", "gate", "both"])]
    enforcement: Option<String>,
    /// Level that states the rule
    #[arg(long, value_parser = ["system", "org", "user", "agent"])]
    level: Option<String>,
    /// Tool to which the rule applies
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Word of an objective with which the rule applies; repeatable
    #[arg(long = "keyword", value_name = "WORD")]
    keywords: Vec<String>,
    /// Whether the rule counts
    #[arg(long, value_name = "BOOLEAN")]
    enabled: Option<bool>,
}

#[derive(Debug, Args)]
pub struct RuleListArguments {
    /// Only rules of this category
    #[arg(long, value_parser = CATEGORIES)]
    category: Option<String>,
    /// Only rules that count
    #[arg(long)]
    enabled: bool,
    #[command(flatten)]
    amount: AmountArguments,
}

impl RuleFields {
    /// Adds the fields that are given. Triggers replace those of the rule.
    fn add_to(&self, fields: &mut Map<String, Value>) {
        let triggers = match (&self.tool, &self.keywords[..]) {
            (None, []) => None,
            (None, keywords) => Some(json!({ "keywords": keywords })),
            (Some(tool), keywords) => Some(json!({"tool_name": tool, "keywords": keywords})),
        };
        let given = [
            ("enforcement_mode", self.enforcement.as_ref().map(|mode| json!(mode))),
            ("level", self.level.as_ref().map(|level| json!(level))),
            ("enabled", self.enabled.map(Value::Bool)),
            ("triggers", triggers),
        ];
        fields.extend(given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    }
}

pub async fn run(command: RuleCommand, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        RuleCommand::Create(arguments) => create(client, arguments, screen).await,
        RuleCommand::List(RuleListArguments { category, enabled, amount }) => {
            let filter = category.map(|category| ("category", category));
            let filter: Vec<_> =
                filter.into_iter().chain(enabled.then(|| ("enabled_only", "true".to_owned()))).collect();
            RULES.list(client, &amount, &filter, screen).await
        }
        RuleCommand::Show(arguments) => RULES.show(client, &arguments, screen).await,
        RuleCommand::Edit(EditArguments { item, content, changes, fields: given }) => {
            let mut fields = list_given_fields(&changes)?;
            given.add_to(&mut fields);
            fields.extend(content.read()?.map(|content| ("content".to_owned(), json!(content))));
            RULES.edit(client, &item, fields, screen).await
        }
        RuleCommand::Delete(arguments) => RULES.delete(client, &arguments, screen).await,
    }
}

async fn create(client: &Client, arguments: CreateArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let CreateArguments { text, content, description, category, severity, fields: given, scope } = arguments;
    let content = match text.as_deref() {
        Some("-") | None => content.require_or_stdin(text.is_some())?,
        Some(text) => text.to_owned(),
    };
    let description = description.unwrap_or_else(|| content.clone());
    let texts = [("content", content), ("description", description), ("category", category), ("severity", severity)];
    let mut fields: Map<String, Value> =
        texts.into_iter().map(|(name, text)| (name.to_owned(), Value::String(text))).collect();
    given.add_to(&mut fields);
    let created = RULES.items(client, &scope).create(fields).await?;
    RULES.confirm("created", &created, screen)
}
