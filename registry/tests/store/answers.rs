//! Recorded answers: sealed for one tool and one request, the newest per request, bounded per tool, until they expire.

use registry::{Clock, Config, Principal, RecordedAnswer, Timestamp, ToolId};

use crate::database;
use crate::fixtures::{World, ends, finished, holds, started, starts, succeeded};

const HOUR_MS: i64 = 3_600_000;

fn now() -> Timestamp {
    Clock::system().now()
}

fn earlier(milliseconds: i64) -> Timestamp {
    Timestamp::from_milliseconds(now().as_milliseconds() - milliseconds)
}

fn answer_to(request: u8, answer: &str, at: Timestamp) -> RecordedAnswer {
    RecordedAnswer { request: [request; 32], bytes: answer.into(), at }
}

/// Ends a run with these recorded answers.
async fn record(
    world: &World,
    principal: &Principal,
    tool: &ToolId,
    answers: Vec<RecordedAnswer>,
) -> registry::Result<()> {
    let started = started(&Clock::system(), principal);
    world.store.history().record(&starts(vec![started.clone()])).await.unwrap();
    let sealed = world.store.history().seal_answers(&principal.organization, tool, answers).await.unwrap();
    let mut record = finished(&started, succeeded("done"));
    record.answers = Some(sealed);
    world.store.history().record(&ends(vec![record])).await?;
    let kept = world.store.history().get_invocation(&principal.organization, &started.id).await.unwrap().unwrap();
    assert!(kept.end.is_some(), "the record is whole");
    Ok(())
}

async fn recorded(world: &World, principal: &Principal, tool: &ToolId, request: u8) -> Option<String> {
    let found = world.store.history().recorded_answer(&principal.organization, tool, &[request; 32]).await.unwrap();
    found.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())
}

async fn change(world: &World, statement: &str) {
    database::execute(world, statement).await.unwrap();
}

#[tokio::test]
async fn an_answer_is_found_only_for_its_request_and_tool() {
    let world = World::new().await;
    let (acme, other) = (world.organization("acme").await, world.organization("other").await);
    let (tool, second) = (world.tool(&acme, "first").await, world.tool(&acme, "second").await);
    let answers = vec![answer_to(1, "answer in plain words", now()), answer_to(2, &"much ".repeat(60_000), now())];
    record(&world, &acme, &tool, answers).await.unwrap();
    assert_eq!(recorded(&world, &acme, &tool, 1).await.unwrap(), "answer in plain words");
    assert_eq!(recorded(&world, &acme, &tool, 2).await.unwrap().len(), 300_000);
    assert_eq!(recorded(&world, &acme, &tool, 3).await, None);
    assert_eq!(recorded(&world, &acme, &second, 1).await, None);
    assert_eq!(recorded(&world, &other, &tool, 1).await, None);
    let stored = world.stored_bytes().await;
    assert!(holds(&stored, tool.as_str().as_bytes()));
    assert!(!holds(&stored, b"plain words") && !holds(&stored, &[1; 32]));
}

#[tokio::test]
async fn the_newest_answer_to_a_request_wins_whichever_run_ends_last() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    for (answer, age_ms, expected) in
        [("first", 9_000, "first"), ("third", 3_000, "third"), ("second", 6_000, "third"), ("last", 3_000, "last")]
    {
        record(&world, &acme, &tool, vec![answer_to(1, answer, earlier(age_ms))]).await.unwrap();
        assert_eq!(recorded(&world, &acme, &tool, 1).await.unwrap(), expected);
    }
}

#[tokio::test]
async fn above_the_limit_of_a_tool_its_oldest_answers_are_deleted() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (tool, other) = (world.tool(&acme, "full").await, world.tool(&acme, "other").await);
    record(&world, &acme, &other, vec![answer_to(1, "other", earlier(99_000))]).await.unwrap();
    let max = u8::try_from(Config::for_tests().recorded_answers_max).unwrap();
    let answers = (1..=max).map(|number| answer_to(number, "kept", earlier(90_000 - i64::from(number)))).collect();
    record(&world, &acme, &tool, answers).await.unwrap();
    assert!(recorded(&world, &acme, &tool, 1).await.is_some());
    record(&world, &acme, &tool, vec![answer_to(201, "new", now()), answer_to(202, "new", now())]).await.unwrap();
    for (request, is_kept) in [(1, false), (2, false), (3, true), (max, true), (201, true), (202, true)] {
        assert_eq!(recorded(&world, &acme, &tool, request).await.is_some(), is_kept, "{request}");
    }
    assert!(recorded(&world, &acme, &other, 1).await.is_some(), "another tool has its own");
}

#[tokio::test]
async fn expired_answers_are_not_found_and_are_deleted() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    let old = (1..=30).map(|number| answer_to(number, "old", earlier(2 * HOUR_MS))).collect();
    record(&world, &acme, &tool, old).await.unwrap();
    record(&world, &acme, &tool, vec![answer_to(99, "young", now())]).await.unwrap();
    assert_eq!(recorded(&world, &acme, &tool, 1).await, None, "also before it is swept");
    assert_eq!(world.store.history().delete_expired_answers().await.unwrap(), 30);
    assert_eq!(world.store.history().delete_expired_answers().await.unwrap(), 0);
    assert!(recorded(&world, &acme, &tool, 99).await.is_some());
}

#[tokio::test]
async fn a_changed_or_moved_row_is_corrupt() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (tool, second) = (world.tool(&acme, "first").await, world.tool(&acme, "second").await);
    record(&world, &acme, &tool, vec![answer_to(1, "one", now())]).await.unwrap();
    record(&world, &acme, &second, vec![answer_to(1, "two", now())]).await.unwrap();
    change(
        &world,
        "UPDATE recorded_answers SET sealed = (SELECT sealed FROM recorded_answers ORDER BY heard_at, tool LIMIT 1)",
    )
    .await;
    let mut corrupt = 0;
    for tool in [&tool, &second] {
        if let Err(error) = world.store.history().recorded_answer(&acme.organization, tool, &[1; 32]).await {
            assert_eq!(error.code(), "corrupt");
            corrupt += 1;
        }
    }
    assert_eq!(corrupt, 1, "what lies in the other's row does not open there");
    change(&world, "UPDATE recorded_answers SET sealed = x'01'").await;
    let damaged = world.store.history().recorded_answer(&acme.organization, &tool, &[1; 32]).await;
    assert_eq!(damaged.unwrap_err().code(), "corrupt");
}

#[tokio::test]
async fn answers_that_cannot_be_stored_do_not_prevent_the_record() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    let unknown = ToolId::new(&Clock::system());
    record(&world, &acme, &unknown, vec![answer_to(1, "of no tool", now())]).await.unwrap();
    assert_eq!(recorded(&world, &acme, &unknown, 1).await, None);
    change(&world, "DROP TABLE recorded_answers").await;
    record(&world, &acme, &tool, vec![answer_to(1, "nowhere", now())]).await.unwrap();
    let error = world.store.history().recorded_answer(&acme.organization, &tool, &[1; 32]).await.unwrap_err();
    assert_eq!(error.code(), "database");
}
