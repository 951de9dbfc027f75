//! Two organisations with an object of each kind, and tokens in each state.

use std::collections::BTreeMap;
use std::time::Duration;

use api::Config;
use axum::Router;
use axum::http::Request;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use registry::{
    AccountId, ApiKeyId, Clock, Grants, IssuedKey, NewApiKey, NewUserVariable, OperationKind, Permission, RoleName,
    SecretValue, Timestamp, UserId, UserVariableName,
};
use serde_json::json;

use super::cells::{Cell, Credential, Id, Identity, OTHER, Seen};
use super::send;
use crate::fixtures;
use crate::harness::TestApp;

pub struct World {
    pub router: Router,
    /// The response for objects that do not exist, and that of MCP's endpoints, whose clients read messages of JSON-RPC.
    not_found: Seen,
    not_found_for_mcp: Seen,
    acme: Objects,
    other: Objects,
    tokens: Tokens,
    _app: TestApp,
}

/// The ids of an organisation's objects.
struct Objects {
    tool: String,
    /// A tool without versions, so that nothing can run.
    empty_tool: String,
    /// An agent that runs a revision with the tool. Its draft has a state with the name of the role.
    agent: String,
    agent_run: String,
    human_request: String,
    conversation: String,
    turn: String,
    build: String,
    invocation: String,
    hold: String,
    operation: String,
    /// The ids of the items of the Library, by their names in paths.
    items: BTreeMap<&'static str, String>,
    user: &'static str,
    role: &'static str,
    /// Keys of the user and of the administrator, with which nobody signs in.
    user_key: String,
    own_key: String,
}

struct Tokens {
    ada: String,
    cem: String,
    eve: String,
    expired: String,
    revoked: String,
}

impl World {
    pub async fn new() -> Self {
        let clock = Clock::fixed(Timestamp::from_milliseconds(1_790_000_000_000));
        let mut app = TestApp::start_configured(Config::default(), clock.clone()).await;
        let expired = app.token.clone();
        clock.advance(Duration::from_mins(11));
        let ada = fixtures::issue_token(&app.store, &app.key).await.unwrap();
        app.token.clone_from(&ada);
        let beside = app.add_organization("other", "eve").await;
        let all = Permission::grantable().filter(|permission| *permission != Permission::Administer);
        let cem = app.member_with("cem", Grants::of(all)).await;
        let tokens = Tokens { ada, cem, eve: beside.token.clone(), expired, revoked: create_revoked_key(&app).await };
        let (acme, other) = (Objects::of(&app, "baker", "bea").await, Objects::of(&beside, "smith", "sam").await);
        let nothing = Request::get("/nothing/here").body(String::new()).unwrap();
        let not_found = send(&app.router, &nothing).await;
        let no_endpoint =
            Request::get("/v1/nowhere/mcp/nothing").header("authorization", format!("Bearer {}", tokens.ada));
        let not_found_for_mcp = send(&app.router, &no_endpoint.body(String::new()).unwrap()).await;
        assert_eq!([not_found.status, not_found_for_mcp.status], [404, 404]);
        Self { router: app.router.clone(), not_found, not_found_for_mcp, acme, other, tokens, _app: app }
    }

    /// The response of a route for objects that do not exist.
    pub fn not_found(&self, template: &str) -> &Seen {
        if template.contains("/mcp/") { &self.not_found_for_mcp } else { &self.not_found }
    }

    pub fn build_headers(&self, credential: Credential) -> Vec<(&'static str, String)> {
        let bearer = |identity| ("authorization", format!("Bearer {}", self.token(identity)));
        let basic = |name: &str, identity| {
            ("authorization", format!("Basic {}", STANDARD.encode(format!("{name}:{}", self.token(identity)))))
        };
        let naming = |organization: &str| ("x-org-id", organization.to_owned());
        match credential {
            Credential::Nothing => vec![],
            Credential::Bearer(identity) => vec![bearer(identity)],
            Credential::Basic(Identity::Eve) => vec![basic("other_eve", Identity::Eve)],
            Credential::Basic(identity) => vec![basic("acme_ada", identity)],
            Credential::BasicWrongName => vec![basic("acme_bea", Identity::Ada)],
            Credential::BearerNamingOwn => vec![bearer(Identity::Ada), naming("acme")],
            Credential::BearerNamingOther => vec![bearer(Identity::Ada), naming("other")],
            Credential::StrangerNamingAcme => vec![bearer(Identity::Eve), naming("acme")],
            Credential::TwoHeaders => vec![bearer(Identity::Ada), bearer(Identity::Ada)],
        }
    }

