//! The largest request of every operation, by the OpenAPI document of the running server.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use api::RequestBound;
use serde_json::{Value, json};

use super::shapes::{Shape, filled, largest, query};
use super::wire::Sent;
use super::world::World;
use super::{Attack, Scale};
use crate::harness::{fetch, input};

/// The form of the largest request of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    /// No body: the longest path and query, about an object that is there.
    Read,
    /// The same about an object that is not there, since the request would remove it for the other cases.
    Removes,
    /// The body of the document's example, or of [`body`], with one member more that fills it.
    Body,
    /// The largest body that the schema admits. Members that it does not name are refused.
    Schema,
    /// A form that fills the body.
    Form,
    /// A JSON document that is read as bytes.
    Document,
    /// A request of git.
    Fetch,
    /// A message that [`super::methods`] makes.
    Message,
}

/// The bounds of bodies, by the operations that read one.
static BODY_BYTES: LazyLock<BTreeMap<&str, usize>> = LazyLock::new(|| {
    let bounds = api::list_routes().into_iter().filter_map(|route| Some((route.id()?, route.bounds()?.request)));
    let bytes = bounds.filter_map(|(id, bound)| match bound {
        RequestBound::Bytes(bytes) => Some((id, bytes)),
        RequestBound::Nothing | RequestBound::GitStream => None,
    });
    bytes.collect()
});

/// The operations of each case.
const CASES: [(Case, &str); 8] = [
    (
        Case::Read,
        "get-root is-live is-ready get-openapi-document download-artifact get-reference get-error-reference \
        get-reference-asset get-protected-resource get-authorization-server get-oauth-authorization \
        sign-in-with-api-key get-organization get-me get-own-api-keys get-own-variables get-users get-user \
        get-user-variables get-roles get-role get-api-keys get-tools get-tool-versions get-tool-version \
        get-tool-version-provenance get-tool-version-sbom verify-tool-version list-signing-keys get-tool-build \
        get-tool-invocations search-tool-invocations get-tool-invocation get-history-holds get-operation \
        get-tool-scaffold-release access-git-interface get-agents get-agent get-agent-assignments get-agent-states \
        deploy-agent get-agent-revisions get-agent-revision get-agent-tools get-conversations get-conversation \
        get-conversation-log get-turn get-agent-run get-agent-run-trace get-agent-runs get-human-requests \
        get-human-request get-mcp memory_list memory_get rule_list rule_get skill_list skill_get prompt_list \
        prompt_get task_list task_get artifact_list artifact_get preference_list preference_get",
    ),
    (
        Case::Removes,
        "revoke-own-api-key remove-own-variable remove-user remove-user-variable delete-role revoke-api-key \
        deprecate-tool deprecate-tool-version cancel-tool-invocation release-history-hold delete-agent unassign-tool \
        remove-agent-state end-conversation cancel-agent-run delete-mcp memory_delete rule_delete skill_delete \
        task_delete artifact_delete preference_forget",
    ),
    (
        Case::Body,
        "create-own-api-key set-own-variable create-user modify-user set-user-variable create-role modify-role \
        create-api-key create-tool modify-tool modify-tool-envvars publish-tool-version invoke-tool-version \
        invoke-tool-version-by-name test-tool roll-back-tool-invocations replay-tool-invocation place-history-hold \
        create-agent modify-agent assign-tool set-agent-state start-conversation begin-turn invoke-in-turn \
        execute-agent resume-agent-run answer-human-request",
    ),
    (
        Case::Schema,
        "memory_create memory_search memory_update memory_put rule_create rule_update rule_put skill_create \
        skill_update skill_put prompt_create prompt_update prompt_put task_create task_complete task_skip_next \
        task_end_recurrence artifact_save artifact_share preference_set",
    ),
    (Case::Form, "post-oauth-authorization create-oauth-token revoke-oauth-token"),
    (Case::Document, "register-oauth-client"),
    (Case::Fetch, "post-git-interface"),
    (Case::Message, "post-mcp"),
];

