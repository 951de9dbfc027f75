//! Publishing, finding and deprecating versions.

use registry::{
    AccountId, BuildReference, BuildState, BumpKind, Constraint, Creator, Direction, Error, MissingVariable,
    OrganizationId, Page, Principal, Publication, ToolId, ToolRef, Version, VersionFilter, VersionSort,
};

use crate::fixtures::{LONG, World, envvar, new_version};

async fn listed(world: &World, principal: &Principal, tool: &ToolId, filter: &VersionFilter) -> Vec<String> {
    let slice = world
        .store
        .versions()
        .list_versions(ToolRef { organization: &principal.organization, tool }, filter, Page::first(50))
        .await
        .unwrap();
    slice.items.into_iter().map(|version| version.version.to_string()).collect()
}

#[tokio::test]
async fn a_version_follows_the_highest_one() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    let expected = [
        (BumpKind::Patch, "1.0.0"),
        (BumpKind::Minor, "1.1.0"),
        (BumpKind::Patch, "1.1.1"),
        (BumpKind::Major, "2.0.0"),
    ];
    for (ordinal, (bump, version)) in (1..).zip(expected) {
        let published = world.publish(&acme, &tool, bump).await;
        assert_eq!((published.version.to_string().as_str(), published.ordinal), (version, ordinal));
    }
    let everything = Constraint::any();
    assert_eq!(world.store.versions().deprecate_versions(&acme, &tool, &everything).await.unwrap(), 4);
    assert_eq!(world.store.versions().deprecate_versions(&acme, &tool, &everything).await.unwrap(), 0);
    assert_eq!(world.publish(&acme, &tool, BumpKind::Patch).await.version, Version::new(2, 0, 1));
}

#[tokio::test]
async fn a_version_is_read_as_it_was_published() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    let lease = world.lease(&acme, &tool).await;
    let mut new = new_version(BumpKind::Major);
    (new.bundle_digest, new.input_schema) = (None, serde_json::json!({"title": "a\u{0}b", "maximum": 1e300}));
    let published = world.store.versions().publish_version(&lease, new.clone()).await.unwrap();
    let found = world.store.versions().get_version(&acme.organization, &tool, &Version::FIRST).await.unwrap().unwrap();
    assert_eq!(found, published);
    assert_eq!((found.settings, found.bundle_digest), (new.settings, None));
    assert_eq!(found.input_schema, new.input_schema);
    assert_eq!((found.creator, found.created_at), (acme.user(), world.clock.now()));
    assert_eq!(found.commit, new.commit);
    let build = world
        .store
        .versions()
        .get_build(&acme.organization, &BuildReference::Version(found.id.clone()))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (build.state, build.log),
        (BuildState::Succeeded { version: found.id, number: found.version }, new.build_log)
    );
    assert_eq!(build.id, lease.build);
}

#[tokio::test]
async fn an_equal_publication_within_minutes_is_refused_as_a_repetition() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    let published = world.publish(&acme, &tool, BumpKind::Minor).await;
    let lease = world.lease(&acme, &tool).await;
    let same = || Publication {
        commit: published.commit.clone(),
        commit_branch: published.commit_branch.clone(),
        project_path: published.project_path.clone(),
        bump: Some(BumpKind::Minor),
    };
    let refused = |publication: Publication| {
        let (store, lease) = (world.store.clone(), lease.clone());
        async move { store.versions().refuse_repetition(&lease, &publication, LONG).await }
    };
    let found = refused(same()).await.unwrap_err();
    assert!(matches!(found, Error::PublishedAlready { version: Version::FIRST, id, .. } if id == published.id));
    assert!(refused(Publication { bump: None, ..same() }).await.is_err());
    for other in [
        Publication { bump: Some(BumpKind::Patch), ..same() },
        Publication { commit: "c".repeat(40), ..same() },
        Publication { commit_branch: "releases/other".parse().unwrap(), ..same() },
        Publication { project_path: "tools/other".parse().unwrap(), ..same() },
    ] {
        refused(other).await.unwrap();
    }
    world.clock.advance(LONG);
    refused(same()).await.unwrap();
    world.fail_build(&lease).await;
    let again = world.publish(&acme, &tool, BumpKind::Minor).await;
    world.store.versions().deprecate_versions(&acme, &tool, &Constraint::any()).await.unwrap();
    assert_eq!(again.version, Version::new(1, 1, 0));
    refused(same()).await.unwrap();
}