    /// Returns the value of a path parameter.
    pub fn find_id(&self, template: &str, parameter: &str, cell: &Cell) -> String {
        match cell.id {
            Id::OfAcme => self.acme.find_id(template, parameter),
            Id::OfOther => self.other.find_id(template, parameter),
            Id::ForeignEnd => self.find_objects(cell, is_end(template, parameter)).find_id(template, parameter),
            Id::Unknown => build_unknown(parameter),
            Id::Malformed => build_malformed(parameter).to_owned(),
            Id::NotText => "%ff%fe".to_owned(),
        }
    }

    fn find_objects(&self, cell: &Cell, is_foreign: bool) -> &Objects {
        if (cell.organization == OTHER) == is_foreign { &self.acme } else { &self.other }
    }

    fn token(&self, identity: Identity) -> &str {
        match identity {
            Identity::Ada => &self.tokens.ada,
            Identity::Cem => &self.tokens.cem,
            Identity::Eve => &self.tokens.eve,
            Identity::Expired => &self.tokens.expired,
            Identity::Revoked => &self.tokens.revoked,
            Identity::Invented => "0123456789abcdefghijklmnopqrstuvwxyzABCDEFG",
        }
    }
}

impl Objects {
    async fn of(app: &TestApp, role: &'static str, user: &'static str) -> Self {
        let organization = &app.principal.organization;
        let tool = app.tool("search").await;
        app.version(&tool, &[]).await;
        app.store.access().create_role(organization, RoleName::parse(role).unwrap(), Grants::default()).await.unwrap();
        let user_key = app.member_key(user, "auditor").await.api_key_id;
        let member = app.store.access().account(organization, &UserId::parse(user).unwrap()).await.unwrap();
        for owner in [member, app.principal.account.clone()] {
            app.store.access().set_user_variable(&app.principal, &owner, build_variable(role)).await.unwrap();
        }
        let agent = app.agent(role, &tool).await;
        let (conversation, turn) = app.turn(&agent, role).await;
        Self {
            agent_run: app.agent_run(&agent).await,
            human_request: app.human_request(&agent).await,
            agent,
            conversation,
            turn,
            empty_tool: app.tool("empty").await,
            build: app.add_failed_build(&tool, "made wrong").await,
            invocation: app.run_of(&tool, "x", true).await,
            hold: app.hold().await,
            operation: app.operation(OperationKind::Invoke).await,
            items: create_items(app, role).await,
            tool,
            user,
            role,
            user_key,
            own_key: create_key(app, app.principal.account.clone()).await.api_key_id,
        }
    }

    fn find_id(&self, template: &str, parameter: &str) -> String {
        let is_own = template.contains("/me/");
        match parameter {
            // A run would need a compiler.
            "tool_id" if template.ends_with("/invoke") => self.empty_tool.clone(),
            "tool_id" => self.tool.clone(),
            "tool_name" => "empty".to_owned(),
            "agent_id" | "gateway" => self.agent.clone(),
            "agent_run_id" => self.agent_run.clone(),
            "human_request_id" => self.human_request.clone(),
            "conversation_id" => self.conversation.clone(),
            "turn_id" => self.turn.clone(),
            // The link itself is the credential.
            "download" => "not-signed".to_owned(),
            "*resource" => "v1/acme/mcp/support".to_owned(),
            "build_id" => self.build.clone(),
            "invocation_id" => self.invocation.clone(),
            "hold_id" => self.hold.clone(),
            "operation_id" => self.operation.clone(),
            "user_id" => self.user.to_owned(),
            // A preference has the name of the role as its key.
            "key" => self.role.to_owned(),
            item if self.items.contains_key(item) => self.items[item].clone(),
            // The users have a variable with the name of the role, and the agents a state.
            "role_name" | "variable_name" | "state_name" => self.role.to_owned(),
            "api_key_id" if is_own => self.own_key.clone(),
            "api_key_id" => self.user_key.clone(),
            "*git_path" => "tools.git/info/refs".to_owned(),
            other => panic!("{template}: say here what {other} can be"),
        }
    }
}