/// Operations whose largest request is refused after it was read, for what else they need.
const REFUSED: [&str; 20] = [
    // The server has no build, operation, download, provenance or session with the id, or the request has none.
    "get-tool-build",
    "get-operation",
    "download-artifact",
    "get-tool-version-provenance",
    "get-tool-version-sbom",
    "verify-tool-version",
    "get-mcp",
    // They would end what other cases use, so they are about another object.
    "resume-agent-run",
    "answer-human-request",
    "modify-user",
    "task_complete",
    "task_end_recurrence",
    // The task does not recur.
    "task_skip_next",
    // No such colleague.
    "artifact_share",
    // No such project, and no such variable.
    "test-tool",
    "publish-tool-version",
    "modify-tool-envvars",
    // The requests before have made as many keys as a user may have.
    "create-own-api-key",
    // The key is wrong, and the client unknown.
    "sign-in-with-api-key",
    "get-oauth-authorization",
];

/// The case of an operation; `None` for one that this test does not know.
fn case(operation: &str) -> Option<Case> {
    let found = CASES.iter().find(|(_, operations)| operations.split_whitespace().any(|one| one == operation));
    found.map(|(case, _)| *case)
}

/// Makes the attacks of all operations, one after the other: together they have gigabytes. An operation without a case fails the test.
pub fn attack(world: &World, scale: &Scale, mut run: impl FnMut(&Attack)) {
    each(world, |operation, case| operation.attacks(world, case, scale).iter().for_each(&mut run));
}

/// For each operation that reads a body, a body that has one byte too many.
pub fn too_long(world: &World) -> Vec<(String, Sent)> {
    let mut requests = Vec::new();
    each(world, |operation, case| {
        let content_type = match case {
            Case::Body | Case::Schema | Case::Document => "application/json",
            Case::Form => "application/x-www-form-urlencoded",
            Case::Read | Case::Removes | Case::Fetch | Case::Message => return,
        };
        let authorization = world.authorization();
        let headers = [("authorization", authorization.as_str()), ("content-type", content_type)];
        let body = vec![b' '; operation.body_bytes() + 1];
        let target = operation.target(world, operation.changes_nothing());
        requests.push((operation.id().to_owned(), Sent::new(operation.method, &target, &headers, body)));
    });
    requests
}

fn each(world: &World, mut look: impl FnMut(&Operation<'_>, Case)) {
    let text = fetch(&format!("{}/v1/openapi.json", world.server.url));
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let paths = document["paths"].as_object().expect("paths");
    for (template, item) in paths {
        for (method, operation) in item.as_object().expect("operations") {
            let operation = Operation { document: &document, template, method: &method.to_uppercase(), operation };
            let case = case(operation.id());
            look(&operation, case.unwrap_or_else(|| panic!("{} {template} has no case here", operation.method)));
        }
    }
}

struct Operation<'a> {
    document: &'a Value,
    template: &'a str,
    method: &'a str,
    operation: &'a Value,
}

