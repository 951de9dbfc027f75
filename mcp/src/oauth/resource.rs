//! The URL of an MCP endpoint, which a client asks access to (RFC 8707).

use agents::AgentReference;
use api_kit::public_url::canonicalize;
use registry::OrganizationId;

/// The URL of an MCP endpoint of this server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayUrl {
    pub url: String,
    pub organization: OrganizationId,
    pub agent: AgentReference,
}

impl GatewayUrl {
    /// Parses a URL below the base of this server, in any spelling of its host. Whether there is such a gateway is not checked.
    pub fn parse(text: &str, base: &str) -> Option<Self> {
        let url = canonicalize(text);
        let segments: Vec<&str> = url.strip_prefix(base)?.split('/').collect();
        let ["", "v1", organization, "mcp", agent] = segments[..] else { return None };
        let (organization, agent) = (OrganizationId::parse(organization).ok()?, AgentReference::parse(agent).ok()?);
        Some(Self { url, organization, agent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_is_an_endpoint_of_this_server() {
        let base = "https://tools.example.com";
        let parsed = GatewayUrl::parse("https://tools.example.com/v1/acme/mcp/team-tools/", base).unwrap();
        assert_eq!(parsed.url, "https://tools.example.com/v1/acme/mcp/team-tools");
        assert_eq!((parsed.organization.as_str(), parsed.agent.as_str()), ("acme", "team-tools"));
        for spelling in
            ["HTTPS://Tools.Example.COM/v1/acme/mcp/team-tools", "https://tools.example.com:443/v1/acme/mcp/team-tools"]
        {
            assert_eq!(GatewayUrl::parse(spelling, base), Some(parsed.clone()), "{spelling}");
        }
        for text in [
            "https://tools.example.com",
            "https://tools.example.com/v1/acme/tool",
            "https://tools.example.com/v1/acme/mcp/a/b",
            "https://tools.example.com/v1/acme/mcp/a?b",
            "https://tools.example.com/v1/acme/mcp/a#b",
            "https://tools.example.com.evil.example/v1/acme/mcp/a",
            "http://tools.example.com/v1/acme/mcp/a",
            "/v1/acme/mcp/a",
        ] {
            assert!(GatewayUrl::parse(text, base).is_none(), "{text}");
        }
    }
}
