//! Deployments: numbered revisions, which later edits do not change.

use agents::{AgentChanges, AgentRevision, Assignment, AssignmentProblem, SystemPrompt, ToolExposure};
use registry::{AgentId, BumpKind, Constraint, Digest, Page, Principal, RevisionNumber, ToolId};

use crate::agents::assignment;
use crate::world::World;

impl World {
    async fn prompted(
        &self,
        principal: &Principal,
        agent: &AgentId,
        prompt: &str,
    ) -> Result<AgentRevision, agents::Error> {
        let system_prompt = Some(SystemPrompt::parse(prompt).unwrap());
        let changes = AgentChanges { system_prompt, ..AgentChanges::default() };
        self.agent_store.agents().modify_agent(principal, agent, changes).await.unwrap();
        self.agent_store.agents().deploy_agent(principal, agent).await
    }
}

fn number(number: u32) -> RevisionNumber {
    RevisionNumber::try_from(number).unwrap()
}

#[tokio::test]
async fn edits_change_the_draft_and_deployments_the_running_revision() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (agent, tool) = (world.agent(&acme, "helper").await, world.tool(&acme, "lookup").await);
    world.publish(&acme, &tool, BumpKind::Major).await;
    world.agent_store.agents().assign_tool(&acme, &agent, assignment(&tool, ">=1")).await.unwrap();
    let first = world.prompted(&acme, &agent, "One.").await.unwrap();
    assert_eq!((first.deployment.number, &first.deployment.deployed_by), (RevisionNumber::FIRST, &acme.user()));
    assert_eq!(
        world.agent_store.agents().deploy_agent(&acme, &agent).await.unwrap(),
        first,
        "the draft has not changed"
    );

    world.agent_store.agents().unassign_tool(&acme, &agent, &tool).await.unwrap();
    let (shown, draft) = world.agent_store.agents().get_agent(&acme, &agent).await.unwrap().unwrap();
    assert_eq!((shown.running_revision, draft.assignments.len()), (Some(number(1)), 0));
    let agents = world.agent_store.agents();
    let stored = || agents.get_agent_revision(&acme, &agent, number(1));
    assert_eq!(stored().await.unwrap(), Some(first.clone()));

    let second = world.prompted(&acme, &agent, "Two.").await.unwrap();
    assert_eq!((second.deployment.number, second.content.assignments.len()), (number(2), 0));
    assert_eq!(stored().await.unwrap(), Some(first));
    assert!(world.agent_store.agents().get_agent_revision(&acme, &agent, number(3)).await.unwrap().is_none());
}

#[tokio::test]
async fn a_deployment_names_the_assignment_that_cannot_run() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let other = world.organization("other").await;
    let agent = world.agent(&acme, "helper").await;
    let foreign = world.tool(&other, "lookup").await;
    world.publish(&other, &foreign, BumpKind::Major).await;
    let problem = async |tool: &ToolId, constraint: &str| {
        world.agent_store.agents().assign_tool(&acme, &agent, assignment(tool, constraint)).await.unwrap();
        let refused = world.agent_store.agents().deploy_agent(&acme, &agent).await.unwrap_err();
        world.agent_store.agents().unassign_tool(&acme, &agent, tool).await.unwrap();
        assert!(refused.to_string().contains(tool.as_str()), "{refused}");
        let agents::Error::AssignmentUnusable { problem, .. } = refused else { panic!("{refused}") };
        *problem
    };
    assert_eq!(problem(&ToolId::new(&world.clock), "").await, AssignmentProblem::ToolUnknown);
    assert_eq!(problem(&foreign, "").await, AssignmentProblem::ToolUnknown);
    let tool = world.tool(&acme, "lookup").await;
    let name = || "lookup".parse().unwrap();
    let missing = |constraint| AssignmentProblem::VersionMissing { name: name(), constraint };
    assert_eq!(problem(&tool, "").await, missing(Constraint::any()));
    world.publish(&acme, &tool, BumpKind::Major).await;
    assert_eq!(problem(&tool, ">=9").await, missing(Constraint::parse(">=9").unwrap()));
    world.store.versions().deprecate_versions(&acme, &tool, &Constraint::any()).await.unwrap();
    assert_eq!(problem(&tool, "").await, missing(Constraint::any()));
    world.store.tools().deprecate_tool(&acme, &tool).await.unwrap();
    assert_eq!(problem(&tool, "").await, AssignmentProblem::ToolDeprecated { name: name() });
    let (shown, _) = world.agent_store.agents().get_agent(&acme, &agent).await.unwrap().unwrap();
    assert_eq!(shown.running_revision, None);
}

