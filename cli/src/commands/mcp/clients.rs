//! The configurations of MCP clients.

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::home::{CONFIG_DIRECTORY_VARIABLE, ProfileName};

/// The variable of the environment from which clients take the API key.
const KEY_VARIABLE: &str = "LATHE_API_KEY";

/// An MCP client whose configuration is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum McpClient {
    /// Claude Code: .mcp.json
    Claude,
    /// Claude Desktop: claude_desktop_config.json; starts `lathe mcp serve`
    ClaudeDesktop,
    /// Cursor: .cursor/mcp.json
    Cursor,
    /// Visual Studio Code: .vscode/mcp.json
    Vscode,
    /// Windsurf: mcp_config.json
    Windsurf,
    /// Codex: ~/.codex/config.toml
    Codex,
    /// Gemini CLI: .gemini/settings.json
    Gemini,
    /// Any client that starts a process; starts `lathe mcp serve`
    Stdio,
}

/// The agent that a configuration names, and the program that connects to it.
pub struct Endpoint<'a> {
    /// The name of the server in the client.
    pub slug: &'a str,
    /// The slug or the id by which the program finds the agent.
    pub name: &'a str,
    pub url: &'a str,
    pub program: &'a Program,
}

/// A program with a login.
pub struct Program {
    pub path: PathBuf,
    pub profile: ProfileName,
    /// The configuration directory, if it is not the user's own.
    pub config_directory: Option<PathBuf>,
}

impl Program {
    /// Returns the entry that starts the program for an agent. `lathe profile use` does not change its login.
    fn build_entry(&self, agent: &str) -> Value {
        let arguments = ["--profile", self.profile.as_str(), "mcp", "serve", "--stdio", agent];
        let mut entry = json!({"command": self.path.to_string_lossy(), "args": arguments});
        if let Some(directory) = &self.config_directory {
            entry["env"] = json!({CONFIG_DIRECTORY_VARIABLE: directory.to_string_lossy()});
        }
        entry
    }
}

impl McpClient {
    /// Returns what to paste.
    pub fn render_configuration(self, endpoint: &Endpoint<'_>) -> String {
        match self {
            Self::Codex => render_toml(endpoint),
            client => format!("{:#}", client.build_document(endpoint)),
        }
    }

    fn build_document(self, endpoint: &Endpoint<'_>) -> Value {
        let Endpoint { slug, name, url, program } = endpoint;
        let shell = json!({"Authorization": format!("Bearer ${{{KEY_VARIABLE}}}")});
        match self {
            Self::Claude => json!({"mcpServers": {*slug: {"type": "http", "url": url, "headers": shell}}}),
            Self::Cursor => {
                let headers = json!({"Authorization": format!("Bearer ${{env:{KEY_VARIABLE}}}")});
                json!({"mcpServers": {*slug: {"url": url, "headers": headers}}})
            }
            Self::Vscode => json!({
                "inputs": [{"type": "promptString", "id": "lathe-api-key", "description": "API key", "password": true}],
                "servers": {*slug: {"type": "http", "url": url, "headers": {"Authorization": "Bearer ${input:lathe-api-key}"}}},
            }),
            Self::Windsurf => {
                let headers = json!({"Authorization": format!("Bearer ${{env:{KEY_VARIABLE}}}")});
                json!({"mcpServers": {*slug: {"serverUrl": url, "headers": headers}}})
            }
            Self::Gemini => json!({"mcpServers": {*slug: {"httpUrl": url, "headers": shell}}}),
            Self::ClaudeDesktop | Self::Stdio | Self::Codex => {
                json!({"mcpServers": {*slug: program.build_entry(name)}})
            }
        }
    }

    /// The file that takes the configuration.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Claude => ".mcp.json in the project's directory",
            Self::ClaudeDesktop => {
                "claude_desktop_config.json (Settings, Developer, Edit Config): on macOS in \
                 ~/Library/Application Support/Claude, on Windows in %APPDATA%\\Claude, on Linux in ~/.config/Claude"
            }
            Self::Cursor => "~/.cursor/mcp.json, or .cursor/mcp.json in the project's directory",
            Self::Vscode => {
                ".vscode/mcp.json in the project's directory, or the file that `MCP: Open User Configuration` opens"
            }
            Self::Windsurf => "~/.codeium/windsurf/mcp_config.json",
            Self::Codex => "~/.codex/config.toml",
            Self::Gemini => "~/.gemini/settings.json, or .gemini/settings.json in the project's directory",
            Self::Stdio => "the client's list of MCP servers",
        }
    }

    /// The step that the configuration leaves to the user.
    pub const fn next_step(self) -> &'static str {
        match self {
            Self::ClaudeDesktop | Self::Stdio => "Then start the client again; it starts `lathe` with this login.",
            Self::Vscode => "Visual Studio Code asks for an API key: `lathe key create` makes one.",
            _ => "Set LATHE_API_KEY to an API key where the client runs: `lathe key create` makes one.",
        }
    }
}

fn render_toml(endpoint: &Endpoint<'_>) -> String {
    let Endpoint { slug, url, .. } = endpoint;
    format!("[mcp_servers.{slug}]\nurl = \"{url}\"\nbearer_token_env_var = \"{KEY_VARIABLE}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_starts_the_program_has_its_path_and_its_login() {
        let profile = "staging".parse().expect("a name");
        let program = Program { path: "/opt/lathe".into(), profile, config_directory: None };
        let endpoint = Endpoint { slug: "desk", name: "0123", url: "http://h/v1/acme/mcp/desk", program: &program };
        let text = McpClient::ClaudeDesktop.render_configuration(&endpoint);
        let document: Value = serde_json::from_str(&text).expect("JSON");
        let args = ["--profile", "staging", "mcp", "serve", "--stdio", "0123"];
        assert_eq!(document["mcpServers"]["desk"], json!({"command": "/opt/lathe", "args": args}));
    }

    #[test]
    fn every_configuration_names_the_agent_and_no_secret() {
        let program = Program {
            path: "/opt/lathe".into(),
            profile: ProfileName::default(),
            config_directory: Some("/etc/l".into()),
        };
        let url = "https://tools.example.com/v1/acme/mcp/team-tools";
        let endpoint = Endpoint { slug: "team-tools", name: "team-tools", url, program: &program };
        for client in McpClient::value_variants() {
            let text = client.render_configuration(&endpoint);
            assert!(text.contains("team-tools") && !text.contains("lk_"), "{text}");
            match client {
                McpClient::Codex => assert!(text.parse::<toml::Table>().is_ok(), "{text}"),
                _ => assert!(serde_json::from_str::<Value>(&text).is_ok_and(|document| document.is_object()), "{text}"),
            }
        }
    }
}
