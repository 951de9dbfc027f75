//! Lists of more runs than are sorted, which are read in parts: those of one outcome, or of one group after another.

use std::time::Duration;

use registry::{
    BumpKind, Constraint, Direction, InvocationMode, InvocationSource, Origin, Outcome, Page, Principal, Record,
    RunFilter, RunSort, SourceType, Timestamp, ToolId, ToolSelection, Version,
};

use crate::fixtures::{World, conversation, ends, finished, started, starts, succeeded};

const RUNS: u64 = 60;

/// A list of the whole history, from which a filter keeps some.
type Keeps = fn(&Record, &[ToolId]) -> bool;

async fn world_with_runs() -> (World, Principal, Vec<ToolId>) {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tools = vec![world.tool(&acme, "one").await, world.tool(&acme, "two").await, world.tool(&acme, "three").await];
    for tool in &tools {
        world.publish(&acme, tool, BumpKind::Major).await;
        world.publish(&acme, tool, BumpKind::Minor).await;
    }
    for number in 0..RUNS {
        world.clock.advance(Duration::from_millis(number % 3));
        let mut run = started(&world.clock, &acme);
        let tool = usize::try_from(number % 4).unwrap();
        run.tool = tools.get(tool).cloned();
        run.tool_version = run.tool.as_ref().map(|_| Version::new(1, number / 20 % 2, 0));
        run.source = match number % 5 {
            0 => conversation("c1", "i1"),
            1 => InvocationSource::Direct { user_id: "bob".to_owned() },
            _ => run.source,
        };
        if number % 7 == 0 {
            run.mode = InvocationMode::ConversationSimulation;
        }
        world.store.history().record(&starts(vec![run.clone()])).await.unwrap();
        let failed = Outcome::Failed {
            exception_type: "ValueError".to_owned(),
            exception_message: "no".to_owned(),
            exception_stack_trace: Vec::new(),
        };
        let mut end = finished(&run, if number % 3 == 0 { failed } else { succeeded("x") });
        end.end.duration_ms = number % 11;
        world.store.history().record(&ends(vec![end])).await.unwrap();
    }
    (world, acme, tools)
}

async fn in_pages(world: &World, of: &Principal, filter: &RunFilter, limit: u32) -> Vec<Record> {
    let (mut seen, mut page) = (Vec::new(), Page::first(limit));
    loop {
        let slice = world.store.history().list_invocations(&of.organization, filter, page).await;
        let slice = slice.unwrap_or_else(|error| panic!("{filter:?}: {error}"));
        seen.extend(slice.items);
        let Some(token) = slice.next else { return seen };
        page.token = token;
    }
}

fn has_failed(record: &Record) -> bool {
    record.end.as_ref().is_some_and(|end| matches!(end.outcome, Outcome::Failed { .. }))
}

fn is_of(record: &Record, tool: &ToolId) -> bool {
    record.start.tool.as_ref() == Some(tool)
}

fn filters(tools: &[ToolId]) -> Vec<(RunFilter, Keeps)> {
    let any = RunFilter::default;
    let failed = || RunFilter { succeeded: Some(false), ..any() };
    let select = |tool: usize, versions: Option<&str>| {
        let versions = versions.map(|text| Constraint::parse(text).unwrap());
        ToolSelection { tool: tools[tool].clone(), versions }
    };
    let simulations = vec![SourceType::SimulationConversation];
    vec![
        (any(), |_, _| true),
        (failed(), |record, _| has_failed(record)),
        (RunFilter { succeeded: Some(true), ..any() }, |record, _| !has_failed(record)),
        (RunFilter { tools: vec![select(0, None)], ..failed() }, |record, tools| {
            has_failed(record) && is_of(record, &tools[0])
        }),
        (RunFilter { tools: vec![select(0, None), select(2, None)], ..any() }, |record, tools| {
            is_of(record, &tools[0]) || is_of(record, &tools[2])
        }),
        (RunFilter { tools: vec![select(1, Some("==1.0.0"))], ..any() }, |record, tools| {
            is_of(record, &tools[1]) && record.start.tool_version == Some(Version::new(1, 0, 0))
        }),
        (RunFilter { tools: vec![select(1, Some("==1.1.0"))], ..failed() }, |record, tools| {
            has_failed(record) && is_of(record, &tools[1]) && record.start.tool_version == Some(Version::new(1, 1, 0))
        }),
        (RunFilter { tools: vec![select(1, Some(">=7"))], ..any() }, |_, _| false),
        (RunFilter { source_types: simulations.clone(), ..any() }, |record, _| is_simulation(record)),
        (RunFilter { source_types: simulations, ..failed() }, |record, _| has_failed(record) && is_simulation(record)),
        (RunFilter { user_ids: vec!["bob".to_owned()], ..failed() }, |record, _| {
            has_failed(record) && record.start.source.user_id() == Some("bob")
        }),
        (RunFilter { origins: vec![Origin::Conversation], ..failed() }, |record, _| {
            has_failed(record) && record.start.source.conversation_id().is_some()
        }),
    ]
}

