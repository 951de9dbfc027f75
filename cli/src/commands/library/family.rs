//! What the commands of all families share: lists, items, deletions.

use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::content::decode;
use crate::client::{Client, Items};
use crate::failure::{Failure, Outcome};
use crate::output::{Screen, cut_to_second, escape_hidden, print_bytes, render_table};

/// Fields that the text of an item leaves out. `--json` prints them.
const HIDDEN: [&str; 4] = ["provenance", "owner", "app_id", "starts_at"];

/// The message about an item without the version that is wanted.
const VERSION_MISSING: &str = "version not found";

/// A family of the Library on the command line.
pub struct Family {
    /// The command, which is the name of one item: `memory`.
    pub noun: &'static str,
    /// The name of several items.
    pub plural: &'static str,
    /// The command that lists them, for messages.
    pub list_command: &'static str,
    /// The path below `/api/v1`.
    pub path: &'static str,
    /// The field with the id of an item.
    pub id: &'static str,
    /// The field with a name that is unique among the items of a user.
    pub key: Option<&'static str>,
    /// The fields that lists show: two short ones, and a text.
    pub columns: [&'static str; 3],
    /// The field that is shown below the others.
    pub content: &'static str,
}

/// The options of all commands.
#[derive(Debug, Args)]
pub struct ScopeArguments {
    /// Items of this application, instead of those outside of all applications
    #[arg(long, value_name = "APPLICATION")]
    app: Option<String>,
}

#[derive(Debug, Args)]
pub struct ListArguments {
    /// Only items with this tag; repeatable
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    #[command(flatten)]
    pub amount: AmountArguments,
}

#[derive(Debug, Args)]
pub struct AmountArguments {
    /// Maximum number of items
    #[arg(long, default_value_t = 50, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    scope: ScopeArguments,
}

#[derive(Debug, Args)]
pub struct ItemArguments {
    /// The item's id, or its name in a family with names
    #[arg(value_name = "ITEM")]
    item: String,
    #[command(flatten)]
    scope: ScopeArguments,
}

#[derive(Debug, Args)]
pub struct ShowArguments {
    #[command(flatten)]
    item: ItemArguments,
    /// Print the content alone, byte for byte
    #[arg(long)]
    content: bool,
}

#[derive(Debug, Args)]
pub struct VersionedShowArguments {
    #[command(flatten)]
    show: ShowArguments,
    /// Show the item as it was in this revision
    #[arg(long, value_name = "REVISION", value_parser = clap::value_parser!(u32).range(1..))]
    version: Option<u32>,
}

impl AmountArguments {
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    pub const fn scope(&self) -> &ScopeArguments {
        &self.scope
    }
}

impl ListArguments {
    pub fn build_filter(&self) -> Vec<(&'static str, String)> {
        self.tags.iter().map(|tag| ("tags", tag.clone())).collect()
    }
}

/// Returns the fields of an item that are given. Options that are not given and empty lists are left out.
pub fn list_given_fields(arguments: &impl Serialize) -> anyhow::Result<Map<String, Value>> {
    let Value::Object(mut fields) = serde_json::to_value(arguments)? else { return Ok(Map::new()) };
    fields.retain(|_, value| !value.is_null() && value.as_array().is_none_or(|items| !items.is_empty()));
    Ok(fields)
}

impl Family {
    pub fn items<'a>(&self, client: &'a Client, scope: &'a ScopeArguments) -> Items<'a> {
        Items { client, family: self.path, application: scope.app.as_deref() }
    }

