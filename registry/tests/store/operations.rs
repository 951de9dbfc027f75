//! Operations: one per idempotency key, stored until they expire, and with the right state after a crash.

use std::time::Duration;

use registry::{
    BegunOperation, BumpKind, Digest, IdempotencyKey, NewOperation, Once, OperationEnd, OperationId, OperationKind,
    OperationState, Principal, RecordEvent, Refused, RunId, ToolId, TrackedOperation, Version,
};

use crate::database;
use crate::fixtures::{World, ends, finished, holds, new_version, started, succeeded};

const REQUEST: &[u8] = b"POST /x\n{}";

fn asked(kind: OperationKind, key: &str, request: &[u8]) -> NewOperation {
    let once = Once { key: IdempotencyKey::parse(key).unwrap(), request: Digest::of(request) };
    let tool = ToolId::parse(&"a".repeat(24)).unwrap();
    NewOperation { kind, tool, once: (key != "none").then_some(once), request: None }
}

async fn begin(world: &World, principal: &Principal, kind: OperationKind, key: &str) -> BegunOperation {
    world.store.operations().begin_operation(principal, asked(kind, key, REQUEST)).await.unwrap()
}

fn fresh(begun: BegunOperation) -> OperationId {
    let BegunOperation::New(operation) = begun else { panic!("{begun:?}") };
    operation.id
}

fn repeated(begun: BegunOperation) -> TrackedOperation {
    let BegunOperation::Repeated(operation) = begun else { panic!("{begun:?}") };
    operation
}

fn failed(is_for_now: bool) -> OperationEnd {
    OperationEnd::Failed { refused: Refused { status: 400, body: "{\"detail\":\"\u{0}é\"}".into() }, is_for_now }
}

impl World {
    async fn runs(&self, principal: &Principal, operation: &OperationId, count: usize) -> Vec<RunId> {
        let runs: Vec<_> = (0..count).map(|_| started(&self.clock, principal)).collect();
        let event = RecordEvent::Started { operation: Some(operation.clone()), runs: runs.clone() };
        self.store.history().record(&event).await.unwrap();
        runs.into_iter().map(|run| run.id).collect()
    }

    async fn all_end(&self, principal: &Principal, runs: &[RunId]) {
        for id in runs {
            let mut end = finished(&started(&self.clock, principal), succeeded("done"));
            end.id = id.clone();
            self.store.history().record(&ends(vec![end])).await.unwrap();
        }
    }

    async fn state(&self, principal: &Principal, operation: &OperationId) -> OperationState {
        self.store.operations().get_operation(&principal.organization, operation).await.unwrap().unwrap().state
    }
}

#[tokio::test]
async fn a_key_belongs_to_one_request_of_one_user() {
    let world = World::new().await;
    let (acme, other) = (world.organization("acme").await, world.organization("other").await);
    let first = fresh(begin(&world, &acme, OperationKind::Invoke, "k1").await);
    let again = repeated(begin(&world, &acme, OperationKind::Invoke, "k1").await);
    assert_eq!((again.id, again.state, again.finished_at), (first.clone(), OperationState::Running, None));
    let changed =
        world.store.operations().begin_operation(&acme, asked(OperationKind::Invoke, "k1", b"POST /y\n{}")).await;
    assert!(matches!(changed.unwrap(), BegunOperation::OtherRequest));
    assert_ne!(fresh(begin(&world, &acme, OperationKind::Invoke, "k2").await), first);
    let bob = Principal { account: "bob#2".parse().unwrap(), ..acme.clone() };
    assert_ne!(fresh(begin(&world, &bob, OperationKind::Invoke, "k1").await), first);
    assert_ne!(fresh(begin(&world, &other, OperationKind::Invoke, "k1").await), first);
    for _ in 0..2 {
        fresh(begin(&world, &acme, OperationKind::Invoke, "none").await);
    }
    assert!(world.store.operations().get_operation(&other.organization, &first).await.unwrap().is_none());
    assert!(world.store.operations().operation_runs(&other.organization, &first).await.unwrap().is_empty());
}

#[tokio::test]
async fn concurrent_copies_begin_one_operation() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let mut copies = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let (store, acme) = (world.store.clone(), acme.clone());
        copies.spawn(async move {
            store.operations().begin_operation(&acme, asked(OperationKind::Invoke, "same", REQUEST)).await
        });
    }
    let begun: Vec<_> = copies.join_all().await.into_iter().map(Result::unwrap).collect();
    assert_eq!(begun.iter().filter(|begun| matches!(begun, BegunOperation::New(_))).count(), 1);
    assert_eq!(begun.iter().filter(|begun| matches!(begun, BegunOperation::Repeated(_))).count(), 49);
}

