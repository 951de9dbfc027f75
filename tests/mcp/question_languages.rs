//! Questions of tools in JavaScript and Rust.

use serde_json::{Value, json};

use super::client::Gateway;
use super::questions::{Dialogue, text};
use crate::harness::{Options, Team};
use crate::rust::{machine, project::Project};
use crate::{javascript, replay};

const TYPESCRIPT: &str = "
    const form = { kind: 'form' as const, message: 'Your name?', properties: { name: { type: 'string' } }, required: ['name'] };
    const { name, poem } = await interaction.requestInputs({ name: form, poem: { kind: 'sampling', messages: 'A poem', maxTokens: 5 } });
    try {
      await interaction.requestInput('a key', form);
    } catch (error: any) {
      return `${error.name} ${error.code} ${name.accepted} ${name.content.name} ${(poem.content as any).text}`;
    }
    return 'no error';
";

const RUST: &str = "#[derive(Deserialize, JsonSchema)]
struct Input {}

fn run_tool(_: Input, context: &Context) -> Result<String, Error> {
    use lathe::{Question, json};

    let form = Question::form(\"Your name?\", json!({\"name\": {\"type\": \"string\"}})).required(&[\"name\"]);
    let poem = Question::sampling(\"A poem\", 5);
    let results = context.request_inputs(&[(\"name\", form.clone()), (\"poem\", poem)])?;
    let refused = context.request_input(\"a key\", &form).unwrap_err();
    let name = results[0].field(\"name\").and_then(|name| name.as_str()).unwrap_or_default();
    Ok(format!(\"{:?} {} {name} {}\", refused.code, results[0].is_accepted(), results[1].text().unwrap_or_default()))
}
";

/// Calls a tool, answers its two questions, and returns its text.
fn answered(team: &Team, tool: &str) -> String {
    let gateway = Gateway::new(team, "tools", &[tool]);
    let call = Dialogue::new(&gateway, tool);
    let asked = call.ask(json!({}));
    assert_eq!(asked["inputRequests"]["name"]["params"]["requestedSchema"]["required"], json!(["name"]), "{asked}");
    let poem = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "Roses"}});
    let name = json!({"action": "accept", "content": {"name": "Ada"}});
    let done: Value = call.answer(&asked, json!({"name": name, "poem": poem}));
    replay::identical(team, done["result"]["_meta"]["dev.lathe/invocationId"].as_str().unwrap());
    text(&done).to_owned()
}

#[test]
fn a_typescript_tool_asks() {
    let Some(server) = javascript::server(Options::default()) else { return };
    let team = Team::on(&server);
    javascript::typescript(&team, "greets", &json!({}), "", TYPESCRIPT).published();
    assert_eq!(answered(&team, "greets"), "InputRefused invalid true Ada Roses");
}

#[test]
fn a_rust_tool_asks() {
    let Some(server) = machine::server() else { return };
    let team = Team::on(&server);
    let tool = Project::new(&team).source(RUST).published();
    let world = tool.version("1.0.0")["settings"]["world"]["imports"].to_string();
    assert!(world.contains("lathe:tool/interaction@0.1.0") && !world.contains("lathe:tool/log@"), "{world}");
    assert_eq!(answered(&team, &tool.name), "ErrorCode::Invalid true Ada Roses");
}
