//! The paths of the route table, their parameters, and their encodings.

use std::collections::BTreeSet;

use api::list_routes;
use registry::Permission;
use serde_json::{Value, json};

use super::cells::{ACME, Cell, Credential, Id, NOWHERE, OTHER};
use super::world::World;

/// The encoding of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Plain,
    TrailingSlash,
    /// One character of the organisation is percent-encoded in lower case.
    Escaped,
    /// One character of the organisation is percent-encoded in upper case.
    EscapedUpperCase,
    /// The first character of the last segment is percent-encoded.
    EscapedEnd,
    DoubleSlash,
    DotSegment,
    ParentSegment,
}

impl Encoding {
    const ALL: [Self; 8] = [
        Self::Plain,
        Self::TrailingSlash,
        Self::Escaped,
        Self::EscapedUpperCase,
        Self::EscapedEnd,
        Self::DoubleSlash,
        Self::DotSegment,
        Self::ParentSegment,
    ];

    /// Whether the path is equivalent to the plain one.
    pub fn is_faithful(self) -> bool {
        matches!(self, Self::Plain | Self::TrailingSlash | Self::Escaped | Self::EscapedUpperCase)
    }

    fn apply(self, path: &str) -> String {
        let (before, last) = path.rsplit_once('/').unwrap();
        match self {
            Self::Plain => path.to_owned(),
            Self::TrailingSlash => format!("{path}/"),
            Self::Escaped => with_organization(path, |byte| format!("%{byte:02x}")),
            Self::EscapedUpperCase => with_organization(path, |byte| format!("%{byte:02X}")),
            Self::EscapedEnd => format!("{before}/%{:02x}{}", last.as_bytes()[0], &last[1..]),
            Self::DoubleSlash => format!("{before}//{last}"),
            Self::DotSegment => format!("{before}/./{last}"),
            Self::ParentSegment => match path.strip_prefix("/v1/") {
                Some(rest) => format!("/v1/x/../{rest}"),
                None => format!("/x/..{path}"),
            },
        }
    }
}

/// A path of the route table in one encoding.
#[derive(Debug)]
pub struct PathForm {
    pub template: &'static str,
    pub encoding: Encoding,
    /// Methods with their permissions.
    routes: Vec<(&'static str, Option<Permission>)>,
}

pub fn list_forms() -> Vec<PathForm> {
    let all = list_routes();
    let templates: BTreeSet<&'static str> = all.iter().map(|route| route.path).collect();
    let form = |template, encoding| {
        let routes = all.iter().filter(|route| route.path == template);
        PathForm { template, encoding, routes: routes.map(|route| (route.method, route.permission)).collect() }
    };
    // The root has no segments to encode.
    let templates = templates.into_iter().filter(|template| *template != "/");
    templates.flat_map(|template| Encoding::ALL.map(|encoding| form(template, encoding))).collect()
}

impl PathForm {
    /// Returns the permission of the route with this method, if there is such a route.
    pub fn permission(&self, method: &str) -> Option<Option<Permission>> {
        self.routes.iter().find(|(known, _)| *known == method).map(|(_, permission)| *permission)
    }

    /// The organisations that a path can have. A path without one is about that of the credentials.
    pub fn organizations(&self, credential: Credential) -> Vec<&'static str> {
        match self.template {
            template if template.contains("{organization}") => vec![ACME, OTHER, NOWHERE],
            _ if self.is_of_user() => vec![credential.home()],
            _ => vec![ACME],
        }
    }

    /// Whether the organisation is that of the credentials.
    pub fn is_of_user(&self) -> bool {
        ["/api/v1/", "/agents/"].iter().any(|prefix| self.template.starts_with(prefix))
    }

