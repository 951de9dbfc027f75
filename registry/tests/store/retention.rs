//! The retention of the history, and the legal holds that keep runs.

use std::time::Duration;

use registry::{
    AgentProtocol, CallVia, Error, HeldRuns, Hold, HoldReason, HttpUse, InvokeStep, Ledger, NativeToolName, Page,
    Principal, RunFilter, RunId, RunStart, SearchQuery, SearchText, TapeBody, Timestamp, UnsealedTape,
};

use crate::database::{self, number};
use crate::fixtures::{World, agent_call, conversation, ends, finished, started, starts, succeeded, unlinked};

const DAY: Duration = Duration::from_hours(24);

/// Tables with rows of a run.
const TABLES: [&str; 5] = ["inv_started", "inv_finished", "inv_unlinked", "inv_effects", "inv_text"];

async fn hold(world: &World, principal: &Principal, runs: HeldRuns) -> Hold {
    world.store.history().place_hold(principal, HoldReason::parse(" case 7 ").unwrap(), runs).await.unwrap()
}

/// Records a run with everything that the database stores of one.
async fn run(world: &World, principal: &Principal, output: &str) -> RunStart {
    world.clock.advance(Duration::from_secs(1));
    let run = RunStart {
        source: conversation("c1", output),
        via: CallVia::Agent(agent_call(&world.clock, AgentProtocol::Mcp)),
        native_tool: Some(NativeToolName::parse("search_tools").unwrap()),
        ..started(&world.clock, principal)
    };
    world.store.history().record(&starts(vec![run.clone()])).await.unwrap();
    let mut end = finished(&run, succeeded(output));
    let mut ledger = Ledger::default();
    ledger.used.http = vec![HttpUse { host: "example.org".into(), sent_bytes: 1, ..HttpUse::default() }];
    ledger.granted.secrets = vec!["TOKEN".into()];
    end.end.ledger = Some(ledger);
    end.end.refused_at = Some(InvokeStep::Shape);
    world.store.history().record(&ends(vec![end])).await.unwrap();
    world.store.history().record(&unlinked(principal, "c1", Some(output))).await.unwrap();
    run
}

async fn listed(world: &World, principal: &Principal) -> Vec<RunId> {
    let (organization, filter) = (&principal.organization, RunFilter::default());
    let slice = world.store.history().list_invocations(organization, &filter, Page::first(100)).await.unwrap();
    slice.items.into_iter().map(|record| record.start.id).collect()
}

async fn found(world: &World, principal: &Principal, text: &str) -> usize {
    let text = SearchText::parse(text).unwrap();
    let query = SearchQuery { text, fields: Vec::new(), filter: RunFilter::default() };
    world
        .store
        .history()
        .search_invocations(&principal.organization, &query, Page::first(100))
        .await
        .unwrap()
        .items
        .len()
}

async fn rows(world: &World) -> Vec<i64> {
    let mut rows = Vec::new();
    for table in TABLES {
        rows.push(number(world, &format!("SELECT count(*) FROM {table}")).await);
    }
    rows
}

#[tokio::test]
async fn runs_are_deleted_with_all_their_rows_when_their_time_is_over() {
    let world = World::new().await;
    let (acme, globex) = (world.organization("acme").await, world.organization("globex").await);
    for number in 0..450 {
        run(&world, if number % 2 == 0 { &acme } else { &globex }, &format!("old{number} words 東京")).await;
    }
    let going_on = world.started(&acme).await;
    world.clock.advance(DAY - Duration::from_mins(30));
    let young = run(&world, &acme, "young words 東京").await;
    assert_eq!(world.store.history().delete_expired_runs().await.unwrap(), 0, "a day is not over");
    world.clock.advance(Duration::from_hours(1));
    assert_eq!(world.store.history().delete_expired_runs().await.unwrap(), 450);
    assert_eq!(listed(&world, &acme).await, std::slice::from_ref(&young.id));
    assert_eq!(listed(&world, &globex).await, []);
    assert_eq!(rows(&world).await, [2, 1, 1, 7, 1], "{TABLES:?}");
    assert_eq!(number(&world, "SELECT count(*) FROM inv_expired").await, 0);
    assert_eq!((found(&world, &acme, "words").await, found(&world, &acme, "東京").await), (1, 1));
    assert_eq!(found(&world, &acme, "old2").await, 0);
    world
        .store
        .history()
        .record(&ends(vec![finished(&going_on, succeeded("a run that goes on stays"))]))
        .await
        .unwrap();
    assert_eq!(found(&world, &acme, "stays").await, 1, "the index is whole");
    assert_eq!(world.store.history().delete_expired_runs().await.unwrap(), 1, "it has ended");
}