#[tokio::test]
async fn required_variables_must_exist_in_the_right_kind() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    world.variable(&acme, &tool, "URL", false).await;
    let lease = world.lease(&acme, &tool).await;
    let mut new = new_version(BumpKind::Major);
    new.required_envvars = vec![envvar("URL"), envvar("MISSING")];
    new.required_secret_envvars = vec![envvar("URL")];
    let refused = world.store.versions().publish_version(&lease, new.clone()).await.unwrap_err();
    let text = refused.to_string();
    let Error::VariablesMissing { missing, .. } = refused else { panic!("{text}") };
    let missing: Vec<_> = missing.iter().map(|one| (one.name.as_str(), one.is_secret, one.is_other_kind)).collect();
    assert_eq!(missing, [("MISSING", false, false), ("URL", true, true)]);
    assert!(text.contains(&format!("`lathe envvar set {tool} URL=- --secret`")), "{text}");
    let stored = world.store.tools().get_tool(&acme.organization, &tool).await.unwrap().unwrap();
    let known = MissingVariable::all(&stored, &new.required_envvars, &new.required_secret_envvars);
    assert_eq!(known.iter().map(|one| one.is_other_kind).collect::<Vec<_>>(), [false, true]);
    assert!(listed(&world, &acme, &tool, &VersionFilter::default()).await.is_empty());
    // The refusal did not change the lease.
    (new.required_envvars, new.required_secret_envvars) = (vec![envvar("URL")], Vec::new());
    world.store.versions().publish_version(&lease, new).await.unwrap();
}

#[tokio::test]
async fn live_versions_are_bounded() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    for _ in 0..5 {
        world.publish(&acme, &tool, BumpKind::Patch).await;
    }
    let lease = world.lease(&acme, &tool).await;
    let refused = world.store.versions().publish_version(&lease, new_version(BumpKind::Patch)).await.unwrap_err();
    assert!(matches!(refused, Error::TooMany { limit: 5, .. }), "{refused}");
    world.fail_build(&lease).await;
    let first = Constraint::parse("==1.0.0").unwrap();
    assert_eq!(world.store.versions().deprecate_versions(&acme, &tool, &first).await.unwrap(), 1);
    world.publish(&acme, &tool, BumpKind::Patch).await;
}

#[tokio::test]
async fn a_constraint_finds_the_highest_live_version() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    for bump in [BumpKind::Major, BumpKind::Minor, BumpKind::Minor, BumpKind::Major] {
        world.publish(&acme, &tool, bump).await;
    }
    world.store.versions().deprecate_versions(&acme, &tool, &Constraint::parse("1.2.0").unwrap()).await.unwrap();
    for (constraint, expected) in
        [("", Some("2.0.0")), ("<2", Some("1.1.0")), ("==1.2.0", None), ("~=1.0", Some("1.1.0")), (">3", None)]
    {
        let constraint = Constraint::parse(constraint).unwrap();
        let found = world.store.versions().resolve_version(&acme.organization, &tool, &constraint).await.unwrap();
        assert_eq!(found.map(|version| version.version.to_string()).as_deref(), expected, "{constraint}");
    }
}

#[tokio::test]
async fn lists_are_filtered_sorted_and_paged() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let bob = Principal { account: AccountId::parse("bob#2").unwrap(), ..acme.clone() };
    let tool = world.tool(&acme, "lookup").await;
    world.publish(&acme, &tool, BumpKind::Major).await;
    world.publish(&bob, &tool, BumpKind::Minor).await;
    world.publish(&acme, &tool, BumpKind::Major).await;
    world.store.versions().deprecate_versions(&acme, &tool, &Constraint::parse("1.0.0").unwrap()).await.unwrap();

    let all = VersionFilter::default;
    let creator =
        |organization: &str| Creator { organization: OrganizationId::parse(organization).unwrap(), user: bob.user() };
    let sort = vec![(VersionSort::Major, Direction::Descending), (VersionSort::Minor, Direction::Ascending)];
    for (filter, expected) in [
        (all(), &["2.0.0", "1.1.0", "1.0.0"][..]),
        (VersionFilter { deprecated: Some(true), ..all() }, &["1.0.0"]),
        (VersionFilter { deprecated: Some(false), ..all() }, &["2.0.0", "1.1.0"]),
        (VersionFilter { creators: vec![creator("acme")], ..all() }, &["1.1.0"]),
        (VersionFilter { creators: vec![creator("other")], ..all() }, &[]),
        (VersionFilter { constraint: Some(Constraint::parse("<2").unwrap()), ..all() }, &["1.1.0", "1.0.0"]),
        (
            VersionFilter { sort: vec![(VersionSort::CreatedAt, Direction::Ascending)], ..all() },
            &["1.0.0", "1.1.0", "2.0.0"],
        ),
        (VersionFilter { sort, ..all() }, &["2.0.0", "1.0.0", "1.1.0"]),
    ] {
        assert_eq!(listed(&world, &acme, &tool, &filter).await, expected, "{filter:?}");
    }
    assert_eq!(
        world.store.versions().version_creators(&acme.organization, &tool).await.unwrap(),
        [acme.user(), bob.user()]
    );
}
