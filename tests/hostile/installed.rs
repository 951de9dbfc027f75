//! Installs versions with a given component into the data directory of a running server, as a build would.

use std::collections::BTreeMap;
use std::time::Duration;

use registry::{
    AccountId, Artifacts, Attestation, BranchName, BumpKind, Clock, Config, DataDir, DatabaseLocation, Digest,
    EnvvarName, Grants, KeyRing, Language, NewVersion, OrganizationId, Principal, ProjectPath, RunBounds, Store,
    StoreOptions, ToolId, ToolWorld, Version, VersionSettings,
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::harness::{Team, Tool};

/// Lease time, longer than writing a row takes.
const LEASE: Duration = Duration::from_secs(60);

/// Settings of a version.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub timeout_ms: u64,
    pub memory_bytes: u64,
    pub limits: RunBounds,
    pub required_envvars: &'static [&'static str],
}

impl Default for Settings {
    fn default() -> Self {
        // The maximum of a version; only cases about time set less.
        Self { timeout_ms: 300_000, memory_bytes: 128 << 20, limits: RunBounds::default(), required_envvars: &[] }
    }
}

/// Access to the data directory of a team's server.
pub struct Installer<'t> {
    team: &'t Team,
    runtime: Runtime,
    store: Store,
    artifacts: Artifacts,
    principal: Principal,
}

impl<'t> Installer<'t> {
    pub fn new(team: &'t Team) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let data = DataDir::open(team.server.data()).expect("a data directory");
        let keys = KeyRing::load(&data).expect("keys");
        let store = Store::open(StoreOptions {
            data: &data,
            database: DatabaseLocation::DataDirectory,
            keys: &keys,
            clock: Clock::system(),
            config: Config::default(),
        });
        let store = runtime.block_on(store).expect("a store");
        let principal = Principal {
            organization: OrganizationId::parse(&team.organization).expect("a name"),
            account: AccountId::parse(&format!("{}#1", team.user)).expect("an account"),
            grants: Grants::everything(),
            key: None,
            agent: None,
            address: None,
        };
        Self { team, runtime, store, artifacts: Artifacts::open(&data).expect("artifacts"), principal }
    }

    /// Makes a tool whose only version is this component.
    pub fn install(&self, name: &str, component: &[u8], settings: Settings) -> Tool<'t> {
        let tool = self.team.tool(name);
        self.publish(&tool, component, settings);
        tool
    }

    /// Publishes the component as a version of an existing tool.
    pub fn publish(&self, tool: &Tool<'_>, component: &[u8], settings: Settings) {
        self.publish_with_schema(tool, component, settings, json!({"type": "object"}));
    }

    /// Publishes the component with the schema of its input.
    pub fn publish_with_schema(&self, tool: &Tool<'_>, component: &[u8], settings: Settings, input_schema: Value) {
        let id = ToolId::parse(tool.id()).expect("an id");
        self.runtime.block_on(async {
            let digest = self.artifacts.put(component.to_vec()).await.expect("an artifact");
            let lease = self.store.versions().acquire_lease(&self.principal, &id, LEASE).await.expect("a lease");
            let version = NewVersion { input_schema, ..new_version(digest, settings, self.attestation(&id).await) };
            self.store.versions().publish_version(&lease, version).await.expect("a version");
        });
    }

    /// The attestation of the next version of a tool, without documents.
    async fn attestation(&self, tool: &ToolId) -> Attestation {
        let organization = &self.principal.organization;
        let highest = self.store.versions().highest_version(organization, tool).await.expect("the versions");
        let key = self.store.versions().signing_key(organization).await.expect("a key");
        Attestation {
            version: highest.map_or(Version::FIRST, |highest| highest.version.bump(BumpKind::Minor)),
            signed_by: key.public_key().expect("a public key"),
            provenance: "{}".to_owned(),
            sbom: "{}".to_owned(),
        }
    }
}

fn new_version(digest: Digest, settings: Settings, attestation: Attestation) -> NewVersion {
    let Settings { timeout_ms, memory_bytes, limits, required_envvars } = settings;
    NewVersion {
        bump: BumpKind::Minor,
        required_envvars: required_envvars.iter().map(|name| EnvvarName::parse(name).expect("a name")).collect(),
        required_secret_envvars: Vec::new(),
        input_schema: json!({"type": "object"}),
        commit: "a".repeat(40),
        commit_branch: BranchName::parse("releases/hostile").expect("a branch"),
        scaffold_commit: "b".repeat(40),
        project_path: ProjectPath::parse("tools/hostile").expect("a path"),
        settings: VersionSettings {
            language: Language::Rust,
            entry_point: "run-tool".to_owned(),
            allowed_hosts: Vec::new(),
            secret_hosts: BTreeMap::new(),
            output_schema: None,
            mocks_digest: None,
            timeout_ms,
            memory_bytes,
            limits,
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
        image_digest: digest,
        bundle_digest: None,
        component_digest: digest,
        build_log: String::new(),
        attestation,
    }
}
