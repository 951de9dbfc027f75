//! Tools: names, changes, lists.

use registry::{
    AccountId, BumpKind, Description, Direction, ErrorKind, Page, Principal, TagFilter, TagValue, ToolChanges,
    ToolFilter, ToolName, ToolSort,
};

use crate::fixtures::{World, new_tool, tags};

async fn names(world: &World, principal: &Principal, filter: &ToolFilter) -> Vec<String> {
    let slice = world.store.tools().list_tools(&principal.organization, filter, Page::first(100)).await.unwrap();
    slice.items.into_iter().map(|tool| tool.name.to_string()).collect()
}

#[tokio::test]
async fn a_tool_is_read_as_it_was_created() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let mut new = new_tool("lookup");
    new.tags = tags(&[("team", Some("billing")), ("beta", None)]);
    let id = world.store.tools().create_tool(&acme, new.clone()).await.unwrap();
    world.variable(&acme, &id, "URL", false).await;
    world.variable(&acme, &id, "TOKEN", true).await;
    let tool = world.store.tools().get_tool(&acme.organization, &id).await.unwrap().unwrap();
    assert_eq!((&tool.name, &tool.tags, tool.deprecated), (&new.name, &new.tags, false));
    assert_eq!((&tool.creator, &tool.updated_by, tool.created_at), (&acme.user(), &acme.user(), world.clock.now()));
    assert_eq!(tool.envvars[0].as_str(), "URL");
    assert_eq!(tool.secret_envvars[0].as_str(), "TOKEN");
    assert_eq!(world.store.tools().find_live_tool(&acme.organization, &new.name).await.unwrap(), Some(tool));
}

#[tokio::test]
async fn names_of_live_tools_are_unique_and_freed_by_deprecation() {
    let world = World::new().await;
    let (acme, other) = (world.organization("acme").await, world.organization("other").await);
    let first = world.tool(&acme, "lookup").await;
    let refused = world.store.tools().create_tool(&acme, new_tool("lookup")).await.unwrap_err();
    assert_eq!((refused.kind(), refused.code()), (ErrorKind::Conflict, "already_exists"));
    world.tool(&other, "lookup").await;
    world.store.tools().deprecate_tool(&acme, &first).await.unwrap();
    assert_eq!(world.store.tools().deprecate_tool(&acme, &first).await.unwrap_err().kind(), ErrorKind::NotFound);
    let second = world.tool(&acme, "lookup").await;
    let live =
        world.store.tools().find_live_tool(&acme.organization, &ToolName::parse("lookup").unwrap()).await.unwrap();
    assert_eq!(live.unwrap().id, second);
    assert!(world.store.tools().get_tool(&acme.organization, &first).await.unwrap().unwrap().deprecated);
}

#[tokio::test]
async fn deprecating_a_tool_deprecates_its_versions() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    let version = world.publish(&acme, &tool, BumpKind::Major).await;
    world.store.tools().deprecate_tool(&acme, &tool).await.unwrap();
    let version =
        world.store.versions().get_version(&acme.organization, &tool, &version.version).await.unwrap().unwrap();
    assert!(version.deprecated);
}

#[tokio::test]
async fn changes_affect_only_the_named_fields_and_record_their_user() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let bob = Principal { account: AccountId::parse("bob#2").unwrap(), ..acme.clone() };
    let mut new = new_tool("lookup");
    new.tags = tags(&[("old", None)]);
    let id = world.store.tools().create_tool(&acme, new.clone()).await.unwrap();
    let changes = ToolChanges { tags: Some(tags(&[("new", Some("1"))])), description: None };
    world.store.tools().modify_tool(&bob, &id, changes).await.unwrap();
    let tool = world.store.tools().get_tool(&acme.organization, &id).await.unwrap().unwrap();
    assert_eq!((tool.description, tool.tags), (new.description, tags(&[("new", Some("1"))])));
    assert_eq!((tool.creator.as_str(), tool.updated_by.as_str()), ("ann", "bob"));
    let description = Description::parse(" better ").unwrap();
    world
        .store
        .tools()
        .modify_tool(&acme, &id, ToolChanges { description: Some(description), tags: None })
        .await
        .unwrap();
    let tool = world.store.tools().get_tool(&acme.organization, &id).await.unwrap().unwrap();
    assert_eq!(tool.description.as_str(), "better");
    assert_eq!(world.store.tools().tool_tag_keys(&acme.organization).await.unwrap(), ["new"]);
}

#[tokio::test]
async fn lists_are_paged_newest_first() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    for name in ["a", "b", "c"] {
        world.tool(&acme, name).await;
    }
    let all = ToolFilter::default();
    let first = world.store.tools().list_tools(&acme.organization, &all, Page::first(2)).await.unwrap();
    assert_eq!((first.items[0].name.as_str(), first.items[1].name.as_str()), ("c", "b"));
    let rest = Page { limit: 2, token: first.next.unwrap() };
    let second = world.store.tools().list_tools(&acme.organization, &all, rest).await.unwrap();
    assert_eq!((second.items[0].name.as_str(), second.next), ("a", None));
}

#[tokio::test]
async fn lists_are_filtered_and_sorted() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let mut ids = Vec::new();
    for (name, tag) in
        [("b", tags(&[("team", Some("x"))])), ("a", tags(&[("team", None)])), ("c", tags(&[("z", None)]))]
    {
        let mut new = new_tool(name);
        new.tags = tag;
        ids.push(world.store.tools().create_tool(&acme, new).await.unwrap());
    }
    world.store.tools().deprecate_tool(&acme, &ids[1]).await.unwrap();

    let all = || ToolFilter { sort: vec![(ToolSort::Name, Direction::Ascending)], ..ToolFilter::default() };
    let tag = |value| ToolFilter { tags: vec![TagFilter { key: "team".to_owned(), value }], ..all() };
    let descending = vec![(ToolSort::Deprecated, Direction::Descending), (ToolSort::Name, Direction::Descending)];
    for (filter, expected) in [
        (all(), &["a", "b", "c"][..]),
        (ToolFilter { sort: descending, ..all() }, &["a", "c", "b"]),
        (ToolFilter { deprecated: Some(false), ..all() }, &["b", "c"]),
        (ToolFilter { ids: vec![ids[0].clone(), ids[2].clone()], ..all() }, &["b", "c"]),
        (tag(TagValue::Any), &["a", "b"]),
        (tag(TagValue::Null), &["a"]),
        (tag(TagValue::Equals("x".to_owned())), &["b"]),
        (tag(TagValue::Equals("y".to_owned())), &[]),
    ] {
        assert_eq!(names(&world, &acme, &filter).await, expected, "{filter:?}");
    }
}