    pub async fn list(
        &self,
        client: &Client,
        amount: &AmountArguments,
        filter: &[(&'static str, String)],
        screen: Screen,
    ) -> anyhow::Result<Outcome> {
        let listed = self.items(client, &amount.scope).list(filter, usize::try_from(amount.limit)?).await;
        let (items, has_more) = listed?;
        if screen.is_json() {
            return screen.print_document(&json!({"items": items, "has_more": has_more}));
        }
        self.show_table(&items, screen)?;
        if has_more {
            screen.note(format!("there are more {}; raise --limit", self.plural));
        }
        Ok(Outcome::Done)
    }

    pub fn show_table(&self, items: &[Value], screen: Screen) -> anyhow::Result<()> {
        if items.is_empty() {
            screen.note(format!("no {}", self.plural));
            return Ok(());
        }
        let [first, second, text] = self.columns;
        let row = |item: &Value| {
            let cell = |field: &str| render_value(&item[field]);
            [cell(self.id), cell(first), cell(second), cut_to_second(&cell("updated_at")), cell(text)]
        };
        screen.print_line(render_table(["id", first, second, "changed", text], items.iter().map(row)))
    }

    pub async fn show(&self, client: &Client, arguments: &ShowArguments, screen: Screen) -> anyhow::Result<Outcome> {
        self.show_with(client, arguments, &[], screen).await
    }

    pub async fn show_version(
        &self,
        client: &Client,
        arguments: &VersionedShowArguments,
        screen: Screen,
    ) -> anyhow::Result<Outcome> {
        let query: Vec<_> = arguments.version.map(|version| ("version", version.to_string())).into_iter().collect();
        self.show_with(client, &arguments.show, &query, screen).await
    }

    pub async fn show_with(
        &self,
        client: &Client,
        arguments: &ShowArguments,
        query: &[(&'static str, String)],
        screen: Screen,
    ) -> anyhow::Result<Outcome> {
        let ItemArguments { item, scope } = &arguments.item;
        let items = self.items(client, scope);
        let id = self.find_id(&items, item).await?;
        let shown = self.name_missing(items.show(&id, query).await, item)?;
        if arguments.content && !screen.is_json() {
            let content = render_value(&shown[self.content]);
            let is_base64 = shown["content_encoding"] == "base64";
            print_bytes(&if is_base64 { decode(&content)? } else { content.into_bytes() })?;
            return Ok(Outcome::Done);
        }
        self.show_item(&shown, screen)
    }

    pub fn show_item(&self, item: &Value, screen: Screen) -> anyhow::Result<Outcome> {
        screen.answer(item, || escape_hidden(&self.render_item(item)))
    }

    /// Says that an item was created or changed.
    pub fn confirm(&self, what: &str, item: &Value, screen: Screen) -> anyhow::Result<Outcome> {
        let name = self.key.map(|key| render_value(&item[key])).filter(|name| !name.is_empty());
        let id = render_value(&item[self.id]);
        let warnings = item["warnings"].as_array().into_iter().flatten();
        warnings.for_each(|warning| screen.note(format!("warning: {}", render_value(warning))));
        screen.answer(item, || match name {
            Some(name) => format!("{what} {name} ({id})"),
            None => format!("{what} {id}"),
        })
    }

    pub async fn edit(
        &self,
        client: &Client,
        arguments: &ItemArguments,
        fields: Map<String, Value>,
        screen: Screen,
    ) -> anyhow::Result<Outcome> {
        if fields.is_empty() {
            let hint = format!("--help lists the fields of a {}", self.noun);
            return Err(Failure::usage("nothing to change", hint));
        }
        let ItemArguments { item, scope } = arguments;
        let items = self.items(client, scope);
        let id = self.find_id(&items, item).await?;
        let changed = self.name_missing(items.edit(&id, fields).await, item)?;
        self.confirm("changed", &changed, screen)
    }

    pub async fn delete(&self, client: &Client, arguments: &ItemArguments, screen: Screen) -> anyhow::Result<Outcome> {
        let ItemArguments { item, scope } = arguments;
        let items = self.items(client, scope);
        let id = self.find_id(&items, item).await?;
        let deleted = self.name_missing(items.delete(&id).await, item)?;
        screen.answer(&deleted, || format!("deleted {item}"))
    }

    /// Calls an operation on an item, and says what it did.
    pub async fn act(
        &self,
        client: &Client,
        arguments: &ItemArguments,
        operation: &str,
        done: &str,
        fields: Map<String, Value>,
    ) -> anyhow::Result<(Value, String)> {
        let ItemArguments { item, scope } = arguments;
        let items = self.items(client, scope);
        let id = self.find_id(&items, item).await?;
        let changed = self.name_missing(items.act(&id, operation, fields).await, item)?;
        Ok((changed, format!("{done} {item}")))
    }

    /// Returns the id of an item. A name can have the form of an id; the id wins, since scripts store ids.
    async fn find_id(&self, items: &Items<'_>, item: &str) -> anyhow::Result<String> {
        let Some(key) = self.key.filter(|_| !is_id(item)) else { return Ok(item.to_owned()) };
        let (listed, _) = items.list(&[], usize::MAX).await?;
        let found = listed.iter().find(|listed| listed[key] == item);
        let id = found.and_then(|found| found[self.id].as_str()).map(str::to_owned);
        id.ok_or_else(|| self.explain_missing(item))
    }

    /// Names the item that a 404 is about.
    pub fn name_missing<T>(&self, answer: anyhow::Result<T>, item: &str) -> anyhow::Result<T> {
        answer.map_err(|error| match error.downcast_ref::<Failure>() {
            Some(Failure::Server { status: 404, detail, .. }) if detail != VERSION_MISSING => {
                self.explain_missing(item)
            }
            _ => error,
        })
    }

    fn explain_missing(&self, item: &str) -> anyhow::Error {
        let hint = format!("{} lists yours; --app names an application", self.list_command);
        Failure::coded("not_found", format!("there is no {} `{item}`", self.noun), hint)
    }

    /// Returns the fields of an item, one on each line, and its content below.
    fn render_item(&self, item: &Value) -> String {
        let fields: Vec<_> = item.as_object().into_iter().flatten().collect();
        let is_shown = |name: &str, value: &Value| {
            let is_empty = value.is_null() || *value == json!([]);
            !is_empty && name != self.content && !HIDDEN.contains(&name)
        };
        let shown: Vec<_> = fields.into_iter().filter(|(name, value)| is_shown(name, value)).collect();
        let width = shown.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
        let lines: Vec<String> =
            shown.iter().map(|(name, value)| format!("{name:width$}  {}", render_value(value))).collect();
        format!("{}\n\n{}", lines.join("\n"), render_value(&item[self.content])).trim_end().to_owned()
    }
}

/// Returns a value as text: lists of words with commas, others as JSON.
fn render_value(value: &Value) -> String {
    let word = |value: &Value| value.as_str().map(str::to_owned);
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items
            .iter()
            .map(word)
            .collect::<Option<Vec<_>>>()
            .map_or_else(|| value.to_string(), |words| words.join(", ")),
        other => other.to_string(),
    }
}

/// Whether a text has the form of an id.
fn is_id(text: &str) -> bool {
    text.len() == 24 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_are_not_given_are_left_out() {
        #[derive(Serialize)]
        struct Arguments {
            kind: Option<&'static str>,
            summary: Option<&'static str>,
            tags: Vec<&'static str>,
        }
        let given =
            list_given_fields(&Arguments { kind: Some("fact"), summary: None, tags: Vec::new() }).expect("fields");
        assert_eq!(Value::Object(given), json!({"kind": "fact"}));
    }

    #[test]
    fn values_are_shown_as_text() {
        for (value, text) in
            [(json!(null), ""), (json!("a"), "a"), (json!(["a", "b"]), "a, b"), (json!([1]), "[1]"), (json!(2), "2")]
        {
            assert_eq!(render_value(&value), text);
        }
    }
}
