//! States of drafts and revisions.

use agents::{AgentState, SpecList, StateName, StateProblem, StateTools, ToolCallSpecs};
use registry::{BumpKind, RevisionNumber, ToolId};

use crate::agents::assignment;
use crate::database;
use crate::world::World;

pub fn name(name: &str) -> StateName {
    StateName::parse(name).unwrap()
}

pub fn specs(tools: &[&ToolId]) -> ToolCallSpecs {
    ToolCallSpecs::try_from(tools.iter().map(|tool| assignment(tool, ">=0")).collect::<Vec<_>>()).unwrap()
}

/// An action state with one tool for acting, and one for its exit condition.
pub fn action(state: &str, acting: &ToolId, leaving: &ToolId) -> AgentState {
    let tools = StateTools::Action {
        action_tool_call_specs: specs(&[acting]),
        exit_condition_tool_call_specs: specs(&[leaving]),
    };
    AgentState { name: name(state), tools }
}

pub fn decision(state: &str, tools: &[&ToolId]) -> AgentState {
    AgentState { name: name(state), tools: StateTools::Decision { tool_call_specs: specs(tools) } }
}

#[tokio::test]
async fn states_are_set_removed_and_deployed() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (agent, tool) = (world.agent(&acme, "helper").await, world.tool(&acme, "lookup").await);
    world.publish(&acme, &tool, BumpKind::Major).await;
    let before = world.agent_store.agents().deploy_agent(&acme, &agent).await.unwrap();
    assert!(before.content.states.is_empty());
    world.agent_store.agents().set_agent_state(&acme, &agent, decision("route", &[&tool])).await.unwrap();
    world.agent_store.agents().set_agent_state(&acme, &agent, action("act", &tool, &tool)).await.unwrap();
    world.agent_store.agents().set_agent_state(&acme, &agent, decision("act", &[])).await.unwrap();
    let (_, draft) = world.agent_store.agents().get_agent(&acme, &agent).await.unwrap().unwrap();
    assert_eq!(draft.states, [decision("act", &[]), decision("route", &[&tool])], "in the order of names");
    let deployed = world.agent_store.agents().deploy_agent(&acme, &agent).await.unwrap();
    assert_eq!((deployed.deployment.number.get(), &deployed.content), (2, &draft));
    assert_eq!(
        world.agent_store.agents().deploy_agent(&acme, &agent).await.unwrap(),
        deployed,
        "the draft has not changed"
    );

    world.agent_store.agents().remove_agent_state(&acme, &agent, &name("act")).await.unwrap();
    let again = world.agent_store.agents().remove_agent_state(&acme, &agent, &name("act")).await;
    assert!(matches!(again, Err(registry::Error::NotFound { what: "state" })), "{again:?}");
    let number = deployed.deployment.number;
    assert_eq!(world.agent_store.agents().get_agent_revision(&acme, &agent, number).await.unwrap(), Some(deployed));
    let first = world.agent_store.agents().get_agent_revision(&acme, &agent, RevisionNumber::FIRST).await.unwrap();
    assert_eq!(first, Some(before));
    let stranger = world.organization("stranger").await;
    let refused = world.agent_store.agents().set_agent_state(&stranger, &agent, decision("act", &[])).await;
    assert!(matches!(refused, Err(registry::Error::NotFound { what: "agent" })), "{refused:?}");
}

#[tokio::test]
async fn a_deployment_checks_the_tools_of_states() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (agent, tool) = (world.agent(&acme, "helper").await, world.tool(&acme, "lookup").await);
    let states = [
        action("s", &tool, &tool),
        decision("s", &[&tool]),
        AgentState { name: name("s"), tools: StateTools::Reflection { tool_call_specs: specs(&[&tool]) } },
        AgentState {
            name: name("s"),
            tools: StateTools::of_tool_call(assignment(&tool, ">=0"), ToolCallSpecs::default()).unwrap(),
        },
    ];
    for state in &states {
        world.agent_store.agents().set_agent_state(&acme, &agent, state.clone()).await.unwrap();
        let refused = world.agent_store.agents().deploy_agent(&acme, &agent).await.unwrap_err();
        assert!(matches!(refused, agents::Error::AssignmentUnusable { .. }), "{state:?}: {refused}");
    }
    world.publish(&acme, &tool, BumpKind::Major).await;
    for (state, number) in states.into_iter().zip(1..) {
        world.agent_store.agents().set_agent_state(&acme, &agent, state).await.unwrap();
        assert_eq!(
            world.agent_store.agents().deploy_agent(&acme, &agent).await.unwrap().deployment.number.get(),
            number
        );
    }
}

