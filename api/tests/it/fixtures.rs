//! Things in the store, as sentences: an organisation, a tool, a version, a run.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use agents::{
    AgentRunKind, AgentRunOptions, AgentRunState, Checkpoint, HumanRequestKind, NewAgentRun, NewHumanRequest,
    RunCheckpoint, RunObjective, StartedAgentRun, Urgency,
};
use axum::http::StatusCode;
use registry::{
    AgentId, AgentRunId, Attestation, BegunOperation, BranchName, BumpKind, Digest, EnvvarName, FailedBuild,
    FinishedRun, Grants, HeldRuns, HoldReason, HumanRequestId, InvocationMetadata, InvocationSource, IssuedKey,
    Language, Lease, NewApiKey, NewOperation, NewOrganization, NewUser, NewVersion, OperationKind, OrganizationId,
    Outcome, ProjectPath, RecordEvent, RecordedInput, RoleName, RunBounds, RunEnd, RunId, RunStart, SignIn, SignedIn,
    Store, ToolId, ToolWorld, UserId, Version, VersionSettings,
};
use serde_json::{Value, json};

use crate::harness::TestApp;

/// Longer than any test.
const LEASE_TIME: Duration = Duration::from_secs(60);

static SCHEMAS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../tests/contract/tool-schemas.json")).unwrap());

