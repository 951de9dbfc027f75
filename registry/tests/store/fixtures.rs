//! A store per test, and fixtures with defaults for everything that a test does not set.

use std::time::Duration;

use registry::{
    AccountId, AgentCall, AgentId, AgentProtocol, Artifacts, Attestation, BranchName, BumpKind, ClientName, Clock,
    Config, DataDir, DataDirLock, DatabaseLocation, Description, Digest, EnvvarChanges, EnvvarInsert, EnvvarName,
    FailedBuild, FinishedRun, Grants, InvocationMetadata, InvocationSource, KeyRing, Language, Lease, NewApiKey,
    NewOrganization, NewTool, NewVersion, OrganizationId, Outcome, Principal, ProjectPath, PublicKey, RecordEvent,
    Recordings, RevisionNumber, Rollback, RunBounds, RunEnd, RunId, RunStart, SecretValue, SignIn, SignedIn, Store,
    StoreOptions, Tags, Timestamp, ToolId, ToolName, ToolVersion, ToolWorld, TurnId, UserId, Version, VersionSettings,
};
use tempfile::TempDir;

use crate::database;

/// Longer than any test.
pub const LONG: Duration = Duration::from_secs(600);

pub struct World {
    pub store: Store,
    pub clock: Clock,
    pub data: DataDir,
    pub database: DatabaseLocation,
    pub keys: KeyRing,
    lock: DataDirLock,
    _folder: TempDir,
}

impl World {
    pub async fn new() -> Self {
        Self::with(Config::for_tests()).await
    }

    pub async fn with(config: Config) -> Self {
        Self::on(tempfile::tempdir().unwrap(), config).await.unwrap()
    }

    /// Opens the data directory `data` in a folder.
    pub async fn on(folder: TempDir, config: Config) -> registry::Result<Self> {
        Self::in_database(folder, config, database::fresh().await).await
    }

    pub async fn in_database(folder: TempDir, config: Config, database: DatabaseLocation) -> registry::Result<Self> {
        Self::opened_by(folder, database, async |options| Store::open(StoreOptions { config, ..options }).await).await
    }

    /// Like [`World::in_database`], with a store that the caller opens.
    pub async fn opened_by(
        folder: TempDir,
        database: DatabaseLocation,
        open: impl AsyncFnOnce(StoreOptions<'_>) -> registry::Result<Store>,
    ) -> registry::Result<Self> {
        let data = DataDir::open(folder.path().join("data")).unwrap();
        let keys = KeyRing::load(&data).unwrap();
        let lock = data.lock().unwrap();
        let clock = Clock::fixed(Timestamp::from_milliseconds(1_790_000_000_000));
        let config = Config::for_tests();
        let options =
            StoreOptions { data: &data, database: database.clone(), keys: &keys, clock: clock.clone(), config };
        let store = open(options).await?;
        Ok(Self { store, clock, data, database, keys, lock, _folder: folder })
    }

    /// The recordings of runs, with large bodies in the data directory.
    pub fn recordings(&self) -> Recordings {
        Recordings::of(&self.store, &Artifacts::open(&self.data).unwrap())
    }

    /// The lock of the data directory.
    pub fn lock(&self) -> &DataDirLock {
        &self.lock
    }

    /// The options of another store on the same data.
    pub fn options(&self) -> StoreOptions<'_> {
        let Self { data, database, keys, clock, .. } = self;
        StoreOptions { data, database: database.clone(), keys, clock: clock.clone(), config: Config::for_tests() }
    }

    /// Opens the same data as another start of the process. The old store is dropped without closing, like a crash.
    pub async fn restart(&mut self) {
        self.clock.advance(Duration::from_secs(1));
        if database::is_server() {
            // So long ago that other servers notice.
            database::execute(self, "UPDATE nodes SET seen_at = 0").await.unwrap();
        }
        self.store = Store::open(self.options()).await.unwrap();
    }

    /// Closes the store and returns everything that its database has.
    pub async fn stored_bytes(&self) -> Vec<u8> {
        self.store.close().await;
        let bytes = database::values(self).await;
        assert!(holds(&bytes, b"acme"), "nothing was stored");
        bytes
    }

    pub async fn organization(&self, name: &str) -> Principal {
        let principal = self.principal(name);
        let (organization, user) = (principal.organization.clone(), principal.user());
        self.store.access().create_organization(NewOrganization { organization, user }).await.unwrap();
        principal
    }

    /// The first user of an organisation.
    pub fn principal(&self, organization: &str) -> Principal {
        let (organization, account) =
            (OrganizationId::parse(organization).unwrap(), AccountId::parse("ann#1").unwrap());
        Principal { organization, account, grants: Grants::everything(), key: None, agent: None, address: None }
    }

