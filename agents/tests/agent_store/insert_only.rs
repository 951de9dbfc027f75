//! Changes that the database itself refuses.

use registry::{BumpKind, HeldRuns, HoldReason};

use crate::database;
use crate::fixtures::unlinked;
use crate::turns::new_turn;
use crate::world::World;

#[tokio::test]
async fn history_and_versions_cannot_be_rewritten() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    world.publish(&acme, &tool, BumpKind::Major).await;
    world.answered(&acme, "kept").await;
    let reason = HoldReason::parse("case 1").unwrap();
    let hold = world.store.history().place_hold(&acme, reason, HeldRuns::default()).await.unwrap();
    world.store.history().release_hold(&acme, &hold.id).await.unwrap();
    let agent = world.agent(&acme, "helper").await;
    world.agent_store.agents().deploy_agent(&acme, &agent).await.unwrap();
    let talk = world.conversation(&acme, &agent).await;
    world.agent_store.conversations().begin_turn(&acme, new_turn(&talk, &tool)).await.unwrap();
    let gone = world.agent(&acme, "gone").await;
    world.agent_store.agents().delete_agent(&acme, &gone).await.unwrap();
    world.store.history().record(&unlinked(&acme, "none", None)).await.unwrap();
    let unlink = "INSERT INTO inv_unlinked SELECT invocation, organization, 0, 'ann' FROM inv_started";
    database::execute(&world, unlink).await.unwrap();
    for statement in [
        "UPDATE inv_started SET input = '{}'",
        "DELETE FROM inv_started",
        "UPDATE inv_finished SET output = x''",
        "DELETE FROM inv_finished",
        "UPDATE inv_unlinked SET unlinked_by = 'eve'",
        "DELETE FROM inv_unlinked",
        "UPDATE versions SET commit_id = 'other'",
        "UPDATE versions SET component_digest = 'other'",
        "UPDATE history_holds SET reason = 'none'",
        "DELETE FROM history_holds",
        "UPDATE history_hold_releases SET released_by = 'eve'",
        "DELETE FROM history_hold_releases",
        "UPDATE agent_revisions SET system_prompt = 'other'",
        "UPDATE agent_revisions SET tool_exposure = 'search'",
        "UPDATE agent_revisions SET states = '[1]'",
        "DELETE FROM agent_revisions",
        "DELETE FROM conversations",
        "UPDATE turns SET presented = 'other'",
        "DELETE FROM turns",
        "UPDATE presented_tools SET tools = '[]'",
        "DELETE FROM presented_tools",
        "DELETE FROM agents",
        "UPDATE agents SET deleted_at = NULL",
        "DELETE FROM versions",
        "UPDATE attestations SET provenance = '{}'",
        "DELETE FROM attestations",
        "UPDATE signing_keys SET public_key = x'02'",
        "DELETE FROM signing_keys",
    ] {
        let refused = database::execute(&world, statement).await;
        assert!(refused.is_err(), "{statement} went through");
    }
}