fn is_simulation(record: &Record) -> bool {
    record.start.source.kind().source_type(record.start.mode) == SourceType::SimulationConversation
}

fn orders() -> Vec<Vec<(RunSort, Direction)>> {
    use Direction::{Ascending, Descending};
    use RunSort::{CreatedAt, DurationMs, Major, Minor, SourceType as ByType, Succeeded, ToolId as ByTool};
    vec![
        vec![],
        vec![(ByTool, Ascending)],
        vec![(ByTool, Descending), (Minor, Ascending)],
        vec![(Minor, Descending)],
        vec![(Major, Ascending), (ByTool, Ascending), (DurationMs, Descending)],
        vec![(ByType, Descending)],
        vec![(Succeeded, Ascending)],
        vec![(Succeeded, Descending), (ByTool, Ascending)],
        vec![(DurationMs, Descending)],
        vec![(CreatedAt, Ascending)],
    ]
}

fn sorted(mut records: Vec<Record>, sort: &[(RunSort, Direction)]) -> Vec<Record> {
    let key = |record: &Record, column: RunSort| {
        let version = record.start.tool_version.unwrap_or(Version::new(0, 0, 0));
        let number = match column {
            RunSort::CreatedAt => u64::try_from(record.start.started_at.as_milliseconds()).unwrap(),
            RunSort::DurationMs => record.end.as_ref().map_or(0, |end| end.duration_ms),
            RunSort::Succeeded => u64::from(!has_failed(record)),
            RunSort::ToolId => 0,
            RunSort::Major => version.major,
            RunSort::Minor => version.minor,
            RunSort::Patch => version.patch,
            RunSort::SourceType => u64::from(is_simulation(record)),
        };
        let tool = record.start.tool.as_ref().filter(|_| column == RunSort::ToolId);
        (number, tool.map(ToString::to_string).unwrap_or_default())
    };
    for (column, direction) in sort.iter().rev() {
        records.sort_by(|one, other| match direction {
            Direction::Ascending => key(one, *column).cmp(&key(other, *column)),
            Direction::Descending => key(other, *column).cmp(&key(one, *column)),
        });
    }
    records
}

fn ids(records: Vec<Record>) -> Vec<String> {
    records.into_iter().map(|record| record.start.id.to_string()).collect()
}

#[tokio::test]
async fn lists_in_parts_have_the_runs_of_their_filter_in_their_order() {
    let (world, acme, tools) = world_with_runs().await;
    let all = in_pages(&world, &acme, &RunFilter::default(), 100).await;
    assert_eq!(all.len() as u64, RUNS);
    for (filter, keeps) in filters(&tools) {
        for sort in orders() {
            let kept = all.iter().filter(|record| keeps(record, &tools)).cloned().collect();
            let expected = ids(sorted(kept, &sort));
            let filter = RunFilter { sort, ..filter.clone() };
            for limit in [7, 100] {
                assert_eq!(ids(in_pages(&world, &acme, &filter, limit).await), expected, "{filter:?} {limit}");
            }
        }
    }
}

#[tokio::test]
async fn lists_in_parts_keep_to_their_time() {
    let (world, acme, tools) = world_with_runs().await;
    let all = in_pages(&world, &acme, &RunFilter::default(), 100).await;
    let (after, before) = (all[40].start.started_at, all[10].start.started_at);
    let is_within = |record: &Record| record.start.started_at >= after && record.start.started_at < before;
    for (filter, keeps) in filters(&tools) {
        let kept = all.iter().filter(|record| is_within(record) && keeps(record, &tools)).cloned().collect::<Vec<_>>();
        let filter = RunFilter { created_after: Some(after), created_before: Some(before), ..filter };
        for sort in [vec![], vec![(RunSort::ToolId, Direction::Ascending)]] {
            let expected = ids(sorted(kept.clone(), &sort));
            let filter = RunFilter { sort, ..filter.clone() };
            assert_eq!(ids(in_pages(&world, &acme, &filter, 3).await), expected, "{filter:?}");
        }
    }
    let future = RunFilter {
        created_after: Some(Timestamp::from_milliseconds(i64::MAX)),
        sort: vec![(RunSort::ToolId, Direction::Ascending)],
        ..RunFilter::default()
    };
    assert!(in_pages(&world, &acme, &future, 3).await.is_empty());
}