    /// The account of a user of an organisation.
    pub async fn account(&self, organization: &OrganizationId, user: &str) -> AccountId {
        self.store.access().account(organization, &UserId::parse(user).unwrap()).await.unwrap()
    }

    pub async fn new_key(&self, organization: &OrganizationId, user: &str) -> NewApiKey {
        NewApiKey { account: self.account(organization, user).await, name: None, expires_at: None }
    }

    /// Creates a key of a user and signs in with it.
    pub async fn token_of(&self, organization: &OrganizationId, user: &str) -> String {
        let new = self.new_key(organization, user).await;
        let key = self.store.access().create_api_key(organization, new).await.unwrap();
        let (api_key_id, api_key) = (key.api_key_id.as_str(), key.api_key.expose());
        let signed_in = self.store.access().sign_in(SignIn { organization, api_key_id, api_key, user }).await.unwrap();
        let SignedIn::Issued(token) = signed_in else { panic!("refused") };
        token.id_token.expose().to_owned()
    }

    /// Creates a tool, a second after the previous one.
    pub async fn tool(&self, principal: &Principal, name: &str) -> ToolId {
        self.clock.advance(Duration::from_secs(1));
        self.store.tools().create_tool(principal, new_tool(name)).await.unwrap()
    }

    pub async fn variable(&self, principal: &Principal, tool: &ToolId, name: &str, is_secret: bool) {
        let insert =
            EnvvarInsert { name: envvar(name), value: SecretValue::new(format!("value of {name}")), is_secret };
        let changes = EnvvarChanges { inserts: vec![insert], ..EnvvarChanges::default() };
        self.store.tools().modify_envvars(principal, tool, changes).await.unwrap();
    }

    pub async fn lease(&self, principal: &Principal, tool: &ToolId) -> Lease {
        self.store.versions().acquire_lease(principal, tool, LONG).await.unwrap()
    }

    /// Ends a publication without a version.
    pub async fn fail_build(&self, lease: &Lease) {
        let failed = FailedBuild { stage: "compile".into(), message: "no".into(), log: String::new() };
        self.store.versions().record_failed_build(lease, failed).await.unwrap();
    }

    pub async fn publish(&self, principal: &Principal, tool: &ToolId, bump: BumpKind) -> ToolVersion {
        self.clock.advance(Duration::from_secs(1));
        let lease = self.lease(principal, tool).await;
        let new = next_version(&self.store, &lease, bump).await.unwrap();
        self.store.versions().publish_version(&lease, new).await.unwrap()
    }

    /// Records the start of a run.
    pub async fn started(&self, principal: &Principal) -> RunStart {
        self.clock.advance(Duration::from_secs(1));
        let started = started(&self.clock, principal);
        self.store.history().record(&starts(vec![started.clone()])).await.unwrap();
        started
    }

    /// Records a run that succeeded with `output`.
    pub async fn answered(&self, principal: &Principal, output: &str) -> RunId {
        let started = self.started(principal).await;
        self.store.history().record(&ends(vec![finished(&started, succeeded(output))])).await.unwrap();
        started.id
    }

    /// Records a run that failed.
    pub async fn failed(&self, principal: &Principal, kind: &str, message: &str, trace: &[&str]) -> RunId {
        let started = self.started(principal).await;
        let outcome = Outcome::Failed {
            exception_type: kind.to_owned(),
            exception_message: message.to_owned(),
            exception_stack_trace: trace.iter().map(|line| (*line).to_owned()).collect(),
        };
        self.store.history().record(&ends(vec![finished(&started, outcome)])).await.unwrap();
        started.id
    }
}

/// Runs start that belong to no operation.
pub fn starts(runs: Vec<RunStart>) -> RecordEvent {
    RecordEvent::Started { operation: None, runs }
}

pub fn ends(runs: Vec<FinishedRun>) -> RecordEvent {
    RecordEvent::Finished(runs)
}

/// Opens the store of a database beside others, as the administrator of the organisation `acme`.
pub async fn store_beside(data: &std::path::Path, database: DatabaseLocation) -> (Store, Principal) {
    let data = DataDir::open(data).unwrap();
    let keys = KeyRing::load(&data).unwrap();
    let config = Config { live_versions_max: 1_000_000, ..Config::for_tests() };
    let store =
        Store::open(StoreOptions { data: &data, database, keys: &keys, clock: Clock::system(), config }).await.unwrap();
    let (organization, account) = (OrganizationId::parse("acme").unwrap(), AccountId::parse("ann#1").unwrap());
    (store, Principal { organization, account, grants: Grants::everything(), key: None, agent: None, address: None })
}