impl Operation<'_> {
    fn id(&self) -> &str {
        self.operation["operationId"].as_str().expect("an id")
    }

    /// The bound of the body, as the table of the reference has it.
    fn body_bytes(&self) -> usize {
        *BODY_BYTES.get(self.id()).unwrap_or_else(|| panic!("{} reads no body", self.id()))
    }

    fn attacks(&self, world: &World, case: Case, scale: &Scale) -> Vec<Attack> {
        let succeeds =
            matches!(case, Case::Read | Case::Body | Case::Schema | Case::Fetch) && !REFUSED.contains(&self.id());
        let of_requests = |name: String, request: &dyn Fn(usize) -> Sent| Attack {
            name,
            requests: (0..scale.at_once).map(request).collect(),
            succeeds,
        };
        let id = self.id().to_owned();
        match case {
            Case::Message => Vec::new(),
            Case::Body => scale
                .shapes
                .iter()
                .map(|shape| {
                    of_requests(format!("{id} {shape:?}"), &|number| {
                        let name = format!("{number}{shape:?}").to_lowercase();
                        let (base, place) = body(self.id(), world, &name).unwrap_or_else(|| (self.example(), ""));
                        let target = self.target(world, self.changes_nothing());
                        world.json_request(self.method, &target, filled(&base, place, *shape, self.body_bytes()))
                    })
                })
                .collect(),
            Case::Read | Case::Removes => vec![of_requests(id, &|_| {
                let target = self.target(world, case == Case::Removes);
                let target = format!("{target}?{}", query(&self.known_query(), self.accepts_unknown()));
                let authorization = world.authorization();
                let mut headers = vec![("authorization", authorization.as_str())];
                if self.id() == "sign-in-with-api-key" {
                    headers = vec![("x-user-id", "ada"), ("x-api-key-id", "aaaaaaaaaaaa"), ("x-api-key", "wrong")];
                }
                Sent::new(self.method, &target, &headers, Vec::new())
            })],
            Case::Schema => vec![of_requests(id, &|number| {
                let schema = &self.operation["requestBody"]["content"]["application/json"]["schema"];
                // Operations that create items or rename them take other names than each other.
                let number = self.id().bytes().map(usize::from).sum::<usize>() * 1_000 + number;
                let mut body = largest(self.followed(schema), number);
                for name in ["revision", "due_at", "cron", "recurrence", "timezone"] {
                    body.as_object_mut().expect("an object").remove(name);
                }
                world.json_request(
                    self.method,
                    &self.target(world, self.changes_nothing()),
                    body.to_string().into_bytes(),
                )
            })],
            Case::Form => vec![of_requests(id, &|_| {
                let headers = [("content-type", "application/x-www-form-urlencoded")];
                let body = "a=%25%25%25%25%25%25%25%25&".repeat(self.body_bytes() / 27);
                Sent::new(self.method, &self.target(world, false), &headers, body.into_bytes())
            })],
            Case::Document => vec![of_requests(id, &|_| {
                let document = json!({"client_name": "n", "redirect_uris": ["http://localhost/a"]});
                let body = filled(&document, "", Shape::Lists, self.body_bytes());
                Sent::new(self.method, &self.target(world, false), &[("content-type", "application/json")], body)
            })],
            Case::Fetch => vec![of_requests(id, &|_| {
                let authorization = world.authorization();
                let content = "application/x-git-upload-pack-request";
                let headers = [("authorization", authorization.as_str()), ("content-type", content)];
                let wants = format!("0032want {}\n", "0".repeat(40)).repeat((4 << 20) / 50 - 1) + "0000";
                let target = self.target(world, false).replace("info/refs", "git-upload-pack");
                Sent::new(self.method, &target, &headers, wants.into_bytes())
            })],
        }
    }

    /// Whether the request is about an object that is not there: it would end what the other cases use.
    fn changes_nothing(&self) -> bool {
        ["resume-agent-run", "answer-human-request", "modify-user", "task_complete", "task_end_recurrence"]
            .contains(&self.id())
    }

    /// Whether parameters of a query that the document does not have are ignored.
    fn accepts_unknown(&self) -> bool {
        !self.template.starts_with("/api/v1/") && self.id() != "access-git-interface"
    }

    fn target(&self, world: &World, of_nothing: bool) -> String {
        let last = self.template.rsplit_once('{').map_or("", |(_, name)| name.split('}').next().unwrap_or_default());
        let segments = self.template.split('/').map(|segment| {
            let Some(name) = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
                return segment.to_owned();
            };
            let id = world.ids.get(name).unwrap_or_else(|| panic!("{}: no {name}", self.template)).clone();
            match of_nothing && name == last && name != "organization" {
                true if name == "version" => "9.9.9".to_owned(),
                true if name.ends_with("_id") && name != "user_id" && name != "api_key_id" => "f".repeat(24),
                true if ["gateway", "api_key_id"].contains(&name) => id,
                true => "nobody".to_owned(),
                false => id,
            }
        });
        segments.collect::<Vec<_>>().join("/")
    }

    /// Parameters of the query that count, with the values that cost most.
    fn known_query(&self) -> Vec<(String, String)> {
        if self.id() == "access-git-interface" {
            return vec![("service".to_owned(), "git-upload-pack".to_owned())];
        }
        let parameters = self.operation["parameters"].as_array().cloned().unwrap_or_default();
        let in_query = parameters.iter().filter(|parameter| parameter["in"] == "query");
        let value = |parameter: &Value| {
            let name = parameter["name"].as_str().expect("a name");
            let text = match name {
                "limit" | "offset" => parameter["schema"]["maximum"].as_u64()?.to_string(),
                "query" => (0..32).map(|number| format!("w{number}")).collect::<Vec<_>>().join(" "),
                "query_against" => "invocation_status.output".to_owned(),
                "include_trace" => "true".to_owned(),
                "status" if self.id() == "get-human-requests" => "any".to_owned(),
                "client_id" => format!("https://localhost/{}", "c".repeat(480)),
                _ => return None,
            };
            Some((name.to_owned(), text))
        };
        in_query.filter_map(value).collect()
    }

    fn example(&self) -> Value {
        let content = &self.operation["requestBody"]["content"]["application/json"];
        content.get("example").cloned().unwrap_or_else(|| json!({}))
    }

    fn followed<'v>(&'v self, schema: &'v Value) -> &'v Value {
        let Some(reference) = schema["$ref"].as_str() else { return schema };
        self.document.pointer(reference.trim_start_matches('#')).expect("a schema")
    }
}

