//! The orders of the history.

use std::cmp::Ordering;
use std::time::Duration;

use registry::{Direction, InvocationMode, Page, Principal, Record, RunFilter, RunSort, RunStates, Version};

use crate::fixtures::{World, ends, finished, started, starts, succeeded};

/// Every order, read in pages, is that of a sort by the same keys in memory.
#[tokio::test]
async fn any_order_is_read_in_pages_without_gaps() {
    use RunSort::{CreatedAt, DurationMs, Major, Minor, Patch, SourceType as ByType, Succeeded, ToolId as ByTool};
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tools = [world.tool(&acme, "one").await, world.tool(&acme, "two").await];
    for number in 0..24_u64 {
        let mut record = started(&world.clock, &acme);
        record.tool = (number % 5 != 0).then(|| tools[usize::from(number % 2 == 0)].clone());
        record.tool_version = record.tool.as_ref().map(|_| Version::new(number % 3, number % 2, number % 4));
        if number % 7 == 0 {
            record.mode = InvocationMode::ConversationSimulation;
        }
        world.clock.advance(Duration::from_millis(number % 2));
        record.started_at = world.clock.now();
        world.store.history().record(&starts(vec![record.clone()])).await.unwrap();
        if number % 6 == 5 {
            continue;
        }
        let mut end = finished(&record, succeeded("x"));
        end.end.duration_ms = number % 4;
        world.store.history().record(&ends(vec![end])).await.unwrap();
    }
    let orders: [&[(RunSort, Direction)]; 7] = [
        &[(ByTool, Direction::Descending), (DurationMs, Direction::Ascending)],
        &[(ByType, Direction::Ascending), (Major, Direction::Descending), (Minor, Direction::Ascending)],
        &[(Patch, Direction::Descending), (ByTool, Direction::Ascending), (CreatedAt, Direction::Ascending)],
        &[(DurationMs, Direction::Descending), (Patch, Direction::Ascending)],
        &[(CreatedAt, Direction::Ascending), (ByTool, Direction::Ascending)],
        &[(CreatedAt, Direction::Descending), (Succeeded, Direction::Ascending)],
        &[
            (Succeeded, Direction::Descending),
            (ByType, Direction::Descending),
            (Minor, Direction::Descending),
            (Major, Direction::Ascending),
            (ByTool, Direction::Descending),
            (Patch, Direction::Ascending),
            (DurationMs, Direction::Descending),
            (CreatedAt, Direction::Ascending),
        ],
    ];
    for (sort, states) in orders.iter().flat_map(|sort| [(sort, RunStates::All), (sort, RunStates::Finished)]) {
        let filter = RunFilter { sort: sort.to_vec(), states, ..RunFilter::default() };
        let mut expected = in_pages(&world, &acme, &RunFilter { sort: Vec::new(), ..filter.clone() }, 100).await;
        expected.sort_by(|one, other| compare(one, other, sort));
        let expected: Vec<_> = expected.into_iter().map(|record| record.start.id).collect();
        for limit in [1, 3, 100] {
            let seen = in_pages(&world, &acme, &filter, limit).await;
            assert_eq!(
                seen.into_iter().map(|record| record.start.id).collect::<Vec<_>>(),
                expected,
                "{sort:?} {limit}"
            );
        }
    }
}

async fn in_pages(world: &World, principal: &Principal, filter: &RunFilter, limit: u32) -> Vec<Record> {
    let (mut seen, mut page) = (Vec::new(), Page::first(limit));
    loop {
        let slice = world.store.history().list_invocations(&principal.organization, filter, page).await.unwrap();
        seen.extend(slice.items);
        let Some(token) = slice.next else { return seen };
        page.token = token;
    }
}

/// Compares two records by sort keys. The records were sorted by age, which the stable sort keeps for equal keys.
fn compare(one: &Record, other: &Record, sort: &[(RunSort, Direction)]) -> Ordering {
    let key = |record: &Record, column: RunSort| {
        let version = record.start.tool_version.unwrap_or(Version::new(0, 0, 0));
        let finished = record.end.as_ref();
        match column {
            RunSort::CreatedAt => record.start.started_at.as_milliseconds().to_string(),
            RunSort::DurationMs => finished.map_or(0, |end| end.duration_ms).to_string(),
            RunSort::Succeeded => finished.is_some().to_string(),
            RunSort::ToolId => record.start.tool.as_ref().map(ToString::to_string).unwrap_or_default(),
            RunSort::Major => version.major.to_string(),
            RunSort::Minor => version.minor.to_string(),
            RunSort::Patch => version.patch.to_string(),
            RunSort::SourceType => record.start.source.kind().source_type(record.start.mode).as_str().to_owned(),
        }
    };
    sort.iter().fold(Ordering::Equal, |so_far, (column, direction)| {
        let by_key = key(one, *column).cmp(&key(other, *column));
        so_far.then(if *direction == Direction::Ascending { by_key } else { by_key.reverse() })
    })
}