/// A rollback of a conversation, or of one interaction.
pub fn unlinked(principal: &Principal, id: &str, interaction: Option<&str>) -> RecordEvent {
    let (id, interaction_id) = (id.to_owned(), interaction.map(str::to_owned));
    let from = Rollback::Conversation { id, interaction_id };
    RecordEvent::Unlinked {
        organization: principal.organization.clone(),
        by: principal.user(),
        own: Some(principal.account.clone()),
        from,
    }
}

/// A call in an interaction of a conversation.
pub fn conversation(id: &str, interaction: &str) -> InvocationSource {
    InvocationSource::RegularConversation {
        user_id: "ann".to_owned(),
        conversation_id: Some(id.to_owned()),
        interaction_id: Some(interaction.to_owned()),
        invocation_metadata: InvocationMetadata::EngageUser {
            current_state_machine_and_version: ("greeting".to_owned(), 3),
            tool_call_round_index: 0,
        },
    }
}

pub fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

pub fn envvar(name: &str) -> EnvvarName {
    EnvvarName::parse(name).unwrap()
}

pub fn new_tool(name: &str) -> NewTool {
    let description = Description::parse("finds things").unwrap();
    NewTool { name: ToolName::parse(name).unwrap(), description, tags: Tags::default() }
}

pub fn tags(pairs: &[(&str, Option<&str>)]) -> Tags {
    Tags::parse(pairs.iter().map(|(key, value)| ((*key).to_owned(), value.map(str::to_owned)))).unwrap()
}

/// The version after the highest one of a tool.
pub async fn next_version(store: &Store, lease: &Lease, bump: BumpKind) -> registry::Result<NewVersion> {
    let highest = store.versions().highest_version(&lease.organization, &lease.tool).await?;
    let version = highest.map_or(Version::FIRST, |highest| highest.version.bump(bump));
    let first = new_version(bump);
    Ok(NewVersion { attestation: Attestation { version, ..first.attestation }, ..first })
}

/// The first version of a tool.
pub fn new_version(bump: BumpKind) -> NewVersion {
    NewVersion {
        bump,
        required_envvars: Vec::new(),
        required_secret_envvars: Vec::new(),
        input_schema: serde_json::json!({"type": "object"}),
        commit: "a".repeat(40),
        commit_branch: BranchName::parse("releases/acme").unwrap(),
        scaffold_commit: "b".repeat(40),
        project_path: ProjectPath::parse("tools/lookup").unwrap(),
        settings: VersionSettings {
            language: Language::Python,
            entry_point: "lookup.main:run_tool".to_owned(),
            allowed_hosts: vec!["example.org".to_owned()],
            secret_hosts: Default::default(),
            output_schema: None,
            mocks_digest: None,
            timeout_ms: 30_000,
            memory_bytes: 128 << 20,
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
        build_log: "compiled\n".to_owned(),
        attestation: Attestation {
            version: Version::FIRST,
            signed_by: PublicKey::from_bytes(&[7; 32]).unwrap(),
            provenance: "{}".to_owned(),
            sbom: "{}".to_owned(),
        },
    }
}

pub fn started(clock: &Clock, principal: &Principal) -> RunStart {
    let source = InvocationSource::Direct { user_id: principal.user().into() };
    RunStart {
        tool: Some(ToolId::new(clock)),
        tool_version: Some(Version::FIRST),
        started_at: clock.now(),
        ..RunStart::minimal(RunId::new(clock), principal, source)
    }
}

/// A call through some agent, in a turn of a conversation.
pub fn agent_call(clock: &Clock, protocol: AgentProtocol) -> AgentCall {
    AgentCall {
        agent: AgentId::new(clock),
        revision: RevisionNumber::try_from(7).unwrap(),
        protocol,
        client: ClientName::of("claude-code", "2.1"),
        turn: Some(TurnId::new(clock)),
    }
}

pub fn succeeded(output: &str) -> Outcome {
    Outcome::Succeeded { output: output.to_owned() }
}

pub fn finished(started: &RunStart, outcome: Outcome) -> FinishedRun {
    let at = started.started_at.after(Duration::from_millis(20));
    let end = RunEnd {
        at,
        duration_ms: 20,
        outcome,
        persisted: true,
        status_events: Vec::new(),
        logs: String::new(),
        content: Vec::new(),
        ledger: None,
        refused_at: None,
    };
    FinishedRun { id: started.id.clone(), organization: started.organization.clone(), end, tape: None, answers: None }
}
