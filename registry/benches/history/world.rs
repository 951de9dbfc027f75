//! The store with its organisations and their tools.

use std::time::Duration;

use fastrand::Rng;
use registry::{
    AccountId, Clock, Config, DataDir, Description, Grants, KeyRing, NewOrganization, NewTool, OrganizationId, Page,
    Principal, Store, StoreOptions, Tags, Timestamp, ToolFilter, ToolId, ToolName,
};

use crate::arguments::Arguments;

/// The time of the first run, in milliseconds.
pub const START: i64 = 1_780_000_000_000;
/// Milliseconds from the first run to the last one.
pub const SPAN_MS: u64 = 180 * 24 * 3_600_000;

/// Organisations with their runs of 10,000.
const ORGANIZATIONS: [(&str, u32); 10] = [
    ("large", 5_000),
    ("medium", 2_000),
    ("north", 600),
    ("south", 600),
    ("east", 600),
    ("west", 600),
    ("upper", 300),
    ("lower", 289),
    ("small", 10),
    ("tiny", 1),
];
const TOOLS: usize = 30;
const WRITERS: usize = 3;
/// Queries may take long, so that they are measured instead of refused.
const QUERY_TIME_MAX: Duration = Duration::from_mins(2);

pub struct World {
    pub seed: u64,
    pub store: Store,
    /// Stores that fill the database side by side: several servers, unless the database has only one.
    pub writers: Vec<Store>,
    pub clock: Clock,
    pub organizations: Vec<Organization>,
}

pub struct Organization {
    pub id: OrganizationId,
    pub tools: Vec<ToolId>,
    share: u32,
}

impl World {
    /// Opens the store, and makes the organisations unless they are there.
    pub async fn open(arguments: &Arguments) -> Self {
        let data = DataDir::open(&arguments.data).expect("the data directory");
        let keys = KeyRing::load(&data).expect("the master key");
        let clock = Clock::fixed(Timestamp::from_milliseconds(START));
        let config = Config { list_time_max: QUERY_TIME_MAX, ..Config::default() };
        let database = arguments.database.clone();
        let open = async || {
            let (database, clock, config) = (database.clone(), clock.clone(), config.clone());
            let options = StoreOptions { data: &data, database, keys: &keys, clock, config };
            Store::open(options).await.expect("the store")
        };
        let store = open().await;
        let mut writers = vec![store.clone()];
        while store.is_shared() && writers.len() < WRITERS {
            writers.push(open().await);
        }
        let mut organizations = Vec::new();
        for (name, share) in ORGANIZATIONS {
            let principal = principal(name);
            if !arguments.measures_only && arguments.from == 0 {
                create(&store, &principal).await;
            }
            let listed =
                store.tools().list_tools(&principal.organization, &ToolFilter::default(), Page::first(100)).await;
            let mut tools = listed.expect("the tools").items;
            tools.sort_by_key(|tool| tool.name.to_string());
            let tools = tools.into_iter().map(|tool| tool.id).collect();
            organizations.push(Organization { id: principal.organization, tools, share });
        }
        Self { seed: arguments.seed, store, writers, clock, organizations }
    }

    /// Draws an organisation by its share.
    pub fn drawn(&self, rng: &mut Rng) -> &Organization {
        let mut drawn = rng.u32(0..10_000);
        let found = self.organizations.iter().find(|organization| {
            let is_drawn = drawn < organization.share;
            drawn = drawn.saturating_sub(organization.share);
            is_drawn
        });
        found.unwrap_or(&self.organizations[0])
    }

    pub fn named(&self, name: &str) -> &Organization {
        self.organizations.iter().find(|organization| organization.id.as_str() == name).expect("an organisation")
    }

    pub async fn close(&self) {
        for store in &self.writers {
            store.close().await;
        }
    }
}

fn principal(organization: &str) -> Principal {
    let organization = OrganizationId::parse(organization).expect("a name");
    let account = AccountId::parse("ann#1").expect("an account");
    Principal { organization, account, grants: Grants::everything(), key: None, agent: None, address: None }
}

async fn create(store: &Store, principal: &Principal) {
    let (organization, user) = (principal.organization.clone(), principal.user());
    store.access().create_organization(NewOrganization { organization, user }).await.expect("an organisation");
    for number in 0..TOOLS {
        let name = ToolName::parse(&format!("tool_{number:02}")).expect("a name");
        let description = Description::parse("finds things").expect("a description");
        store
            .tools()
            .create_tool(principal, NewTool { name, description, tags: Tags::default() })
            .await
            .expect("a tool");
    }
}