/// Whether this parameter names the last object in the path; a version and the number of a revision do not count.
fn is_end(template: &str, parameter: &str) -> bool {
    let mut objects = template.split('/').filter(|segment| segment.starts_with('{') && !NUMBERS.contains(segment));
    objects.next_back() == Some(&format!("{{{parameter}}}"))
}

/// Parameters that name a part of the object before them.
const NUMBERS: [&str; 2] = ["{version}", "{number}"];

fn build_unknown(parameter: &str) -> String {
    match parameter {
        "tool_id" | "agent_id" | "agent_run_id" | "human_request_id" | "build_id" | "invocation_id" | "hold_id"
        | "operation_id" | "conversation_id" | "turn_id" | "memory_id" | "rule_id" | "skill_id" | "task_id"
        | "prompt_id" | "artifact_id" => "f".repeat(24),
        "api_key_id" => "a".repeat(12),
        "tool_name" | "variable_name" => "nobody_has_this".to_owned(),
        "*git_path" => "tools.git/objects/info".to_owned(),
        _ => "nobody-has-this".to_owned(),
    }
}

fn build_malformed(parameter: &str) -> &'static str {
    match parameter {
        "*git_path" => "tools.git/%2e%2e/config",
        _ => "No%20Such%20Thing",
    }
}

/// An item of each family of the Library.
async fn create_items(app: &TestApp, key: &str) -> BTreeMap<&'static str, String> {
    let artifact = json!({"title": "t", "artifact_type": "report", "content": "c", "content_type": "text/plain"});
    let rule = json!({"description": "d", "content": "c", "category": "must", "severity": "high"});
    let text = json!({"name": "n", "content": "c"});
    let mut items = BTreeMap::new();
    for (family, id, fields) in [
        ("memory", "memory_id", json!({"content": "c"})),
        ("rules", "rule_id", rule),
        ("skills", "skill_id", text.clone()),
        ("tasks", "task_id", json!({"description": "d", "recurrence": "daily"})),
        ("prompts", "prompt_id", text),
        ("artifacts", "artifact_id", artifact),
    ] {
        let answer = app.as_user("POST", &format!("/api/v1/{family}")).json(&fields).await;
        assert_eq!(answer.status, 201, "{family}: {}", answer.json());
        items.insert(id, answer.json()["data"][id].as_str().unwrap().to_owned());
    }
    let set = app.as_user("PUT", &format!("/api/v1/preferences/{key}")).json(&json!({"value": 1})).await;
    assert_eq!(set.status, 200, "{}", set.json());
    items
}

async fn create_key(app: &TestApp, account: AccountId) -> IssuedKey {
    let new = NewApiKey { account, name: None, expires_at: None };
    app.store.access().create_api_key(&app.principal.organization, new).await.unwrap()
}

async fn create_revoked_key(app: &TestApp) -> String {
    let key = create_key(app, app.principal.account.clone()).await;
    let token = fixtures::issue_token(&app.store, &key).await.unwrap();
    let id = ApiKeyId::parse(&key.api_key_id).unwrap();
    app.store.access().revoke_api_key(&app.principal.organization, None, &id).await.unwrap();
    token
}

fn build_variable(name: &str) -> NewUserVariable {
    let name = UserVariableName::parse(name).unwrap();
    NewUserVariable { name, value: SecretValue::new("8812".to_owned()), is_sensitive: false }
}
