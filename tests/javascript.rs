//! Tools in JavaScript and TypeScript, from push to replay. They need esbuild: `LATHE_ESBUILD` names it, or it is in `PATH`.

mod bundler;
mod errors;
mod hostile;
mod node;
mod others;
mod packages;
mod platform;
mod refusals;
mod requests;
mod stopped;
mod values;

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{Options, Server, Team, Tool, needs};

/// The lines around the body of each tool.
const PARAMETERS: &str = "{ toolInput, metadata, config, conversation, sendStatusEvent, userVariables, content, interaction, log, callTool }";

/// A server that builds JavaScript and lets tools reach loopback; `None` without esbuild.
pub fn server(options: Options) -> Option<Arc<Server>> {
    let mut environment = vec![("LATHE_ESBUILD".to_owned(), esbuild()?)];
    environment.extend(options.environment);
    let arguments = vec!["--egress-networks".to_owned(), "127.0.0.0/8,::1/128".to_owned()];
    Some(Server::private(&Options { environment, arguments, ..options }))
}

pub fn esbuild() -> Option<String> {
    let in_path = || {
        let path = std::env::var_os("PATH")?;
        let found =
            std::env::split_paths(&path).map(|directory| directory.join("esbuild")).find(|file| file.exists())?;
        found.into_os_string().into_string().ok()
    };
    let named = std::env::var("LATHE_ESBUILD").ok().filter(|named| Path::new(named).exists());
    needs::ESBUILD.require(named.or_else(in_path))
}

/// A project without Python files.
fn empty<'t>(team: &'t Team, name: &str, package: &Value) -> Tool<'t> {
    let mut whole = json!({"name": name, "type": "module"});
    whole.as_object_mut().expect("an object").extend(package.as_object().expect("an object").clone());
    let tool = team.tool(name).without_file("pyproject.toml").without_file("tool.py");
    tool.with_file("package.json", &serde_json::to_string_pretty(&whole).expect("JSON"))
}

/// A project in TypeScript whose entry point has this body.
pub fn typescript<'t>(team: &'t Team, name: &str, package: &Value, before: &str, body: &str) -> Tool<'t> {
    let text = format!("{before}\nexport async function runTool({PARAMETERS}: any) {{\n{body}\n}}\n");
    empty(team, name, package).with_file("index.ts", &text)
}
