//! Recording runs, and reading the history.

use std::collections::BTreeMap;
use std::time::Duration;

use registry::{
    BumpKind, Constraint, ContentBlock, Direction, ErrorKind, InvocationSource, ORPHANED, Origin, Outcome, Page,
    Principal, REDACTED, RecordedInput, RunFilter, RunId, RunSort, RunStates, SearchQuery, SearchText, SourceType,
    ToolSelection, Version,
};

use crate::fixtures::{World, conversation, ends, finished, started, starts, succeeded, unlinked};

async fn listed(world: &World, principal: &Principal, filter: &RunFilter) -> Vec<RunId> {
    let slice =
        world.store.history().list_invocations(&principal.organization, filter, Page::first(100)).await.unwrap();
    slice.items.into_iter().map(|record| record.start.id).collect()
}

#[tokio::test]
async fn a_record_is_read_as_it_was_written() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let mut record = started(&world.clock, &acme);
    record.source = conversation("c1", "i1");
    world.store.history().record(&starts(vec![record.clone()])).await.unwrap();
    let running = world.store.history().get_invocation(&acme.organization, &record.id).await.unwrap().unwrap();
    assert_eq!((running.start.source, running.end), (record.source.clone(), None));

    let mut end = finished(&record, succeeded("42"));
    end.end.logs = "printed \u{0} and more\n".into();
    end.end.status_events = vec![serde_json::json!({"message": "half\u{0}way", "progress": 0.5})];
    end.end.content = vec![
        ContentBlock::Image { data: vec![0, 255], mime_type: "image/png".into() },
        ContentBlock::Text { text: "é \u{1f600}".into() },
    ];
    world.store.history().record(&ends(vec![end.clone()])).await.unwrap();
    let ended = world.store.history().get_invocation(&acme.organization, &record.id).await.unwrap().unwrap();
    let (kept, written) = (ended.end.unwrap(), end.end);
    assert_eq!((kept.at, kept.duration_ms, kept.persisted), (written.at, written.duration_ms, written.persisted));
    assert_eq!((kept.outcome, kept.logs, kept.content), (written.outcome, written.logs, written.content));
    let events = kept.status_events.iter().map(|event| serde_json::from_str(event.as_str()).unwrap());
    assert_eq!(events.collect::<Vec<serde_json::Value>>(), written.status_events);
    assert_eq!((ended.start.tool, ended.start.tool_version), (record.tool, Some(Version::FIRST)));
}

#[tokio::test]
async fn any_text_is_stored_exactly() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    for text in ["", "\0", "a\0b\0", "\u{feff}\u{200f}\u{10ffff}", "\"'; DROP TABLE tools; --", "🦀\r\n\u{7f}\u{85}"]
    {
        let answered = world.answered(&acme, text).await;
        let record = world.store.history().get_invocation(&acme.organization, &answered).await.unwrap().unwrap();
        assert_eq!(record.end.unwrap().outcome, succeeded(text));
        let failed = world.failed(&acme, text, text, &[text, text]).await;
        let record = world.store.history().get_invocation(&acme.organization, &failed).await.unwrap().unwrap();
        let Outcome::Failed { exception_type, exception_message, exception_stack_trace } = record.end.unwrap().outcome
        else {
            panic!("it failed");
        };
        assert_eq!([exception_type, exception_message], [text, text]);
        assert_eq!(exception_stack_trace, [text, text]);
    }
}

#[tokio::test]
async fn only_the_names_of_sensitive_variables_are_recorded() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let sensitive = BTreeMap::from([("pin".to_owned(), "1234-secret".to_owned())]);
    let mut record = started(&world.clock, &acme);
    record.input = RecordedInput::redacting(serde_json::Map::new(), BTreeMap::new(), sensitive.keys());
    world.store.history().record(&starts(vec![record.clone()])).await.unwrap();
    let kept = world.store.history().get_invocation(&acme.organization, &record.id).await.unwrap().unwrap();
    assert_eq!(kept.start.input.sensitive_user_variables()["pin"], REDACTED);
}

