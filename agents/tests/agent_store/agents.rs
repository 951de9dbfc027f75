//! Agents and their drafts: created, changed, listed, assigned tools, and deleted.

use agents::{
    AgentChanges, AgentFilter, AgentName, AgentScope, AgentSlug, AgentSort, AgentType, Assignment, FillerDelay,
    NewAgent, SystemPrompt, ToolExposure,
};
use registry::{
    AccountId, AgentId, Constraint, Description, Digest, Direction, Error, Grants, HumanIntervention, Page, Permission,
    Principal, ResultPersistence, ToolId,
};

use crate::world::World;

pub fn new_agent(slug: &str) -> NewAgent {
    NewAgent {
        agent_type: AgentType::Agent,
        name: AgentName::parse(slug).unwrap(),
        slug: AgentSlug::parse(slug).unwrap(),
        description: Description::parse("Helps.").unwrap(),
        scope: AgentScope::Organization,
        system_prompt: SystemPrompt::parse("Help.").unwrap(),
        tool_exposure: ToolExposure::Full,
        built_in_tools: agents::BuiltInTools::default(),
    }
}

pub fn assignment(tool: &ToolId, constraint: &str) -> Assignment {
    Assignment {
        tool_id: tool.clone(),
        version_constraint: Constraint::parse(constraint).unwrap(),
        additional_instruction: "Once.".parse().unwrap(),
        audio_fillers: vec!["One moment.".parse().unwrap()].try_into().unwrap(),
        audio_filler_triggered_after: FillerDelay::try_from(1_500).unwrap(),
        result_persistence: ResultPersistence::Persisted,
        component_digest: None,
        human_intervention: HumanIntervention::default(),
    }
}

impl World {
    pub async fn agent(&self, principal: &Principal, slug: &str) -> AgentId {
        self.clock.advance(std::time::Duration::from_secs(1));
        self.agent_store.agents().create_agent(principal, new_agent(slug)).await.unwrap()
    }

    async fn slugs(&self, principal: &Principal, filter: &AgentFilter) -> Vec<String> {
        let (mut slugs, mut page) = (Vec::new(), Page::first(2));
        loop {
            let slice = self.agent_store.agents().list_agents(principal, filter, page).await.unwrap();
            slugs.extend(slice.items.into_iter().map(|agent| String::from(agent.slug)));
            let Some(token) = slice.next else { return slugs };
            page = Page { token, ..page };
        }
    }
}

/// A user of the same organisation with the permissions of an author.
fn bob(of: &Principal) -> Principal {
    let grants = Grants::of([Permission::GetAgent, Permission::ModifyAgent, Permission::DeleteAgent]);
    Principal { account: AccountId::parse("bob#2").unwrap(), grants, ..of.clone() }
}

#[tokio::test]
async fn an_agent_is_changed_in_part() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let agent = world.agent(&acme, "helper").await;
    let (before, _) = world.agent_store.agents().get_agent(&acme, &agent).await.unwrap().unwrap();
    assert_eq!((&before.author, before.running_revision), (&acme.account, None));
    let changes = AgentChanges { system_prompt: Some(SystemPrompt::parse("").unwrap()), ..AgentChanges::default() };
    world.agent_store.agents().modify_agent(&bob(&acme), &agent, changes).await.unwrap();
    let (after, draft) = world.agent_store.agents().get_agent(&acme, &agent).await.unwrap().unwrap();
    assert_eq!((after.name, after.slug, after.author), (before.name, before.slug, before.author));
    assert_eq!((after.updated_by.as_str(), draft.system_prompt.as_str(), draft.assignments.len()), ("bob", "", 0));
}

#[tokio::test]
async fn a_new_agent_has_the_tool_exposure_that_it_is_given() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    for (slug, tool_exposure) in [("one", ToolExposure::Full), ("two", ToolExposure::Search)] {
        let new = NewAgent { tool_exposure, ..new_agent(slug) };
        let agent = world.agent_store.agents().create_agent(&acme, new).await.unwrap();
        let (_, draft) = world.agent_store.agents().get_agent(&acme, &agent).await.unwrap().unwrap();
        assert_eq!(draft.tool_exposure, tool_exposure);
    }
}

#[tokio::test]
async fn a_slug_is_unique_until_its_agent_is_deleted() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let other = world.organization("other").await;
    let (one, two) = (world.agent(&acme, "one").await, world.agent(&acme, "two").await);
    world.agent(&other, "one").await;
    let twice = world.agent_store.agents().create_agent(&acme, new_agent("one")).await;
    assert!(matches!(&twice, Err(Error::Exists { what: "agent", name }) if name == "one"), "{twice:?}");
    let rename = || AgentChanges { slug: Some(AgentSlug::parse("one").unwrap()), ..AgentChanges::default() };
    let renamed = world.agent_store.agents().modify_agent(&acme, &two, rename()).await;
    assert!(matches!(renamed, Err(Error::Exists { .. })), "{renamed:?}");
    world.agent_store.agents().delete_agent(&acme, &one).await.unwrap();
    world.agent_store.agents().modify_agent(&acme, &two, rename()).await.unwrap();
    assert!(world.agent_store.agents().get_agent(&acme, &one).await.unwrap().is_none());
    let again = world.agent_store.agents().delete_agent(&acme, &one).await;
    assert!(matches!(again, Err(Error::NotFound { what: "agent" })), "{again:?}");
}

