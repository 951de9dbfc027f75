//! Tapes: sealed for one run, stored until they expire, with shared bodies.

use std::time::Duration;

use registry::{
    BumpKind, Clock, Digest, KeptTape, NewTape, Principal, RunId, RunStart, TapeBody, Timestamp, UnsealedTape,
};

use crate::database;
use crate::fixtures::{World, ends, finished, holds, started, starts, succeeded};

const PLAIN: &[u8] = b"what a run saw";

fn body(byte: u8) -> TapeBody {
    let bytes = vec![byte; 100_000];
    TapeBody { digest: *Digest::of(&bytes).as_bytes(), bytes }
}

/// Records a run with a tape that ended at a given time.
async fn record_taped_run(world: &World, principal: &Principal, at: Timestamp, bodies: Vec<TapeBody>) -> RunId {
    record_with_tape(world, started(&Clock::fixed(at), principal), bodies).await
}

async fn record_with_tape(world: &World, started: RunStart, bodies: Vec<TapeBody>) -> RunId {
    world.store.history().record(&starts(vec![started.clone()])).await.unwrap();
    let tape = UnsealedTape::new(PLAIN.to_vec(), bodies);
    let tape = world.recordings().seal(&started.organization, &started.id, tape).await.unwrap();
    let mut record = finished(&started, succeeded("done"));
    record.tape = Some(tape);
    world.store.history().record(&ends(vec![record])).await.unwrap();
    started.id
}

#[tokio::test]
async fn a_tape_is_found_only_for_its_run() {
    let world = World::new().await;
    let (acme, other) = (world.organization("acme").await, world.organization("other").await);
    let now = Clock::system().now();
    let run = record_taped_run(&world, &acme, now, vec![body(1)]).await;
    let recordings = world.recordings();
    let KeptTape::Whole(found) = recordings.tape(&acme.organization, &run).await.unwrap().unwrap() else {
        panic!("it is whole")
    };
    assert_eq!(*found, PLAIN);
    assert_eq!(recordings.body(&acme.organization, &body(1).digest).await.unwrap(), body(1));
    assert_eq!(recordings.tape(&other.organization, &run).await.unwrap(), None);
    assert_eq!(recordings.body(&other.organization, &body(1).digest).await.unwrap_err().code(), "corrupt");
    let untaped = world.answered(&acme, "no tape").await;
    assert_eq!(recordings.tape(&acme.organization, &untaped).await.unwrap(), None);
    let stored = world.stored_bytes().await;
    assert!(holds(&stored, run.as_str().as_bytes()) && !holds(&stored, PLAIN));
}

#[tokio::test]
async fn the_last_runs_of_a_version_with_tapes_are_listed() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    let version = world.publish(&acme, &tool, BumpKind::Patch).await;
    let other = world.publish(&acme, &tool, BumpKind::Patch).await;
    let now = Clock::system().now();
    let run = |of: &registry::ToolVersion, seconds| {
        let at = now.after(Duration::from_secs(seconds));
        let run = started(&Clock::fixed(at), &acme);
        RunStart { tool: Some(of.tool.clone()), tool_version: Some(of.version), ..run }
    };
    let first = record_with_tape(&world, run(&version, 1), Vec::new()).await;
    let second = record_with_tape(&world, run(&version, 2), Vec::new()).await;
    record_with_tape(&world, run(&other, 3), Vec::new()).await;
    world.store.history().record(&starts(vec![run(&version, 4)])).await.unwrap();
    assert_eq!(world.store.history().taped_runs(&version, 10).await.unwrap(), [second.clone(), first]);
    assert_eq!(world.store.history().taped_runs(&version, 1).await.unwrap(), [second]);
}

#[tokio::test]
async fn a_body_with_a_wrong_digest_is_refused() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let run = RunId::new(&Clock::system());
    let forged = TapeBody { digest: body(1).digest, bytes: b"forged".to_vec() };
    let sealed =
        world.recordings().seal(&acme.organization, &run, UnsealedTape::new(PLAIN.to_vec(), vec![forged])).await;
    assert_eq!(sealed.unwrap_err().code(), "corrupt");
}

#[tokio::test]
async fn an_incomplete_tape_is_marked() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let started = started(&Clock::system(), &acme);
    world.store.history().record(&starts(vec![started.clone()])).await.unwrap();
    let mut record = finished(&started, succeeded("much"));
    record.tape = Some(NewTape::Cut);
    world.store.history().record(&ends(vec![record])).await.unwrap();
    assert_eq!(world.recordings().tape(&acme.organization, &started.id).await.unwrap(), Some(KeptTape::Cut));
}

#[tokio::test]
async fn expired_tapes_are_deleted_and_shared_bodies_stay() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let now = Clock::system().now();
    let long_ago = Timestamp::from_milliseconds(now.as_milliseconds() - 100 * 3_600_000);
    let young = record_taped_run(&world, &acme, now, vec![body(1), body(2)]).await;
    let mut old = Vec::new();
    for _ in 0..300 {
        old.push(record_taped_run(&world, &acme, long_ago, vec![body(2), body(3)]).await);
    }
    let recordings = world.recordings();
    assert_eq!(recordings.tape(&acme.organization, &old[0]).await.unwrap(), None, "also before it is swept");
    assert!(recordings.body(&acme.organization, &body(3).digest).await.is_ok());
    assert_eq!(recordings.delete_expired().await.unwrap(), 300);
    assert_eq!(recordings.delete_expired().await.unwrap(), 0);
    assert!(recordings.tape(&acme.organization, &young).await.unwrap().is_some());
    for (digest, is_kept) in [(body(1).digest, true), (body(2).digest, true), (body(3).digest, false)] {
        assert_eq!(recordings.body(&acme.organization, &digest).await.is_ok(), is_kept, "{}", digest[0]);
    }
    let record = world.store.history().get_invocation(&acme.organization, &old[0]).await.unwrap().unwrap();
    assert!(record.end.is_some(), "the record stays");
}

#[tokio::test]
async fn without_retention_no_tapes_are_stored() {
    let config = registry::Config { tape_retention: Duration::ZERO, ..registry::Config::for_tests() };
    assert!(!World::with(config).await.store.history().keeps_tapes());
    assert!(World::new().await.store.history().keeps_tapes());
}

#[tokio::test]
async fn tapes_cannot_be_changed_or_deleted_before_they_expire() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let run = record_taped_run(&world, &acme, Clock::system().now(), vec![body(1)]).await;
    assert!(world.recordings().tape(&acme.organization, &run).await.unwrap().is_some());
    for statement in [
        "UPDATE tapes SET sealed = x''",
        "UPDATE tapes SET expires_at = 0",
        "DELETE FROM tapes",
        "UPDATE tape_bodies SET sealed = x''",
        "DELETE FROM tape_bodies",
    ] {
        let refused = database::execute(&world, statement).await;
        assert!(refused.is_err(), "{statement} went through");
    }
}