#[tokio::test]
async fn a_run_ends_once() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (first, second) = (world.started(&acme).await, world.started(&acme).await);
    world.store.history().record(&ends(vec![finished(&first, succeeded("one"))])).await.unwrap();
    let again = vec![finished(&first, succeeded("other")), finished(&second, succeeded("two"))];
    let refused = world.store.history().record(&ends(again)).await.unwrap_err();
    assert_eq!((refused.kind(), refused.code()), (ErrorKind::Conflict, "invocation_already_finished"));
    let outcome = async |id| {
        world.store.history().get_invocation(&acme.organization, id).await.unwrap().unwrap().end.unwrap().outcome
    };
    assert_eq!(outcome(&first.id).await, succeeded("one"));
    assert_eq!(outcome(&second.id).await, succeeded("two"));
}

#[tokio::test]
async fn a_run_that_never_started_cannot_end() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let never = started(&world.clock, &acme);
    let refused = world.store.history().record(&ends(vec![finished(&never, succeeded("?"))])).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound);
}

/// Both ends are inserted by one statement.
#[tokio::test]
async fn an_end_of_another_organization_does_not_count() {
    let world = World::new().await;
    let (acme, stranger) = (world.organization("acme").await, world.organization("stranger").await);
    let record = world.started(&acme).await;
    let mut forged = finished(&record, succeeded("forged"));
    forged.organization = stranger.organization.clone();
    let ended = vec![forged, finished(&record, succeeded("first")), finished(&record, succeeded("second"))];
    assert_eq!(world.store.history().record(&ends(ended)).await.unwrap_err().kind(), ErrorKind::NotFound);
    let found = world.store.history().get_invocation(&acme.organization, &record.id).await.unwrap().unwrap();
    assert_eq!(found.end.unwrap().outcome, succeeded("first"));
}

#[tokio::test]
async fn an_open_run_is_orphaned_by_the_start_after_a_crash() {
    let mut world = World::new().await;
    let acme = world.organization("acme").await;
    let (done, lost) = (world.answered(&acme, "done").await, world.started(&acme).await);
    assert_eq!(world.store.nodes().close_orphans().await.unwrap(), 0, "own runs go on");
    world.restart().await;
    assert_eq!(world.store.nodes().close_orphans().await.unwrap(), 1);
    assert_eq!(world.store.nodes().close_orphans().await.unwrap(), 0);
    let record = world.store.history().get_invocation(&acme.organization, &lost.id).await.unwrap().unwrap();
    let end = record.end.unwrap();
    assert!(matches!(&end.outcome, Outcome::Failed { exception_type, .. } if exception_type == ORPHANED));
    assert!(end.duration_ms >= 1000);
    let record = world.store.history().get_invocation(&acme.organization, &done).await.unwrap().unwrap();
    assert_eq!(record.end.unwrap().outcome, succeeded("done"));
    let late = world.store.history().record(&ends(vec![finished(&lost, succeeded("late"))])).await.unwrap_err();
    assert_eq!(late.code(), "invocation_already_finished");
    let record = world.store.history().get_invocation(&acme.organization, &lost.id).await.unwrap().unwrap();
    assert_eq!(record.end.unwrap(), end);
}

#[tokio::test]
async fn lists_show_finished_runs_newest_first_in_pages() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(world.answered(&acme, &number.to_string()).await);
    }
    world.started(&acme).await;
    ids.reverse();
    let (mut seen, mut page) = (Vec::new(), Page::first(2));
    loop {
        let slice =
            world.store.history().list_invocations(&acme.organization, &RunFilter::default(), page).await.unwrap();
        seen.extend(slice.items.into_iter().map(|record| record.start.id));
        let Some(token) = slice.next else { break };
        page.token = token;
    }
    assert_eq!(seen, ids);
    let none = Page::first(0);
    let slice = world.store.history().list_invocations(&acme.organization, &RunFilter::default(), none).await.unwrap();
    assert!(slice.items.is_empty());
    assert_eq!(slice.next, None, "a page without items has no next one");
}

