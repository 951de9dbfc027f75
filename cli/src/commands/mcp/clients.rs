//! The configurations of MCP clients.

use clap::ValueEnum;
use serde_json::{Value, json};

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

/// The agent that a configuration names.
pub struct Endpoint<'a> {
    pub slug: &'a str,
    pub url: &'a str,
}

impl McpClient {
    /// Returns what to paste.
    pub fn configuration(self, endpoint: &Endpoint<'_>) -> String {
        match self {
            Self::Codex => toml(endpoint),
            client => format!("{:#}", client.document(endpoint)),
        }
    }

    fn document(self, endpoint: &Endpoint<'_>) -> Value {
        let Endpoint { slug, url } = endpoint;
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
                json!({"mcpServers": {*slug: {"command": "lathe", "args": ["mcp", "serve", "--stdio", slug]}}})
            }
        }
    }

    /// The step that the configuration leaves to the user.
    pub const fn next_step(self) -> &'static str {
        match self {
            Self::ClaudeDesktop | Self::Stdio => "The client starts `lathe`, which uses the login of this user.",
            Self::Vscode => "Visual Studio Code asks for an API key: `lathe key create` makes one.",
            _ => "Set LATHE_API_KEY to an API key where the client runs: `lathe key create` makes one.",
        }
    }
}

fn toml(endpoint: &Endpoint<'_>) -> String {
    let Endpoint { slug, url } = endpoint;
    format!("[mcp_servers.{slug}]\nurl = \"{url}\"\nbearer_token_env_var = \"{KEY_VARIABLE}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_configuration_names_the_agent_and_no_secret() {
        let endpoint = Endpoint { slug: "team-tools", url: "https://tools.example.com/v1/acme/mcp/team-tools" };
        for client in McpClient::value_variants() {
            let text = client.configuration(&endpoint);
            assert!(text.contains("team-tools") && !text.contains("lk_"), "{text}");
            match client {
                McpClient::Codex => assert!(text.parse::<toml::Table>().is_ok(), "{text}"),
                _ => assert!(serde_json::from_str::<Value>(&text).is_ok_and(|document| document.is_object()), "{text}"),
            }
        }
    }
}