#[tokio::test]
async fn a_revision_keeps_the_tool_exposure_of_its_draft() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let agent = world.agent(&acme, "helper").await;
    let first = world.agent_store.agents().deploy_agent(&acme, &agent).await.unwrap();
    assert_eq!(first.content.tool_exposure, ToolExposure::Full);
    let changes = AgentChanges { tool_exposure: Some(ToolExposure::Search), ..AgentChanges::default() };
    world.agent_store.agents().modify_agent(&acme, &agent, changes).await.unwrap();
    world.agent_store.agents().modify_agent(&acme, &agent, AgentChanges::default()).await.unwrap();
    let (_, draft) = world.agent_store.agents().get_agent(&acme, &agent).await.unwrap().unwrap();
    assert_eq!((draft.tool_exposure, draft.system_prompt.as_str()), (ToolExposure::Search, "Help."));
    let second = world.agent_store.agents().deploy_agent(&acme, &agent).await.unwrap();
    assert_eq!((second.deployment.number, second.content.tool_exposure), (number(2), ToolExposure::Search));
    for revision in [first, second] {
        let stored =
            world.agent_store.agents().get_agent_revision(&acme, &agent, revision.deployment.number).await.unwrap();
        assert_eq!(stored, Some(revision));
    }
}

/// The highest live version that matches counts, so a later publication or deprecation can end the match.
#[tokio::test]
async fn a_pinned_digest_is_that_of_the_version() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (agent, tool) = (world.agent(&acme, "helper").await, world.tool(&acme, "lookup").await);
    let version = world.publish(&acme, &tool, BumpKind::Major).await;
    let (present, other) = (version.component_digest, Digest::of(b"another component"));
    let assign = async |pinned| {
        let assigned = Assignment { component_digest: Some(pinned), ..assignment(&tool, "<2") };
        world.agent_store.agents().assign_tool(&acme, &agent, assigned).await.unwrap();
    };
    assign(other).await;
    let refused = world.agent_store.agents().deploy_agent(&acme, &agent).await.unwrap_err();
    let text = refused.to_string();
    for word in ["`lookup`", "1.0.0", &other.to_string(), &present.to_string()] {
        assert!(text.contains(word), "{text}");
    }
    let agents::Error::AssignmentUnusable { problem, .. } = refused else { panic!("{refused}") };
    let name = "lookup".parse().unwrap();
    let differs = AssignmentProblem::DigestDiffers { name, version: version.version, pinned: other, present };
    assert_eq!(*problem, differs);
    assign(present).await;
    let revision = world.agent_store.agents().deploy_agent(&acme, &agent).await.unwrap();
    assert_eq!(revision.content.assignments[0].component_digest, Some(present));
    let stored = world.agent_store.agents().get_agent_revision(&acme, &agent, RevisionNumber::FIRST).await.unwrap();
    assert_eq!(stored, Some(revision));
}

#[tokio::test]
async fn revisions_are_listed_in_pages() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let agent = world.agent(&acme, "helper").await;
    for prompt in ["One.", "Two.", "Three."] {
        world.prompted(&acme, &agent, prompt).await.unwrap();
    }
    let (mut numbers, mut page) = (Vec::new(), Page::first(2));
    loop {
        let slice = world.agent_store.agents().list_agent_revisions(&acme, &agent, page).await.unwrap();
        numbers.extend(slice.items.iter().map(|deployment| deployment.number.get()));
        let Some(token) = slice.next else { break };
        page = Page { token, ..page };
    }
    assert_eq!(numbers, [3, 2, 1]);
    let foreign = world.organization("other").await;
    let hidden = world.agent_store.agents().list_agent_revisions(&foreign, &agent, Page::first(2)).await;
    assert!(matches!(hidden, Err(registry::Error::NotFound { what: "agent" })), "{hidden:?}");
    assert!(world.agent_store.agents().get_agent_revision(&foreign, &agent, number(1)).await.unwrap().is_none());
}
