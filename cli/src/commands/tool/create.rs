//! `lathe tool create`: registers a tool.

use clap::Args;
use serde_json::{Map, Value, json};

use crate::client::Client;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

#[derive(Debug, Args)]
pub struct CreateArguments {
    /// Name of the tool: lower-case letters, digits and _, at most 64 characters
    name: String,
    /// What the tool does, for users and for models that choose a tool
    #[arg(long)]
    description: String,
    /// Tag, with or without a value; up to twenty times
    #[arg(long = "tag", value_name = "KEY[=VALUE]")]
    tags: Vec<String>,
}

pub async fn run(client: &Client, arguments: &CreateArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let name = &arguments.name;
    let id = client.create_tool(name, &arguments.description, &read_tags(&arguments.tags)?).await?;
    screen.answer(&json!({"id": id, "name": name}), || format!("created {name} ({id})"))
}

fn read_tags(texts: &[String]) -> anyhow::Result<Map<String, Value>> {
    let mut tags = Map::new();
    for text in texts {
        let (key, value) = match text.split_once('=') {
            Some((key, value)) => (key, Value::from(value)),
            None => (text.as_str(), Value::Null),
        };
        if tags.insert(key.to_owned(), value).is_some() {
            return Err(Failure::usage(format!("the tag {key} is given twice"), "give each tag once"));
        }
    }
    Ok(tags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_may_have_no_value() {
        let tags = read_tags(&["team=sales".to_owned(), "beta".to_owned()]).expect("tags");
        assert_eq!(Value::Object(tags), json!({"team": "sales", "beta": null}));
        assert!(read_tags(&["a=1".to_owned(), "a".to_owned()]).is_err());
    }
}