    pub fn ids(&self) -> &'static [Id] {
        if self.names_object() { Id::ALL } else { &[Id::Unknown] }
    }

    pub fn names_object(&self) -> bool {
        self.template.matches('{').count() > usize::from(!self.is_of_user())
    }

    /// Whether the path names an object that its organisation does not have. Every organisation has a repository.
    pub fn is_absent(&self, cell: &Cell) -> bool {
        let is_foreign = !cell.is_theirs() && matches!(cell.id, Id::OfAcme | Id::OfOther | Id::ForeignEnd);
        cell.id == Id::Unknown || (is_foreign && !self.is_git())
    }

    /// Whether a path with an existing object is found. Git's own paths have one form.
    pub fn is_there(&self) -> bool {
        !self.is_git() || self.encoding != Encoding::TrailingSlash
    }

    fn is_git(&self) -> bool {
        self.template.ends_with("/{*git_path}")
    }

    pub fn build_uri(&self, world: &World, cell: &Cell) -> String {
        let path =
            self.template.split('/').map(|segment| self.fill_in_segment(world, cell, segment)).collect::<Vec<_>>();
        format!("{}{}", self.encoding.apply(&path.join("/")), self.query())
    }

    fn fill_in_segment(&self, world: &World, cell: &Cell, segment: &str) -> String {
        let Some(parameter) = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
            return segment.to_owned();
        };
        match parameter {
            "organization" => cell.organization.to_owned(),
            "version" => "1.0.0".to_owned(),
            "number" => "1".to_owned(),
            parameter => world.find_id(self.template, parameter, cell),
        }
    }

    /// The required query of the operation.
    fn query(&self) -> &'static str {
        match self.template {
            "/v1/{organization}/tool/invocation/search" => "?query=x&query_against=invocation_status.output",
            "/v1/{organization}/tool/git/{*git_path}" => "?service=git-upload-pack",
            _ => "",
        }
    }

    /// A valid body, so that the response depends on the object only.
    pub fn build_body(&self) -> String {
        let grants = json!([{"permission": "Tool:GetTool"}]);
        let project = json!({"project_path": "tools/x", "bump_type": "minor", "commit_branch": "releases/acme"});
        let body = match self.template.trim_start_matches("/v1/{organization}") {
            "/user" => json!({"user_id": "bob", "role": "auditor"}),
            "/user/{user_id}" => json!({"role": "auditor"}),
            "/user/{user_id}/variable" | "/user/me/variable" => json!({"name": "made_here", "value": "8812"}),
            "/user/me/api_key" => json!({}),
            "/api_key" => json!({"user_id": "bob"}),
            "/agent" => json!({
                "agent_type": "agent", "name": "Made here", "slug": "made-here", "description": "d", "scope": "organization"
            }),
            "/agent/{agent_id}/assignment" => json!({"tool_id": "a".repeat(24), "version_constraint": ">=1"}),
            "/agent/{agent_id}/state" => json!({"name": "made_here", "type": "decision"}),
            "/conversation/{conversation_id}/turn/{turn_id}/invoke" => json!({
                "tool": "forward_call", "inputs": [{"input_parameters": {"destination": "d", "reason": "r"}}]
            }),
            "/agents/{agent_run_id}/resume" | "/human_request/{human_request_id}/answer" => json!({"approved": true}),
            "/api/v1/artifacts/{artifact_id}/share" => json!({"user_id": "bea"}),
            "/history_hold" => json!({"reason": "case 1"}),
            "/role" => json!({"name": "tester", "grants": grants}),
            "/role/{role_name}" => json!({"grants": grants}),
            "/tool" => json!({"name": "made_here", "description": "d", "tags": {}}),
            "/tool/{tool_id}/version" => project,
            "/tool/{tool_id}/version/{version}/invoke" | "/tool/by-name/{tool_name}/version/{version}/invoke" => {
                json!({"inputs": [build_input()]})
            }
            "/tool/test" => json!({
                "inputs": [build_input()], "project_path": "tools/x", "commit_branch": "releases/acme",
                "required_envvars": {}, "required_secret_envvars": {}
            }),
            _ => json!({}),
        };
        body.to_string()
    }
}

fn build_input() -> Value {
    json!({
        "input_parameters": {}, "invocation_mode": "regular",
        "nonsensitive_user_variables": {}, "sensitive_user_variables": {}
    })
}

/// Percent-encodes one character of the organisation, or of the first segment without one, unless the organisation is that of the credentials: the first character whose
/// code has a letter among its hexadecimal digits.
fn with_organization(path: &str, escape: impl Fn(u8) -> String) -> String {
    let mut segments: Vec<String> = path.split('/').map(str::to_owned).collect();
    if path.starts_with("/agents/") {
        return path.to_owned();
    }
    let segment = &mut segments[if path.starts_with("/v1/") { 2 } else { 1 }];
    let Some(place) = segment.bytes().position(|byte| byte & 0xf >= 0xa) else { return path.to_owned() };
    let escaped = escape(segment.as_bytes()[place]);
    segment.replace_range(place..=place, &escaped);
    segments.join("/")
}