#[tokio::test]
async fn a_page_of_large_records_is_shorter_and_the_next_page_follows_it() {
    const RECORDS: usize = 12;
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let text = "x".repeat(1 << 20);
    let mut ids = Vec::new();
    for _ in 0..RECORDS {
        world.clock.advance(Duration::from_secs(1));
        let mut record = started(&world.clock, &acme);
        let input = serde_json::Map::from_iter([("text".to_owned(), text.clone().into())]);
        record.input = RecordedInput::redacting(input, BTreeMap::new(), &[]);
        world.store.history().record(&starts(vec![record.clone()])).await.unwrap();
        world.store.history().record(&ends(vec![finished(&record, succeeded("large"))])).await.unwrap();
        ids.insert(0, record.id);
    }
    let newest = RunFilter::default();
    let sort = vec![(RunSort::DurationMs, Direction::Descending)];
    for filter in [newest, RunFilter { sort, ..RunFilter::default() }] {
        let (mut pages, mut page) = (Vec::new(), Page::first(100));
        loop {
            let slice = world.store.history().list_invocations(&acme.organization, &filter, page).await.unwrap();
            pages.push(slice.items.into_iter().map(|record| record.start.id).collect::<Vec<_>>());
            let Some(token) = slice.next else { break };
            page.token = token;
        }
        assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [8, 4], "a page has 8 MiB");
        assert_eq!(pages.concat(), ids);
    }
    let query =
        SearchQuery { text: SearchText::parse("large").unwrap(), fields: Vec::new(), filter: RunFilter::default() };
    let page = Page::first(100);
    let found = world.store.history().search_invocations(&acme.organization, &query, page).await.unwrap();
    assert_eq!(found.items.into_iter().map(|record| record.start.id).collect::<Vec<_>>(), ids[..8]);
    let page = Page { token: found.next.unwrap(), ..page };
    let found = world.store.history().search_invocations(&acme.organization, &query, page).await.unwrap();
    assert_eq!(found.items.into_iter().map(|record| record.start.id).collect::<Vec<_>>(), ids[8..]);
}

#[tokio::test]
async fn lists_are_filtered_and_sorted() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let mut talk = started(&world.clock, &acme);
    talk.source = conversation("c1", "i1");
    world.store.history().record(&starts(vec![talk.clone()])).await.unwrap();
    let mut end = finished(&talk, succeeded("said"));
    (end.end.duration_ms, end.end.persisted) = (900, false);
    world.store.history().record(&ends(vec![end])).await.unwrap();
    let failed = world.failed(&acme, "ValueError", "no", &[]).await;
    let direct = world.answered(&acme, "yes").await;

    let all = RunFilter::default;
    let check = async |filter: RunFilter, expected: &[&RunId]| {
        let ids = listed(&world, &acme, &filter).await;
        assert_eq!(ids.iter().collect::<Vec<_>>(), expected, "{filter:?}");
    };
    check(RunFilter { succeeded: Some(false), ..all() }, &[&failed]).await;
    check(RunFilter { persisted: Some(false), ..all() }, &[&talk.id]).await;
    check(RunFilter { conversation_ids: vec!["c1".to_owned()], ..all() }, &[&talk.id]).await;
    check(RunFilter { conversation_ids: vec!["c2".to_owned()], ..all() }, &[]).await;
    check(RunFilter { origins: vec![Origin::Direct], ..all() }, &[&direct, &failed]).await;
    check(RunFilter { origins: vec![Origin::Conversation], ..all() }, &[&talk.id]).await;
    let regular = vec![SourceType::RegularConversation];
    check(RunFilter { source_types: regular.clone(), ..all() }, &[&direct, &failed, &talk.id]).await;
    check(RunFilter { source_types: vec![SourceType::SimulationConversation], ..all() }, &[]).await;
    let origins = vec![Origin::Direct, Origin::BranchTest];
    check(RunFilter { source_types: regular, origins, ..all() }, &[&direct, &failed]).await;
    let sort = vec![(RunSort::DurationMs, Direction::Descending), (RunSort::CreatedAt, Direction::Ascending)];
    check(RunFilter { sort, ..all() }, &[&talk.id, &failed, &direct]).await;
    let sort = vec![(RunSort::Succeeded, Direction::Ascending)];
    check(RunFilter { sort, ..all() }, &[&failed, &direct, &talk.id]).await;
    let again = world.answered(&acme, "yes again").await;
    let sort = vec![
        (RunSort::Succeeded, Direction::Descending),
        (RunSort::DurationMs, Direction::Ascending),
        // A repeated column changes nothing.
        (RunSort::Succeeded, Direction::Ascending),
        (RunSort::CreatedAt, Direction::Ascending),
    ];
    check(RunFilter { sort, ..all() }, &[&direct, &again, &talk.id, &failed]).await;
}

