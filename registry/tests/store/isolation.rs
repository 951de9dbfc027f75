//! Rows of another organisation are absent from all reads and writes.

use registry::{
    BuildReference, BumpKind, Constraint, EnvvarChanges, ErrorKind, Page, RunFilter, SearchQuery, SearchText,
    ToolChanges, ToolFilter, ToolName, ToolRef, VersionFilter,
};

use crate::fixtures::{LONG, World, ends, finished, succeeded};

#[tokio::test]
async fn a_stranger_reads_nothing() {
    let world = World::new().await;
    let (acme, stranger) = (world.organization("acme").await, world.organization("stranger").await);
    let tool = world.tool(&acme, "lookup").await;
    world.variable(&acme, &tool, "TOKEN", true).await;
    let version = world.publish(&acme, &tool, BumpKind::Major).await;
    let run = world.answered(&acme, "needle").await;
    let (store, eve) = (&world.store, &stranger.organization);

    assert!(store.tools().get_tool(eve, &tool).await.unwrap().is_none());
    assert!(store.tools().find_live_tool(eve, &ToolName::parse("lookup").unwrap()).await.unwrap().is_none());
    assert!(store.tools().list_tools(eve, &ToolFilter::default(), Page::first(10)).await.unwrap().items.is_empty());
    assert!(store.tools().tool_variables(eve, &tool).await.unwrap().secrets.is_empty());
    assert!(store.versions().get_version(eve, &tool, &version.version).await.unwrap().is_none());
    assert!(store.versions().resolve_version(eve, &tool, &Constraint::any()).await.unwrap().is_none());
    assert!(store.versions().highest_version(eve, &tool).await.unwrap().is_none());
    assert!(store.versions().version_creators(eve, &tool).await.unwrap().is_empty());
    let versions = store
        .versions()
        .list_versions(ToolRef { organization: eve, tool: &tool }, &VersionFilter::default(), Page::first(10))
        .await
        .unwrap();
    assert!(versions.items.is_empty());
    assert!(store.versions().get_build(eve, &BuildReference::Version(version.id)).await.unwrap().is_none());
    assert!(store.history().get_invocation(eve, &run).await.unwrap().is_none());
    let all = RunFilter::default();
    assert!(store.history().list_invocations(eve, &all, Page::first(10)).await.unwrap().items.is_empty());
    let query =
        SearchQuery { text: SearchText::parse("needle").unwrap(), fields: Vec::new(), filter: RunFilter::default() };
    let page = Page::first(10);
    assert!(store.history().search_invocations(eve, &query, page).await.unwrap().items.is_empty());
    assert_eq!(store.history().search_invocations(&acme.organization, &query, page).await.unwrap().items.len(), 1);
}

#[tokio::test]
async fn a_stranger_changes_nothing() {
    let world = World::new().await;
    let (acme, stranger) = (world.organization("acme").await, world.organization("stranger").await);
    let tool = world.tool(&acme, "lookup").await;
    world.publish(&acme, &tool, BumpKind::Major).await;
    let store = &world.store;
    let not_found = |kind: ErrorKind| assert_eq!(kind, ErrorKind::NotFound);

    not_found(store.tools().modify_tool(&stranger, &tool, ToolChanges::default()).await.unwrap_err().kind());
    not_found(store.tools().deprecate_tool(&stranger, &tool).await.unwrap_err().kind());
    not_found(store.tools().modify_envvars(&stranger, &tool, EnvvarChanges::default()).await.unwrap_err().kind());
    not_found(store.versions().deprecate_versions(&stranger, &tool, &Constraint::any()).await.unwrap_err().kind());
    not_found(store.versions().acquire_lease(&stranger, &tool, LONG).await.unwrap_err().kind());
    let mut end = finished(&world.started(&acme).await, succeeded("forged"));
    end.organization = stranger.organization.clone();
    not_found(store.history().record(&ends(vec![end])).await.unwrap_err().kind());
    assert!(!store.tools().get_tool(&acme.organization, &tool).await.unwrap().unwrap().deprecated);
}