#[tokio::test]
async fn an_organization_has_a_bounded_number_of_agents() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    for number in 0..20 {
        world.agent(&acme, &format!("agent-{number}")).await;
    }
    let refused = world.agent_store.agents().create_agent(&acme, new_agent("one-more")).await;
    assert!(matches!(refused, Err(Error::TooMany { limit: 20, .. })), "{refused:?}");
    assert_eq!(world.slugs(&acme, &AgentFilter::default()).await.len(), 20);
}

#[tokio::test]
async fn a_personal_agent_is_seen_by_its_author_and_by_administrators() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (bob, agent) = (bob(&acme), NewAgent { scope: AgentScope::Personal, ..new_agent("own") });
    let agent = world.agent_store.agents().create_agent(&bob, agent).await.unwrap();
    let carl = Principal { account: AccountId::parse("carl#2").unwrap(), ..bob.clone() };
    for (user, is_seen) in [(&bob, true), (&acme, true), (&carl, false), (&world.organization("other").await, false)] {
        assert_eq!(world.agent_store.agents().get_agent(user, &agent).await.unwrap().is_some(), is_seen, "{user:?}");
        assert_eq!(world.slugs(user, &AgentFilter::default()).await.len(), usize::from(is_seen), "{user:?}");
        let changed = world.agent_store.agents().modify_agent(user, &agent, AgentChanges::default()).await;
        assert_eq!(changed.is_ok(), is_seen, "{user:?}");
        let tool = ToolId::new(&world.clock);
        assert_eq!(
            world.agent_store.agents().assign_tool(user, &agent, assignment(&tool, "")).await.is_ok(),
            is_seen,
            "{user:?}"
        );
        let refused = world.agent_store.agents().deploy_agent(user, &agent).await.unwrap_err();
        assert_eq!(refused.code(), if is_seen { "assignment_unusable" } else { "not_found" }, "{user:?}");
        let page = world.agent_store.agents().list_agent_revisions(user, &agent, Page::first(1)).await;
        assert_eq!(page.is_ok(), is_seen, "{user:?}");
    }
    assert!(world.agent_store.agents().delete_agent(&carl, &agent).await.is_err());
    world.agent_store.agents().delete_agent(&bob, &agent).await.unwrap();
}

#[tokio::test]
async fn lists_are_filtered_and_sorted() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let first = world.agent(&acme, "b").await;
    for slug in ["c", "a"] {
        world.agent(&acme, slug).await;
    }
    let gateway = NewAgent { agent_type: AgentType::McpGateway, ..new_agent("d") };
    world.agent_store.agents().create_agent(&acme, gateway).await.unwrap();
    let by = |sort, direction| AgentFilter { sort: vec![(sort, direction)], ..AgentFilter::default() };
    let slug = |slug: &str| AgentSlug::parse(slug).unwrap();
    for (filter, expected) in [
        (AgentFilter::default(), vec!["d", "a", "c", "b"]),
        (by(AgentSort::Name, Direction::Ascending), vec!["a", "b", "c", "d"]),
        (by(AgentSort::Name, Direction::Descending), vec!["d", "c", "b", "a"]),
        (by(AgentSort::CreatedAt, Direction::Ascending), vec!["b", "c", "d", "a"]),
        (AgentFilter { ids: vec![first], ..AgentFilter::default() }, vec!["b"]),
        (AgentFilter { slugs: vec![slug("a"), slug("c")], ..AgentFilter::default() }, vec!["a", "c"]),
        (AgentFilter { agent_types: vec![AgentType::McpGateway], ..AgentFilter::default() }, vec!["d"]),
    ] {
        assert_eq!(world.slugs(&acme, &filter).await, expected, "{filter:?}");
    }
    let wrong =
        world.agent_store.agents().list_agents(&acme, &AgentFilter::default(), Page { limit: 1, token: 1 }).await;
    assert!(matches!(wrong, Err(Error::PageTokenUnknown)), "{wrong:?}");
}

#[tokio::test]
async fn a_tool_is_assigned_once() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (agent, tool) = (world.agent(&acme, "helper").await, world.tool(&acme, "lookup").await);
    let pinned = Assignment { component_digest: Some(Digest::of(b"component")), ..assignment(&tool, ">=1") };
    let human_intervention = serde_json::json!({
        "policy": "required", "apis": {"remove": "always"},
        "rules": [{"when": {"amount": {"minimum": 100}}, "intervention": "always"}],
    });
    let human_intervention = serde_json::from_value(human_intervention).unwrap();
    let asked = Assignment { human_intervention, ..assignment(&tool, ">=1") };
    for assigned in [pinned, asked, assignment(&tool, ">=2")] {
        world.agent_store.agents().assign_tool(&acme, &agent, assigned.clone()).await.unwrap();
        let (_, draft) = world.agent_store.agents().get_agent(&acme, &agent).await.unwrap().unwrap();
        assert_eq!(draft.assignments, [assigned]);
    }
    world.agent_store.agents().unassign_tool(&acme, &agent, &tool).await.unwrap();
    let again = world.agent_store.agents().unassign_tool(&acme, &agent, &tool).await;
    assert!(matches!(again, Err(Error::NotFound { what: "assignment" })), "{again:?}");
    for _ in 0..500 {
        world
            .agent_store
            .agents()
            .assign_tool(&acme, &agent, assignment(&ToolId::new(&world.clock), ""))
            .await
            .unwrap();
    }
    let refused = world.agent_store.agents().assign_tool(&acme, &agent, assignment(&tool, "")).await;
    assert!(matches!(refused, Err(Error::TooMany { limit: 500, .. })), "{refused:?}");
}