#[tokio::test]
async fn without_a_retention_runs_stay() {
    let config = registry::Config { history_retention: None, ..registry::Config::for_tests() };
    let world = World::with(config).await;
    let acme = world.organization("acme").await;
    let kept = run(&world, &acme, "kept").await;
    world.clock.advance(DAY * 10_000);
    assert_eq!(world.store.history().delete_expired_runs().await.unwrap(), 0);
    assert_eq!(listed(&world, &acme).await, [kept.id]);
}

#[tokio::test]
async fn holds_keep_the_runs_of_a_tool_and_of_a_time() {
    let world = World::new().await;
    let (acme, globex) = (world.organization("acme").await, world.organization("globex").await);
    let tool = world.tool(&acme, "lookup").await;
    let mut runs = Vec::new();
    for number in 0..6 {
        world.clock.advance(Duration::from_secs(60));
        let mut start = started(&world.clock, &acme);
        start.tool = (number % 2 == 0).then(|| tool.clone());
        world.store.history().record(&starts(vec![start.clone()])).await.unwrap();
        world.store.history().record(&ends(vec![finished(&start, succeeded("x"))])).await.unwrap();
        runs.push(start);
    }
    let of_globex = run(&world, &globex, "x").await;
    let of_tool = HeldRuns { tool: Some(tool), started_before: Some(runs[4].started_at), ..HeldRuns::default() };
    let first = hold(&world, &acme, of_tool).await;
    let from = HeldRuns { started_from: Some(runs[5].started_at), ..HeldRuns::default() };
    let second = hold(&world, &acme, from).await;
    world.clock.advance(DAY * 2);
    assert_eq!(world.store.history().delete_expired_runs().await.unwrap(), 4);
    let ids = |numbers: &[usize]| numbers.iter().map(|number| runs[*number].id.clone()).collect::<Vec<_>>();
    assert_eq!(listed(&world, &acme).await, ids(&[5, 2, 0]));
    assert_eq!(listed(&world, &globex).await, [], "holds of others keep nothing: {}", of_globex.id);

    world.store.history().release_hold(&acme, &first.id).await.unwrap();
    assert_eq!(listed(&world, &acme).await, ids(&[5, 2, 0]), "a release deletes nothing by itself");
    assert_eq!(world.store.history().delete_expired_runs().await.unwrap(), 2);
    world.store.history().release_hold(&acme, &second.id).await.unwrap();
    assert_eq!(world.store.history().delete_expired_runs().await.unwrap(), 1);
    assert_eq!(listed(&world, &acme).await, []);
}

#[tokio::test]
async fn the_database_itself_keeps_held_runs() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let kept = world.answered(&acme, "kept").await;
    hold(&world, &acme, HeldRuns::default()).await;
    let allow = format!("INSERT INTO inv_expired VALUES ('{kept}')");
    database::execute(&world, &allow).await.unwrap();
    database::execute(&world, "DELETE FROM inv_finished").await.unwrap();
    let refused = database::execute(&world, "DELETE FROM inv_started").await.unwrap_err();
    assert!(refused.to_string().contains("legal hold"), "{refused}");
}

#[tokio::test]
async fn holds_and_releases_are_a_record() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let first = hold(&world, &acme, HeldRuns::default()).await;
    assert_eq!((first.reason.as_str(), first.placed_by.as_str()), ("case 7", "ann"));
    world.clock.advance(Duration::from_secs(1));
    let second = hold(&world, &acme, HeldRuns::default()).await;
    world.store.history().release_hold(&acme, &first.id).await.unwrap();
    let released_at = world.clock.now();
    world.clock.advance(Duration::from_secs(1));
    world.store.history().release_hold(&acme, &first.id).await.unwrap();
    let holds = world.store.history().list_holds(&acme.organization, Page::first(100)).await.unwrap().items;
    assert_eq!(holds.iter().map(|hold| &hold.id).collect::<Vec<_>>(), [&second.id, &first.id]);
    assert_eq!(holds[0].release, None);
    assert_eq!(holds[1].release.as_ref().map(|release| release.at), Some(released_at), "the first release counts");

    let globex = world.organization("globex").await;
    let refused = world.store.history().release_hold(&globex, &second.id).await.unwrap_err();
    assert!(matches!(refused, Error::NotFound { what: "hold" }), "{refused}");
    let tool = Some(registry::ToolId::new(&world.clock));
    let runs = HeldRuns { tool, ..HeldRuns::default() };
    let refused = world.store.history().place_hold(&acme, HoldReason::parse("x").unwrap(), runs).await.unwrap_err();
    assert!(matches!(refused, Error::NotFound { what: "tool" }), "{refused}");
    for _ in 2..10 {
        hold(&world, &acme, HeldRuns::default()).await;
    }
    let more = world
        .store
        .history()
        .place_hold(&acme, HoldReason::parse("x").unwrap(), HeldRuns::default())
        .await
        .unwrap_err();
    assert_eq!(more.code(), "too_many");
}