#[tokio::test]
async fn the_end_is_recorded_once_and_runs_are_in_the_order_of_the_inputs() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let operation = fresh(begin(&world, &acme, OperationKind::Invoke, "k").await);
    let runs = world.runs(&acme, &operation, 10).await;
    world.all_end(&acme, &runs).await;
    world.clock.advance(Duration::from_secs(1));
    world.store.operations().end_operation(&acme.organization, &operation, OperationEnd::Succeeded).await.unwrap();
    world.store.operations().end_operation(&acme.organization, &operation, failed(true)).await.unwrap();
    let kept = repeated(begin(&world, &acme, OperationKind::Invoke, "k").await);
    assert_eq!((kept.state, kept.finished_at), (OperationState::Succeeded, Some(world.clock.now())));
    let found = world.store.operations().operation_runs(&acme.organization, &operation).await.unwrap();
    assert_eq!(found.into_iter().map(|run| run.start.id).collect::<Vec<_>>(), runs);
}

#[tokio::test]
async fn a_refusal_keeps_its_key_after_a_run_or_build_began() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let nothing = fresh(begin(&world, &acme, OperationKind::Invoke, "k").await);
    world.store.operations().end_operation(&acme.organization, &nothing, failed(false)).await.unwrap();
    let OperationState::Failed(refused) = world.state(&acme, &nothing).await else { panic!() };
    assert_eq!((refused.status, refused.body.as_str()), (400, "{\"detail\":\"\u{0}é\"}"));
    let some = fresh(begin(&world, &acme, OperationKind::Invoke, "k").await);
    world.runs(&acme, &some, 1).await;
    world.store.operations().end_operation(&acme.organization, &some, failed(false)).await.unwrap();
    assert_eq!(repeated(begin(&world, &acme, OperationKind::Invoke, "k").await).id, some);
    let tool = world.tool(&acme, "lookup").await;
    let publish = fresh(begin(&world, &acme, OperationKind::Publish, "p").await);
    let lease = world.lease(&acme, &tool).await;
    world.store.operations().link_build(&lease, &publish, None).await.unwrap();
    world.store.operations().end_operation(&acme.organization, &publish, failed(false)).await.unwrap();
    assert_eq!(repeated(begin(&world, &acme, OperationKind::Publish, "p").await).id, publish);
    let for_now = fresh(begin(&world, &acme, OperationKind::Publish, "q").await);
    world.store.operations().link_build(&lease, &for_now, None).await.unwrap();
    world.store.operations().end_operation(&acme.organization, &for_now, failed(true)).await.unwrap();
    assert_ne!(fresh(begin(&world, &acme, OperationKind::Publish, "q").await), for_now);
}

#[tokio::test]
async fn an_invoke_that_is_refused_for_now_after_its_runs_began_is_interrupted() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let nothing = fresh(begin(&world, &acme, OperationKind::Invoke, "k").await);
    world.store.operations().end_operation(&acme.organization, &nothing, failed(true)).await.unwrap();
    assert!(matches!(world.state(&acme, &nothing).await, OperationState::Failed(_)));
    let some = fresh(begin(&world, &acme, OperationKind::Invoke, "k").await);
    world.runs(&acme, &some, 1).await;
    world.store.operations().end_operation(&acme.organization, &some, failed(true)).await.unwrap();
    let kept = repeated(begin(&world, &acme, OperationKind::Invoke, "k").await);
    assert_eq!((kept.id, kept.state), (some, OperationState::Interrupted));
}