#[tokio::test]
async fn an_agent_has_a_bounded_number_of_states() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (agent, tool) = (world.agent(&acme, "helper").await, world.tool(&acme, "lookup").await);
    for number in 0..AgentState::COUNT_MAX {
        world.agent_store.agents().set_agent_state(&acme, &agent, decision(&format!("s{number}"), &[])).await.unwrap();
    }
    let refused = world.agent_store.agents().set_agent_state(&acme, &agent, decision("more", &[])).await;
    assert!(matches!(refused, Err(registry::Error::TooMany { limit: 100, .. })), "{refused:?}");
    world.agent_store.agents().set_agent_state(&acme, &agent, decision("s7", &[&tool])).await.unwrap();
    let statement = format!("UPDATE agent_states SET state = '\"{}\"' WHERE name = 's1'", "x".repeat(1024 * 1024));
    database::execute(&world, &statement).await.unwrap();
    let refused = world.agent_store.agents().set_agent_state(&acme, &agent, decision("s8", &[])).await;
    assert!(
        matches!(refused, Err(registry::Error::TooMany { what: "bytes of the states of an agent", .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_turn_presents_the_tools_of_one_list() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let agent = world.agent(&acme, "helper").await;
    let (acting, leaving) = (world.tool(&acme, "act").await, world.tool(&acme, "leave").await);
    for tool in [&acting, &leaving] {
        world.publish(&acme, tool, BumpKind::Major).await;
    }
    world.agent_store.agents().assign_tool(&acme, &agent, assignment(&leaving, ">=0")).await.unwrap();
    let bare = world.agent_store.agents().deploy_agent(&acme, &agent).await.unwrap();
    let (state, presented) = bare.presented(None, SpecList::Action).unwrap();
    assert_eq!((state, presented[0].tool_id.clone()), (None, leaving.clone()));
    let problem = bare.presented(Some(&name("act")), SpecList::Action).unwrap_err();
    assert_eq!(problem.to_string(), "revision 1 has no state `act`; it has no states");

    world.agent_store.agents().set_agent_state(&acme, &agent, action("act", &acting, &leaving)).await.unwrap();
    let helper = StateTools::of_tool_call(assignment(&acting, ">=0"), specs(&[&leaving])).unwrap();
    world
        .agent_store
        .agents()
        .set_agent_state(&acme, &agent, AgentState { name: name("call"), tools: helper })
        .await
        .unwrap();
    let revision = world.agent_store.agents().deploy_agent(&acme, &agent).await.unwrap();
    let tools = |state: &str, list| -> Vec<ToolId> {
        let (_, specs) = revision.presented(Some(&name(state)), list).unwrap();
        specs.iter().map(|spec| spec.tool_id.clone()).collect()
    };
    assert_eq!(tools("act", SpecList::Action), std::slice::from_ref(&acting));
    assert_eq!(tools("act", SpecList::ExitCondition), std::slice::from_ref(&leaving));
    assert_eq!(tools("call", SpecList::Action), [acting, leaving], "the designated tool and its helper");
    let problem = revision.presented(Some(&name("call")), SpecList::ExitCondition).unwrap_err();
    assert_eq!(problem, StateProblem::OneList { name: name("call") });
    let problem = revision.presented(None, SpecList::Action).unwrap_err();
    assert_eq!(problem.to_string(), "revision 2 has states; name one of act, call");
}
