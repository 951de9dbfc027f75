//! Concurrent writes, and writes that fail beside others.

use registry::{Config, ErrorKind};
use tokio::task::JoinSet;

use crate::database;
use crate::fixtures::{World, ends, finished, new_tool, started, starts, succeeded};

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_concurrent_starts_survive_a_crash() {
    let mut world = World::new().await;
    let acme = world.organization("acme").await;
    let mut tasks = JoinSet::new();
    let mut ids = Vec::new();
    for _ in 0..200 {
        let (store, record) = (world.store.clone(), started(&world.clock, &acme));
        ids.push(record.id.clone());
        tasks.spawn(async move { store.history().record(&starts(vec![record])).await });
    }
    assert!(tasks.join_all().await.into_iter().all(|start| start.is_ok()));
    world.restart().await;
    for id in ids {
        assert!(world.store.history().get_invocation(&acme.organization, &id).await.unwrap().is_some());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_concurrent_tools_with_one_name_is_created() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let mut attempts = JoinSet::new();
    for number in 0..60 {
        let (store, acme) = (world.store.clone(), acme.clone());
        let name = if number % 2 == 0 { "same".to_owned() } else { format!("tool_{number}") };
        attempts.spawn(async move { store.tools().create_tool(&acme, new_tool(&name)).await });
    }
    let (created, refused): (Vec<_>, Vec<_>) = attempts.join_all().await.into_iter().partition(Result::is_ok);
    assert_eq!(created.len(), 31);
    assert!(refused.into_iter().all(|refusal| refusal.unwrap_err().kind() == ErrorKind::Conflict));
}

#[tokio::test]
async fn a_write_is_committed_without_its_caller() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let record = started(&world.clock, &acme);
    let event = starts(vec![record.clone()]);
    let history = world.store.history();
    let start = history.record(&event);
    // One poll queues the write, then the future is dropped.
    tokio::select! { biased; _ = start => {}, () = std::future::ready(()) => {} }
    world.store.history().record(&ends(vec![finished(&record, succeeded("done"))])).await.unwrap();
}

/// The full-text index writes once per group: writing for each run would take longer than the rest of the record.
#[tokio::test]
async fn the_full_text_index_writes_once_per_group() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let runs: Vec<_> = (0..3).map(|_| started(&world.clock, &acme)).collect();
    let ended: Vec<_> = runs.iter().map(|start| finished(start, succeeded("done"))).collect();
    world.store.history().record(&starts(runs)).await.unwrap();
    world.store.history().record(&ends(ended)).await.unwrap();
    assert_eq!(database::number(&world, "SELECT count(DISTINCT segid) FROM inv_text_idx").await, 1);
}

#[tokio::test]
async fn a_closed_store_refuses_calls() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    world.store.close().await;
    let error = world.store.tools().create_tool(&acme, new_tool("late")).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Unavailable, "store_closed"));
}

#[tokio::test]
async fn a_full_disk_is_reported_and_no_acknowledged_write_is_lost() {
    let config = Config { database_bytes_max: Some(832 * 1024), ..Config::for_tests() };
    let mut world = World::with(config).await;
    let acme = world.organization("acme").await;
    let kept = world.started(&acme).await;
    let (mut failures, mut acknowledged) = (0, Vec::new());
    for _ in 0..40 {
        let (record, output) = (started(&world.clock, &acme), "x".repeat(20_000));
        let history = world.store.history();
        let start = history.record(&starts(vec![record.clone()])).await;
        let end = world.store.history().record(&ends(vec![finished(&record, succeeded(&output))])).await;
        acknowledged.extend(end.is_ok().then_some(record.id));
        for error in [start.err(), end.err()].into_iter().flatten() {
            assert!(matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::NotFound), "{error}");
            failures += 1;
        }
    }
    assert!(failures > 0 && !acknowledged.is_empty());
    world.restart().await;
    assert!(world.store.history().get_invocation(&acme.organization, &kept.id).await.unwrap().is_some());
    for id in acknowledged {
        let record = world.store.history().get_invocation(&acme.organization, &id).await.unwrap().unwrap();
        assert!(record.end.is_some());
    }
    world.answered(&acme, "there is room again").await;
}
