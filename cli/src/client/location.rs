//! The argument of the command line that a value of a request came from.

use serde_json::Value;

/// An argument by its name on the command line, and the next step if its value is refused.
struct Argument {
    name: &'static str,
    hint: Option<&'static str>,
}

/// Returns the argument's name for the location of a problem, such as `["body", "commit_branch"]`, with the names of the parts
/// below the argument.
pub fn find_argument_name(location: &[Value]) -> String {
    let Some((argument, rest)) = find_argument(location) else { return render_location(location) };
    let number = match (argument.name, rest.first().and_then(Value::as_u64)) {
        ("--input" | "--grant", Some(index)) => format!(" {}", index + 1),
        _ => String::new(),
    };
    let below: String =
        list_names(rest).filter(|name| *name != "input_parameters").map(|name| format!(" {name}")).collect();
    format!("{}{number}{below}", argument.name)
}

/// Returns the next step for the location of a problem.
pub fn find_hint(location: &[Value]) -> Option<&'static str> {
    find_argument(location)?.0.hint
}

/// The argument, and the location within its value.
fn find_argument(location: &[Value]) -> Option<(Argument, &[Value])> {
    let (place, fields) = location.split_first()?;
    let (field, rest) = fields.split_first()?;
    let (name, hint) = match (place.as_str()?, field.as_str()?) {
        ("body", "inserts" | "updates" | "deletes") => {
            let name = if list_names(rest).any(|name| name == "value") { "VALUE" } else { "NAME" };
            return Some((Argument { name, hint: Some("a variable has a name such as API_KEY") }, &[]));
        }
        ("body", "name") => ("NAME", Some("choose another name")),
        ("body", "description") => ("--description", None),
        ("body", "tags") | ("query", "tag") => ("--tag", None),
        ("body", "commit_branch") => ("--branch", Some("name a pushed branch")),
        ("body", "project_path") => {
            ("--path", Some("name the project's directory in the repository, such as tools/greet"))
        }
        ("body", "inputs") => ("--input", None),
        ("body", "required_envvars") => ("--envvar", None),
        ("body", "required_secret_envvars") | ("query", "secret") => ("--secret", None),
        ("body", "gate") => ("--gate", None),
        ("body", "grants") => ("--grant", Some("`lathe role list` shows roles with their grants")),
        ("body", "expires_at") => ("--expires-at", None),
        ("body" | "path", "user_id") => ("USER", Some("`lathe user list` lists the users")),
        ("body", "role") | ("path", "role_name") => ("ROLE", Some("`lathe role list` lists the roles")),
        ("path" | "body", "version") | ("query", "version" | "versions") => (
            "VERSION",
            Some(
                "write 1.2.0, 1.2, 1, ^1.2 or '>=1.2,<2'; TOOL without a version stands for the newest live one in `lathe tool invoke`",
            ),
        ),
        ("path", "invocation_id") => {
            ("INVOCATION", Some("`lathe history list` lists the newest records with their ids"))
        }
        ("path", "human_request_id") => ("REQUEST", Some("`lathe inbox` lists the open requests with their ids")),
        ("body", "human_input") => ("TEXT", None),
        ("path", "build_id") => ("BUILD_ID", Some("a refused publish shows the id of its build")),
        ("path", "api_key_id") => ("ID", Some("`lathe key list` lists your keys with their ids")),
        ("path", "tool_id") | ("query", "tool_id") => ("TOOL", Some("`lathe tool list` lists the tools")),
        ("query", "origin") => ("--origin", None),
        ("query", "state") => ("--state", None),
        ("query", "user_id") => ("--user", None),
        ("query", "host") => ("--host", None),
        ("query", "refusal") => ("--refused", None),
        ("query", "conversation_id") => ("--conversation", None),
        ("query", "created_after") => ("--since", None),
        ("query", "created_before") => ("--before", None),
        ("query", "agent_run_id") => ("--run", None),
        ("path", "agent_run_id") => ("RUN", Some("`lathe run list` lists the runs with their ids")),
        ("query", "before") => ("--before", None),
        ("query", "milestone") => ("--milestone", None),
        ("body", "objective") => ("OBJECTIVE", None),
        ("body", "tools") => ("--tool", Some("`lathe agent tools AGENT` lists the tools of an agent")),
        ("body", "context") => ("--context", None),
        ("body", "model") => ("--model", None),
        ("body", "max_iterations") => ("--max-iterations", None),
        ("body", "max_tokens") => ("--max-tokens", None),
        ("body", "human_timeout_seconds") => ("--human-timeout", None),
        ("query", "query") => ("QUERY", None),
        _ => return None,
    };
    Some((Argument { name, hint }, rest))
}

fn list_names(location: &[Value]) -> impl Iterator<Item = &str> {
    location.iter().filter_map(Value::as_str)
}

/// A location that no argument has, as the server has it.
fn render_location(location: &[Value]) -> String {
    let part = |part: &Value| part.as_str().map_or_else(|| part.to_string(), str::to_owned);
    location.iter().map(part).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn locations_are_arguments() {
        let name = |location: Value| find_argument_name(location.as_array().expect("a list"));
        for (location, expected) in [
            (json!(["body", "commit_branch"]), "--branch"),
            (json!(["body", "inserts", 0, "name"]), "NAME"),
            (json!(["body", "updates", 0, "value"]), "VALUE"),
            (json!(["body", "inputs", 1, "input_parameters", "city"]), "--input 2 city"),
            (json!(["body", "tags", "team"]), "--tag team"),
            (json!(["body", "grants", 0, "permission"]), "--grant 1 permission"),
            (json!(["path", "version"]), "VERSION"),
            (json!(["path", "invocation_id"]), "INVOCATION"),
            (json!(["query", "origin", 0]), "--origin"),
            (json!(["body", "later", 0]), "body.later.0"),
            (json!(["body"]), "body"),
            (json!([]), ""),
        ] {
            assert_eq!(name(location), expected);
        }
    }
}