/// A body that succeeds, and the place of it that takes any content. Without a row, the document's example is sent.
fn body(operation: &str, world: &World, name: &str) -> Option<(Value, &'static str)> {
    let tool = &world.ids["tool_id"];
    let spec = json!({"tool_id": tool, "version_constraint": ">=0", "additional_instruction": "i".repeat(4_000)});
    Some(match operation {
        "invoke-tool-version" | "invoke-tool-version-by-name" => {
            (json!({"inputs": [input(&json!({}))]}), "/inputs/0/input_parameters")
        }
        "invoke-in-turn" => {
            (json!({"tool": "small", "inputs": [{"input_parameters": {}}]}), "/inputs/0/input_parameters")
        }
        "test-tool" => {
            let project = json!({
                "inputs": [input(&json!({}))], "commit_branch": "releases/nothing", "project_path": "tools/nothing",
                "required_envvars": {}, "required_secret_envvars": {},
            });
            (project, "/inputs/0/input_parameters")
        }
        "create-role" => (json!({"name": format!("made{name}"), "grants": [{"permission": "Tool:GetTool"}]}), ""),
        "create-user" => (json!({"user_id": format!("user{name}"), "role": "reader"}), ""),
        "modify-user" => (json!({"role": "reader"}), ""),
        "create-api-key" => (json!({"user_id": world.team.user, "expires_in": 60}), ""),
        "create-tool" => {
            let tags: serde_json::Map<_, _> =
                (0..20).map(|tag| (format!("{tag}{}", "k".repeat(250)), json!("v".repeat(256)))).collect();
            (json!({"name": format!("made{name}"), "description": "d".repeat(4_096), "tags": tags}), "")
        }
        "create-agent" => (
            json!({
                "agent_type": "agent", "name": "n", "slug": format!("made{name}"), "description": "d".repeat(4_096),
                "scope": "personal", "system_prompt": "s".repeat(65_536),
            }),
            "",
        ),
        "modify-agent" => (json!({"system_prompt": "s".repeat(65_536)}), ""),
        "assign-tool" => (spec, ""),
        "set-agent-state" => (json!({"name": "other", "type": "decision", "tool_call_specs": [spec]}), ""),
        "begin-turn" => (json!({"state": "ask"}), ""),
        "replay-tool-invocation" => (json!({"version": "1.0.0"}), ""),
        "execute-agent" => {
            world.answers("largest");
            (json!({"agent": world.agent_slug, "objective": "largest", "tools": ["__complete__"]}), "")
        }
        _ => return None,
    })
}