#[tokio::test]
async fn a_restart_ends_calls_with_the_right_state() {
    let mut world = World::new().await;
    let acme = world.organization("acme").await;
    let nothing = fresh(begin(&world, &acme, OperationKind::Invoke, "nothing").await);
    let cut_off = fresh(begin(&world, &acme, OperationKind::Invoke, "cut-off").await);
    let runs = world.runs(&acme, &cut_off, 2).await;
    world.all_end(&acme, &runs[..1]).await;
    let unanswered = fresh(begin(&world, &acme, OperationKind::Invoke, "unanswered").await);
    let runs = world.runs(&acme, &unanswered, 2).await;
    world.all_end(&acme, &runs).await;
    world.restart().await;
    let own = fresh(begin(&world, &acme, OperationKind::Invoke, "own").await);
    world.store.nodes().close_orphans().await.unwrap();
    for (operation, key, state, is_free) in [
        (&nothing, "nothing", OperationState::Interrupted, true),
        (&cut_off, "cut-off", OperationState::Interrupted, false),
        (&unanswered, "unanswered", OperationState::Succeeded, false),
        (&own, "own", OperationState::Running, false),
    ] {
        assert_eq!(world.state(&acme, operation).await, state, "{key}");
        let begun = begin(&world, &acme, OperationKind::Invoke, key).await;
        assert_eq!(matches!(begun, BegunOperation::New(_)), is_free, "{key}");
    }
    assert_eq!(world.store.operations().operation_runs(&acme.organization, &cut_off).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_restart_ends_publications_with_the_right_state() {
    let mut world = World::new().await;
    let acme = world.organization("acme").await;
    let mut operations = Vec::new();
    for (key, is_published) in [("made", true), ("unmade", false)] {
        let tool = world.tool(&acme, key).await;
        let operation = fresh(begin(&world, &acme, OperationKind::Publish, key).await);
        let lease = world.lease(&acme, &tool).await;
        world.store.operations().link_build(&lease, &operation, None).await.unwrap();
        if is_published {
            world.store.versions().publish_version(&lease, new_version(BumpKind::Minor)).await.unwrap();
        }
        operations.push(operation);
    }
    world.restart().await;
    world.store.nodes().close_orphans().await.unwrap();
    let version = |operation: OperationId| {
        let (store, organization) = (world.store.clone(), acme.organization.clone());
        async move { store.operations().operation_version(&organization, &operation).await.unwrap() }
    };
    let made = repeated(begin(&world, &acme, OperationKind::Publish, "made").await);
    assert_eq!((made.id, made.state), (operations[0].clone(), OperationState::Succeeded));
    assert_eq!(version(operations[0].clone()).await, Some(Version::FIRST));
    assert_eq!(world.state(&acme, &operations[1]).await, OperationState::Interrupted);
    assert_eq!(version(operations[1].clone()).await, None);
    assert_ne!(fresh(begin(&world, &acme, OperationKind::Publish, "unmade").await), operations[1]);
}

#[tokio::test]
async fn an_operation_expires_with_its_key_and_the_history_stays() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let old = fresh(begin(&world, &acme, OperationKind::Invoke, "k").await);
    let runs = world.runs(&acme, &old, 1).await;
    world.store.operations().end_operation(&acme.organization, &old, OperationEnd::Succeeded).await.unwrap();
    world.clock.advance(Duration::from_mins(59));
    assert_eq!(repeated(begin(&world, &acme, OperationKind::Invoke, "k").await).id, old);
    world.clock.advance(Duration::from_mins(1));
    assert!(world.store.operations().get_operation(&acme.organization, &old).await.unwrap().is_none());
    assert_ne!(fresh(begin(&world, &acme, OperationKind::Invoke, "k").await), old);
    assert!(world.store.history().get_invocation(&acme.organization, &runs[0]).await.unwrap().is_some());
    assert_eq!(rows(&world, "operations").await, 1);
    assert_eq!(rows(&world, "operation_runs").await, 0);
}

/// More operations have expired than one call deletes. An expired key may be used again all the same.
#[tokio::test]
async fn expired_operations_are_deleted_in_steps() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let old: Vec<_> = (0..300).map(|number| format!("k{number}")).collect();
    for key in &old {
        let operation = fresh(begin(&world, &acme, OperationKind::Invoke, key).await);
        world.store.operations().end_operation(&acme.organization, &operation, OperationEnd::Succeeded).await.unwrap();
    }
    let running = fresh(begin(&world, &acme, OperationKind::Invoke, "running").await);
    world.clock.advance(Duration::from_hours(1));
    fresh(begin(&world, &acme, OperationKind::Invoke, "k299").await);
    assert_eq!(rows(&world, "operations").await, 45);
    fresh(begin(&world, &acme, OperationKind::Invoke, "none").await);
    assert_eq!(rows(&world, "operations").await, 3);
    assert_eq!(repeated(begin(&world, &acme, OperationKind::Invoke, "running").await).id, running, "what runs stays");
}

#[tokio::test]
async fn the_database_does_not_confirm_a_guessed_request() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    fresh(begin(&world, &acme, OperationKind::Invoke, "findable").await);
    let bytes = world.stored_bytes().await;
    assert!(holds(&bytes, b"findable"));
    assert!(!holds(&bytes, Digest::of(REQUEST).as_bytes()));
}

async fn rows(world: &World, table: &str) -> i64 {
    database::number(world, &format!("SELECT count(*) FROM {table}")).await
}