/// Fails when `body` is not of the contract's schema `name`.
pub fn assert_shape(name: &str, body: &Value) {
    let document = json!({"$ref": format!("#/components/schemas/{name}"), "components": {"schemas": SCHEMAS.clone()}});
    let validator = jsonschema::options().should_validate_formats(true).build(&document).unwrap();
    let errors: Vec<_> =
        validator.iter_errors(body).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{name}: {errors:?}\n{body:#}");
}

/// An organisation with its key, and a token of its user.
pub async fn create_organization(store: &Store, organization: &str, user: &str) -> (IssuedKey, String) {
    let organization = OrganizationId::parse(organization).unwrap();
    let access = store.access();
    let key = access.create_organization(NewOrganization { organization, user: UserId::parse(user).unwrap() });
    let key = key.await.unwrap();
    let token = issue_token(store, &key).await.unwrap();
    (key, token)
}

/// A token for a key, if it is accepted.
pub async fn issue_token(store: &Store, key: &IssuedKey) -> Option<String> {
    let (organization, user) = (&key.organization, key.user.as_str());
    let sign_in = SignIn { organization, api_key_id: &key.api_key_id, api_key: key.api_key.expose(), user };
    match store.access().sign_in(sign_in).await.unwrap() {
        SignedIn::Issued(token) => Some(token.id_token.expose().to_owned()),
        SignedIn::Refused(_) => None,
    }
}

impl TestApp {
    /// A key of a new user of `acme` who has this role.
    pub async fn member_key(&self, user: &str, role: &str) -> IssuedKey {
        let id = UserId::parse(user).unwrap();
        let new = NewUser { id: id.clone(), role: RoleName::parse(role).unwrap() };
        self.store.access().create_user(&self.principal.organization, new).await.unwrap();
        let organization = &self.principal.organization;
        let account = self.store.access().account(organization, &id).await.unwrap();
        self.store
            .access()
            .create_api_key(organization, NewApiKey { account, name: None, expires_at: None })
            .await
            .unwrap()
    }

    /// A token of a new user of `acme` who has this role.
    pub async fn member(&self, user: &str, role: &str) -> String {
        issue_token(&self.store, &self.member_key(user, role).await).await.unwrap()
    }

    /// A token of a new user of `acme` with these grants; the role has the user's name.
    pub async fn member_with(&self, user: &str, grants: Grants) -> String {
        let role = RoleName::parse(user).unwrap();
        self.store.access().create_role(&self.principal.organization, role, grants).await.unwrap();
        self.member(user, user).await
    }

    /// Creates a tool through the API.
    pub async fn tool(&self, name: &str) -> String {
        let answer = self.post("/tool", &json!({"name": name, "description": "A tool.", "tags": {}})).await;
        answer.json()["id"].as_str().unwrap_or_else(|| panic!("{}", answer.json())).to_owned()
    }

    pub async fn lease(&self, tool: &str) -> Lease {
        let tool = ToolId::parse(tool).unwrap();
        self.store.versions().acquire_lease(&self.principal, &tool, LEASE_TIME).await.unwrap()
    }

    /// An agent of the organisation that is not deployed.
    pub async fn draft(&self, slug: &str) -> String {
        let agent = json!({
            "agent_type": "agent", "name": slug, "slug": slug, "description": "Helps.", "scope": "organization"
        });
        let answer = self.post("/agent", &agent).await;
        answer.json()["id"].as_str().unwrap_or_else(|| panic!("{}", answer.json())).to_owned()
    }

    /// An agent of the organisation that runs a revision with a published tool.
    pub async fn agent(&self, slug: &str, tool: &str) -> String {
        let id = self.draft(slug).await;
        let assignment = json!({"tool_id": tool, "version_constraint": ">=0"});
        assert_eq!(self.post(&format!("/agent/{id}/assignment"), &assignment).await.status, StatusCode::NO_CONTENT);
        assert_eq!(self.post(&format!("/agent/{id}/deploy"), &json!({})).await.status, StatusCode::OK);
        id
    }

    /// A conversation with an agent and a turn of it. The draft of the agent gets a state.
    pub async fn turn(&self, agent: &str, state: &str) -> (String, String) {
        let id = async |path: &str| self.post(path, &json!({})).await.json()["id"].as_str().unwrap().to_owned();
        let conversation = id(&format!("/agent/{agent}/conversation")).await;
        let turn = id(&format!("/conversation/{conversation}/turn")).await;
        let state = json!({"name": state, "type": "decision"});
        assert_eq!(self.post(&format!("/agent/{agent}/state"), &state).await.status, StatusCode::NO_CONTENT);
        (conversation, turn)
    }

    /// A run of an agent that goes on.
    pub async fn agent_run(&self, agent: &str) -> String {
        let document = RunCheckpoint::new(AgentRunOptions::new("x".to_owned())).written().unwrap();
        let new = NewAgentRun {
            agent: AgentId::parse(agent).unwrap(),
            kind: AgentRunKind::Agent,
            objective: RunObjective::of("x"),
            document: document.to_string(),
            once: None,
        };
        let started = self.agent_store.agent_runs().start_agent_run(&self.principal, new).await.unwrap();
        let StartedAgentRun::New(run) = started else { panic!("{started:?}") };
        run.id.to_string()
    }

    /// The request of a run that was cancelled, since answering an open one takes a model.
    pub async fn human_request(&self, agent: &str) -> String {
        let id = AgentRunId::parse(&self.agent_run(agent).await).unwrap();
        let run = self.agent_store.agent_runs().get_agent_run(&self.principal, &id).await.unwrap().unwrap();
        let clock = self.store.clock();
        let request = NewHumanRequest {
            id: HumanRequestId::new(clock),
            kind: HumanRequestKind::Question,
            urgency: Urgency::High,
            document: json!({"question": "x", "options": [], "context_summary": null, "tool": null, "forms": []})
                .to_string(),
            expires_at: clock.now().after(LEASE_TIME),
        };
        let request_id = request.id.to_string();
        let (state, document) = (AgentRunState::Paused, run.document.clone());
        let pausing = Checkpoint { state, iterations: 1, document, steps: vec![], request: Some(request) };
        let paused = self.agent_store.agent_runs().save_agent_run(&run, pausing).await.unwrap().unwrap();
        assert!(self.agent_store.agent_runs().cancel_agent_run(&paused).await.unwrap());
        request_id
    }

    /// A build of a tool that failed, with its log.
    pub async fn add_failed_build(&self, tool: &str, log: &str) -> String {
        let lease = self.lease(tool).await;
        let failed = FailedBuild { stage: "compile".into(), message: "tool.py:3: no".into(), log: log.into() };
        self.store.versions().record_failed_build(&lease, failed).await.unwrap();
        lease.build.to_string()
    }

    /// An operation that has begun, on a tool that does not exist.
    pub async fn operation(&self, kind: OperationKind) -> String {
        self.operation_on(kind, ToolId::new(self.store.clock()).as_str()).await
    }

    pub async fn operation_on(&self, kind: OperationKind, tool: &str) -> String {
        let new = NewOperation { kind, tool: ToolId::parse(tool).unwrap(), once: None, request: None };
        let begun = self.store.operations().begin_operation(&self.principal, new).await.unwrap();
        let BegunOperation::New(operation) = begun else { panic!("{begun:?}") };
        operation.id.to_string()
    }

    /// A hold of all runs.
    pub async fn hold(&self) -> String {
        let reason = HoldReason::parse("case 1").unwrap();
        self.store.history().place_hold(&self.principal, reason, HeldRuns::default()).await.unwrap().id.to_string()
    }

    /// Publishes the next minor version of a tool without building anything.
    pub async fn version(&self, tool: &str, required_secrets: &[&str]) {
        let lease = self.lease(tool).await;
        let new = new_version(required_secrets, self.attestation(&lease, BumpKind::Minor).await);
        self.store.versions().publish_version(&lease, new).await.unwrap();
    }

    /// The attestation of the next version of a tool.
    async fn attestation(&self, lease: &Lease, bump: BumpKind) -> Attestation {
        let highest = self.store.versions().highest_version(&lease.organization, &lease.tool).await.unwrap();
        let version = highest.map_or(Version::FIRST, |highest| highest.version.bump(bump));
        let signed_by = self.store.versions().signing_key(&lease.organization).await.unwrap().public_key().unwrap();
        Attestation { version, signed_by, provenance: "{}".to_owned(), sbom: "{}".to_owned() }
    }

    /// Publishes the first version of a new tool with an input schema of so many bytes.
    pub async fn tool_with_schema(&self, name: &str, bytes: usize) -> String {
        let tool = self.tool(name).await;
        self.version_with_schema(&tool, bytes).await;
        tool
    }

    /// Publishes the next major version of a tool with an input schema of so many bytes.
    pub async fn version_with_schema(&self, tool: &str, bytes: usize) {
        let lease = self.lease(tool).await;
        let input_schema = json!({"type": "object", "description": "x".repeat(bytes - 34)});
        assert_eq!(input_schema.to_string().len(), bytes);
        let bump = BumpKind::Major;
        let new = NewVersion { input_schema, bump, ..new_version(&[], self.attestation(&lease, bump).await) };
        self.store.versions().publish_version(&lease, new).await.unwrap();
    }

    /// Ends a build with a version.
    pub async fn publish_under(&self, lease: &Lease) {
        let new = new_version(&[], self.attestation(lease, BumpKind::Minor).await);
        self.store.versions().publish_version(lease, new).await.unwrap();
    }

    /// Records a run of some tool that answered, or failed with, `text`.
    pub async fn run(&self, text: &str, succeeded: bool) -> String {
        self.run_of(ToolId::new(self.store.clock()).as_str(), text, succeeded).await
    }

    /// Records a run of version 1.0.0 of `tool` in a conversation.
    pub async fn run_of(&self, tool: &str, text: &str, succeeded: bool) -> String {
        let clock = self.store.clock();
        let id = RunId::new(clock);
        let organization = self.principal.organization.clone();
        let started = RunStart {
            tool: Some(ToolId::parse(tool).unwrap()),
            tool_version: Some(Version::FIRST),
            input: RecordedInput::redacting(serde_json::Map::new(), BTreeMap::new(), [&"pin".to_owned()]),
            started_at: clock.now(),
            ..RunStart::minimal(id.clone(), &self.principal, conversation())
        };
        self.store.history().record(&RecordEvent::Started { operation: None, runs: vec![started] }).await.unwrap();
        let end = RunEnd {
            at: clock.now(),
            duration_ms: 3,
            outcome: outcome(text, succeeded),
            persisted: true,
            status_events: vec![],
            logs: String::new(),
            content: Vec::new(),
            ledger: None,
            refused_at: None,
        };
        let finished = FinishedRun { id: id.clone(), organization, end, tape: None, answers: None };
        self.store.history().record(&RecordEvent::Finished(vec![finished])).await.unwrap();
        id.to_string()
    }
}

fn outcome(text: &str, succeeded: bool) -> Outcome {
    if succeeded {
        return Outcome::Succeeded { output: text.to_owned() };
    }
    Outcome::Failed {
        exception_type: "ValueError".to_owned(),
        exception_message: text.to_owned(),
        exception_stack_trace: vec!["File \"tool.py\", line 1".to_owned()],
    }
}

pub fn conversation() -> InvocationSource {
    InvocationSource::RegularConversation {
        user_id: "u1".to_owned(),
        conversation_id: Some("c".repeat(24)),
        interaction_id: Some("d".repeat(24)),
        invocation_metadata: InvocationMetadata::EngageUser {
            current_state_machine_and_version: ("greeting".to_owned(), 1),
            tool_call_round_index: 0,
        },
    }
}

fn new_version(required_secrets: &[&str], attestation: Attestation) -> NewVersion {
    NewVersion {
        bump: BumpKind::Minor,
        required_envvars: vec![],
        required_secret_envvars: required_secrets.iter().map(|name| EnvvarName::parse(name).unwrap()).collect(),
        input_schema: json!({"type": "object"}),
        commit: "a".repeat(40),
        commit_branch: BranchName::parse("releases/acme").unwrap(),
        scaffold_commit: "b".repeat(40),
        project_path: ProjectPath::parse("tools/search").unwrap(),
        settings: VersionSettings {
            language: Language::Python,
            entry_point: "tool:run_tool".to_owned(),
            allowed_hosts: vec![],
            secret_hosts: Default::default(),
            output_schema: None,
            mocks_digest: None,
            timeout_ms: 30_000,
            memory_bytes: 1 << 27,
            limits: RunBounds::default(),
            tape: true,
            recorded_answers: false,
            world: ToolWorld {
                name: "lathe:tool/tool@0.1.0".to_owned(),
                imports: Vec::new(),
                exports: vec!["run-tool".to_owned()],
            },
            annotations: Default::default(),
            intervention: Default::default(),
            intervention_rules: Vec::new(),
            task_support: Default::default(),
            mcp: Default::default(),
            calls: Default::default(),
            apis: Default::default(),
            system_role: None,
        },
        image_digest: Digest::of(b"image"),
        bundle_digest: Some(Digest::of(b"bundle")),
        component_digest: Digest::of(b"component"),
        build_log: "built\n".to_owned(),
        attestation,
    }
}
