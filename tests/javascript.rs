//! Tools in JavaScript and TypeScript, from push to replay. They need esbuild: `LATHE_ESBUILD` names it, or it is in `PATH`.

mod errors;
mod hostile;
mod packages;
mod platform;
mod refusals;
mod requests;

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{Options, Server, Team, Tool};

/// What every tool of these tests has around its body.
const PARAMETERS: &str = "{ toolInput, metadata, config, conversation, sendStatusEvent, userVariables }";

/// A server that builds JavaScript, and whose tools may reach loopback; none where there is no esbuild.
fn server(options: Options) -> Option<Arc<Server>> {
    let Some(esbuild) = esbuild() else {
        eprintln!("there is no esbuild (LATHE_ESBUILD, or in PATH): JavaScript is not tried");
        return None;
    };
    let mut environment = vec![("LATHE_ESBUILD".to_owned(), esbuild)];
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
    std::env::var("LATHE_ESBUILD").ok().filter(|named| Path::new(named).exists()).or_else(in_path)
}

/// A project with nothing of Python in it.
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