#[tokio::test]
async fn lists_are_filtered_by_user_time_and_state() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let first = world.answered(&acme, "first").await;
    let between = world.clock.now();
    let mut other = started(&world.clock, &acme);
    other.source = InvocationSource::Direct { user_id: "bob".to_owned() };
    world.clock.advance(Duration::from_secs(1));
    other.started_at = world.clock.now();
    world.store.history().record(&starts(vec![other.clone()])).await.unwrap();
    let running = world.started(&acme).await;

    let all = || RunFilter { states: RunStates::All, ..RunFilter::default() };
    let check = async |filter: RunFilter, expected: &[&RunId]| {
        let ids = listed(&world, &acme, &filter).await;
        assert_eq!(ids.iter().collect::<Vec<_>>(), expected, "{filter:?}");
    };
    check(RunFilter::default(), &[&first]).await;
    check(all(), &[&running.id, &other.id, &first]).await;
    check(RunFilter { states: RunStates::Running, ..all() }, &[&running.id, &other.id]).await;
    let sort = vec![(RunSort::CreatedAt, Direction::Ascending)];
    check(RunFilter { states: RunStates::Running, sort: sort.clone(), ..all() }, &[&other.id, &running.id]).await;
    check(RunFilter { sort, ..all() }, &[&first, &other.id, &running.id]).await;
    check(RunFilter { user_ids: vec!["bob".to_owned()], ..all() }, &[&other.id]).await;
    check(RunFilter { user_ids: vec!["nobody".to_owned()], ..all() }, &[]).await;
    check(RunFilter { created_before: Some(other.started_at), ..all() }, &[&first]).await;
    check(RunFilter { created_after: Some(other.started_at), ..all() }, &[&running.id, &other.id]).await;
    let window = RunFilter { created_after: Some(between), created_before: Some(other.started_at), ..all() };
    check(window, &[&first]).await;
    world.store.history().record(&ends(vec![finished(&running, succeeded("done"))])).await.unwrap();
    check(RunFilter { states: RunStates::Running, ..all() }, &[&other.id]).await;
}

#[tokio::test]
async fn lists_are_filtered_by_tool_and_constraint() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    let mut runs = Vec::new();
    for bump in [BumpKind::Major, BumpKind::Minor] {
        let version = world.publish(&acme, &tool, bump).await.version;
        let mut record = started(&world.clock, &acme);
        (record.tool, record.tool_version) = (Some(tool.clone()), Some(version));
        world.store.history().record(&starts(vec![record.clone()])).await.unwrap();
        world.store.history().record(&ends(vec![finished(&record, succeeded("ok"))])).await.unwrap();
        runs.push(record.id);
    }
    world.answered(&acme, "of another tool").await;
    for (constraint, expected) in
        [(None, vec![&runs[1], &runs[0]]), (Some(">=1.1"), vec![&runs[1]]), (Some(">2"), vec![])]
    {
        let versions = constraint.map(|text| Constraint::parse(text).unwrap());
        let selection = ToolSelection { tool: tool.clone(), versions };
        let tools = vec![selection.clone(), selection];
        let ids = listed(&world, &acme, &RunFilter { tools, ..RunFilter::default() }).await;
        assert_eq!(ids.iter().collect::<Vec<_>>(), expected, "{constraint:?}");
    }
}

#[tokio::test]
async fn a_rollback_unlinks_records_from_their_conversation() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let mut ids = Vec::new();
    for interaction in ["i1", "i2"] {
        let mut record = started(&world.clock, &acme);
        record.source = conversation("c1", interaction);
        world.store.history().record(&starts(vec![record.clone()])).await.unwrap();
        world.store.history().record(&ends(vec![finished(&record, succeeded("ok"))])).await.unwrap();
        ids.push(record.id);
    }
    assert_eq!(world.store.history().record(&unlinked(&acme, "c1", Some("i2"))).await.unwrap(), 1);
    assert_eq!(world.store.history().record(&unlinked(&acme, "c1", Some("i2"))).await.unwrap(), 0);
    let filter = RunFilter { conversation_ids: vec!["c1".to_owned()], ..RunFilter::default() };
    assert_eq!(listed(&world, &acme, &filter).await, ids[..1]);
    let record = world.store.history().get_invocation(&acme.organization, &ids[1]).await.unwrap().unwrap();
    assert_eq!(record.start.source, conversation("c1", "i2").unlinked());
}
