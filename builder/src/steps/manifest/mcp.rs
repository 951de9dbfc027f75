//! The table `mcp`: what MCP clients see besides a tool, and when tasks begin.

use registry::{McpSettings, ResourceUri, TaskSupport};
use serde_json::Value;

use super::fields::{Fields, Located, STAGE};
use crate::error::Error;
use crate::text::show;

/// Reads what MCP clients see. A tool with APIs is neither a prompt nor a resource: which of them would it be?
pub fn read(mut mcp: Fields, task_support: TaskSupport, has_apis: bool) -> Result<McpSettings, Error> {
    let form = ["prompt", "resource"].iter().find_map(|key| Some((key, mcp.find_line(key)?)));
    if let Some((key, line)) = form.filter(|_| has_apis) {
        return Err(mcp.refuse(key, line, "must not be beside `apis`: it is for tools of one function"));
    }
    let prompt = mcp.take_flag("prompt")?.is_some_and(|found| found.value);
    let resource = match mcp.take_text("resource")? {
        Some(Located { line, value }) => {
            let refused = |error: registry::InvalidValue| mcp.refuse("resource", line, error.reason);
            Some(ResourceUri::parse(&value).map_err(refused)?)
        }
        None => None,
    };
    if let Some((key, line)) = form.filter(|_| task_support == TaskSupport::Required) {
        return Err(mcp.refuse(
            key,
            line,
            "must not be beside `tasks = \"required\"`: prompts and resources are read without a task",
        ));
    }
    let ask_first = mcp.take_flag("ask_first")?;
    match ask_first.as_ref().filter(|found| found.value && task_support.is_never()) {
        Some(Located { line, .. }) => Err(mcp.refuse("ask_first", *line, "has no effect without `tasks`")),
        None => {
            let ask_first = ask_first.is_some_and(|found| found.value);
            mcp.finish().map(|()| McpSettings { prompt, resource, ask_first })
        }
    }
}

/// Refuses forms whose clients cannot call the tool. The values of a URI and the arguments of a prompt are texts.
///
/// # Errors
/// When the input schema refuses a variable, or requires an argument that the clients cannot give.
pub fn check_mcp(forms: &McpSettings, input_schema: &Value) -> Result<(), Error> {
    let refused = |key: &str, problem: &str, name: &str| {
        Err(Error::failed(STAGE, "mcp", format!("mcp.{key}: {problem} {}", show(name))))
    };
    let properties = &input_schema["properties"];
    let required = || input_schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(uri) = &forms.resource {
        if let Some(unknown) = uri.variables().find(|name| properties.get(name).is_none()) {
            return refused("resource", "the input schema has no argument for the variable", unknown);
        }
        if let Some(missing) = required().find(|name| uri.variables().all(|variable| variable != *name)) {
            return refused("resource", "the URI has no variable for the required argument", missing);
        }
    }
    let given_as_text = || list_uri_variables(forms).chain(required().filter(|_| forms.prompt));
    match given_as_text().find(|name| !may_be_text(&properties[*name])) {
        Some(other) => {
            refused("prompt and mcp.resource", "clients give texts, which the input schema refuses for", other)
        }
        None => Ok(()),
    }
}

fn list_uri_variables(forms: &McpSettings) -> impl Iterator<Item = &str> {
    forms.resource.iter().flat_map(ResourceUri::variables)
}

/// Whether a schema may accept a text. A schema without `type` is not looked into.
fn may_be_text(schema: &Value) -> bool {
    match &schema["type"] {
        Value::String(kind) => kind == "string",
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "string"),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::{assert_refused, parse};
    use super::*;

    fn lathe(lines: &str) -> String {
        format!("[project]\nname = 'w'\n[tool.lathe.mcp]\n{lines}\n")
    }

    fn forms(prompt: bool, resource: Option<&str>) -> McpSettings {
        McpSettings { prompt, resource: resource.map(|uri| ResourceUri::parse(uri).unwrap()), ask_first: false }
    }

    #[test]
    fn a_tool_may_be_a_prompt_and_a_resource() {
        assert_eq!(parse(&lathe("")).unwrap().mcp, McpSettings::default());
        let both = parse(&lathe("prompt = true\nresource = 'test://{id}'")).unwrap();
        assert_eq!(both.mcp, forms(true, Some("test://{id}")));
        let with_apis =
            "[project]\nname = 'w'\n[tool.lathe.apis.a]\ndescription = 'A.'\n[tool.lathe.mcp]\nprompt = true\n";
        assert_refused(with_apis, "pyproject.toml:6: tool.lathe.mcp.prompt must not be beside `apis`");
        assert_refused(&lathe("ask_first = true"), "pyproject.toml:4: tool.lathe.mcp.ask_first has no effect");
        let asks = "[project]\nname = 'w'\n[tool.lathe]\ntasks = 'optional'\n[tool.lathe.mcp]\nask_first = true\n";
        assert!(parse(asks).unwrap().mcp.ask_first);
        assert_refused(&lathe("prompt = 1"), "pyproject.toml:4: tool.lathe.mcp.prompt must be a boolean");
        assert_refused(&lathe("resource = 'x'"), "pyproject.toml:4: tool.lathe.mcp.resource must be a URI");
        assert_refused(&lathe("resources = 'x:y'"), "tool.lathe.mcp.resources");
    }

    #[test]
    fn clients_must_be_able_to_call_the_tool() {
        let schema =
            json!({"properties": {"id": {"type": "string"}, "count": {"type": "integer"}}, "required": ["id"]});
        let counted = json!({"properties": {"count": {"type": ["integer", "null"]}}, "required": ["count"]});
        for (forms, schema) in [
            (forms(true, Some("t:{id}")), &schema),
            (forms(true, Some("t:x")), &json!({"properties": {"a": {}}})),
            (forms(true, None), &json!({"properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]})),
            (forms(false, None), &counted),
        ] {
            assert!(check_mcp(&forms, schema).is_ok(), "{forms:?}");
        }
        for (forms, schema, problem) in [
            (forms(false, Some("t:{name}")), &schema, "no argument for the variable name"),
            (forms(false, Some("t:x")), &schema, "no variable for the required argument id"),
            (forms(false, Some("t:{id}/{count}")), &schema, "refuses for count"),
            (forms(true, None), &counted, "refuses for count"),
        ] {
            let error = check_mcp(&forms, schema).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