/// Tapes expire by the clock of the database.
#[tokio::test]
async fn a_hold_keeps_the_tapes_of_its_runs() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let recordings = world.recordings();
    let mut start = started(&world.clock, &acme);
    start.started_at = Timestamp::from_milliseconds(1_000);
    world.store.history().record(&starts(vec![start.clone()])).await.unwrap();
    let body = b"a body".to_vec();
    let body = TapeBody { digest: *registry::Digest::of(&body).as_bytes(), bytes: body };
    let tape = UnsealedTape::new(b"seen".to_vec(), vec![body]);
    let mut end = finished(&start, succeeded("x"));
    end.end.at = Timestamp::from_milliseconds(1_000);
    end.tape = Some(recordings.seal(&acme.organization, &start.id, tape).await.unwrap());
    world.store.history().record(&ends(vec![end])).await.unwrap();
    assert!(recordings.tape(&acme.organization, &start.id).await.unwrap().is_none(), "it has expired");

    let held = hold(&world, &acme, HeldRuns::default()).await;
    assert_eq!(recordings.delete_expired().await.unwrap(), 0);
    assert!(recordings.tape(&acme.organization, &start.id).await.unwrap().is_some(), "for a replay");
    world.clock.advance(DAY * 2);
    world.store.history().release_hold(&acme, &held.id).await.unwrap();
    assert_eq!(world.store.history().delete_expired_runs().await.unwrap(), 0, "its tape is there");
    assert_eq!(recordings.delete_expired().await.unwrap(), 1);
    assert_eq!(world.store.history().delete_expired_runs().await.unwrap(), 1);
    assert_eq!(number(&world, "SELECT count(*) FROM tape_bodies").await, 0);
}

/// Sweeps of which one is still going on when a hold is placed, also on a busy machine.
const SWEEPS_MAX: usize = 20;

/// What is there when the hold is placed stays, and what is not was deleted before.
#[tokio::test]
async fn a_hold_wins_over_a_sweep_that_has_begun() {
    for _ in 0..SWEEPS_MAX {
        if hold_during_a_sweep().await {
            return;
        }
    }
    panic!("each sweep was over before the hold");
}

/// Places a hold while two stores delete expired runs. Returns `false` if both were faster.
async fn hold_during_a_sweep() -> bool {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let mut starts_of = Vec::new();
    for _ in 0..1_500 {
        world.clock.advance(Duration::from_millis(100));
        starts_of.push(started(&world.clock, &acme));
    }
    world.store.history().record(&starts(starts_of.clone())).await.unwrap();
    let all = starts_of.iter().map(|start| finished(start, succeeded("x"))).collect();
    world.store.history().record(&ends(all)).await.unwrap();
    world.clock.advance(DAY * 2);
    let sweeps = [world.store.clone(), world.store.clone()];
    let sweeps = sweeps.map(|store| tokio::spawn(async move { store.history().delete_expired_runs().await.unwrap() }));
    let left = async || number(&world, "SELECT count(*) FROM inv_started").await;
    while left().await == 1_500 {
        tokio::task::yield_now().await;
    }
    hold(&world, &acme, HeldRuns::default()).await;
    let at_hold = left().await;
    let mut deleted = 0;
    for sweep in sweeps {
        deleted += sweep.await.unwrap();
    }
    assert_eq!(left().await, at_hold, "nothing is deleted after the hold");
    assert_eq!(deleted + at_hold.unsigned_abs(), 1_500, "no run is deleted twice");
    at_hold > 0
}
