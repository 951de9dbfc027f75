//! Grants on the command line: `PERMISSION`, or `PERMISSION if KEY OPERATOR VALUE and KEY OPERATOR VALUE`.
//!
//! This module splits the text; the server validates the words. A JSON file can hold what the text cannot express: a
//! tag's key with a space, a value with ` and `.

use api::wire::{Condition, Grant};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::text_input;

const HINT: &str = "give 'Tool:InvokeTool', or 'Tool:InvokeTool if tool_name startsWith search_', or use --file";

/// Reads grants into the JSON that the server expects.
pub fn read(texts: &[String], file: Option<&str>) -> anyhow::Result<Value> {
    match file {
        Some(file) => read_grants(file),
        None if texts.is_empty() => Err(Failure::usage("the role has no grants", HINT)),
        None => Ok(json!(texts.iter().map(|text| grant(text)).collect::<anyhow::Result<Vec<Grant>>>()?)),
    }
}

/// Writes a grant in the form that [`read`] reads.
pub fn grant_text(grant: &Grant) -> String {
    let text = |Condition { key, operator, value }: &Condition| format!("{key} {operator} {value}");
    let conditions: Vec<String> = grant.conditions.iter().map(text).collect();
    if conditions.is_empty() {
        return grant.permission.clone();
    }
    format!("{} if {}", grant.permission, conditions.join(" and "))
}

fn read_grants(file: &str) -> anyhow::Result<Value> {
    let text = match file {
        "-" => text_input::read_stdin()?,
        file => text_input::read_file(file.as_ref())?,
    };
    match registry::parse_json(text.as_bytes()) {
        Ok(grants @ Value::Array(_)) => Ok(grants),
        Ok(_) => Err(Failure::usage(
            format!("{file} is JSON, but not a list"),
            "give a list of grants: [{\"permission\": …}]",
        )),
        Err(error) => Err(Failure::usage(format!("{file} is not JSON: {error}"), "give a list of grants")),
    }
}

fn grant(text: &str) -> anyhow::Result<Grant> {
    let (permission, conditions) = match text.split_once(" if ") {
        Some((permission, conditions)) => {
            (permission, conditions.split(" and ").map(parse_condition).collect::<Result<_, _>>()?)
        }
        None => (text, Vec::new()),
    };
    Ok(Grant { permission: permission.trim().to_owned(), conditions })
}

fn parse_condition(text: &str) -> anyhow::Result<Condition> {
    let mut words = text.trim().splitn(3, ' ').map(str::to_owned);
    match (words.next(), words.next(), words.next()) {
        (Some(key), Some(operator), Some(value)) => Ok(Condition { key, operator, value }),
        _ => Err(Failure::usage(format!("`{text}` is not a condition of the form KEY OPERATOR VALUE"), HINT)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let texts = ["Tool:GetTool", "Tool:InvokeTool if tool_name startsWith search_ and tag.team equal red blue"];
        let read = read(&texts.map(str::to_owned), None).expect("grants");
        let conditions = json!([
            {"key": "tool_name", "operator": "startsWith", "value": "search_"},
            {"key": "tag.team", "operator": "equal", "value": "red blue"}
        ]);
        let expected = json!([
            {"permission": "Tool:GetTool", "conditions": []},
            {"permission": "Tool:InvokeTool", "conditions": conditions}
        ]);
        assert_eq!(read, expected);
        let shown: Vec<Grant> = serde_json::from_value(read).expect("grants");
        assert_eq!(shown.iter().map(grant_text).collect::<Vec<_>>(), texts);
    }

    #[test]
    fn a_malformed_condition_is_refused() {
        for text in ["Tool:InvokeTool if tool_name", "Tool:InvokeTool if a equal b and c"] {
            assert!(grant(text).is_err(), "{text}");
        }
        assert!(read(&[], None).is_err());
    }
}
