//! Lists of runs with several effects, which are read from the one that is rare of late, and in spans of time.

use std::time::Duration;

use registry::{
    Effect, EffectKind, FinishedRun, HttpUse, Ledger, Outcome, Page, Principal, RunFilter, RunId, Timestamp,
};

use crate::fixtures::{World, ends, finished, started, starts, succeeded};

/// Enough for several spans of each kind.
const RUNS: u64 = 1_200;
/// Runs that begin in one millisecond.
const AT_ONCE: u64 = 3;

/// A run, by its number: each effect is that of the multiples of some numbers.
struct Run {
    id: RunId,
    number: u64,
    started_at: Timestamp,
}

impl Run {
    fn has(&self, name: &str) -> bool {
        match name {
            "often.org" => !self.number.is_multiple_of(3),
            "sometimes.org" => self.number.is_multiple_of(4),
            // The newest runs do not have it.
            "once.org" => self.number < 40,
            "twice.org" => self.number < 80,
            "KEY" => self.number.is_multiple_of(5),
            "failed" => self.number.is_multiple_of(7),
            _ => false,
        }
    }
}

async fn recorded(world: &World, acme: &Principal) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut starting = Vec::new();
    let mut ending = Vec::new();
    for number in 0..RUNS {
        let start = started(&world.clock, acme);
        let run = Run { id: start.id.clone(), number, started_at: start.started_at };
        ending.push(end_of(&run, finished(&start, succeeded("1"))));
        starting.push(start);
        runs.push(run);
        world.clock.advance(Duration::from_millis(u64::from(number % AT_ONCE == 0)));
    }
    world.store.history().record(&starts(starting)).await.unwrap();
    world.store.history().record(&ends(ending)).await.unwrap();
    runs
}

fn end_of(run: &Run, mut end: FinishedRun) -> FinishedRun {
    let hosts = ["often.org", "sometimes.org", "once.org", "twice.org"].into_iter().filter(|host| run.has(host));
    let mut ledger = Ledger::default();
    ledger.used.http = hosts.map(|host| HttpUse { host: host.into(), sent_bytes: 1, ..HttpUse::default() }).collect();
    ledger.granted.secrets = ["KEY"].into_iter().filter(|name| run.has(name)).map(str::to_owned).collect();
    end.end.ledger = Some(ledger);
    if run.has("failed") {
        end.end.outcome = Outcome::Failed {
            exception_type: "ValueError".into(),
            exception_message: String::new(),
            exception_stack_trace: Vec::new(),
        };
    }
    end
}

/// The hosts, the secret and the outcome of a list.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    hosts: &'static [&'static str],
    with_secret: bool,
    failed: bool,
}

fn filter(Wanted { hosts, with_secret, failed }: Wanted) -> RunFilter {
    let effect = |kind, name: &str| Effect { kind, name: name.into() };
    let mut effects: Vec<_> = hosts.iter().map(|host| effect(EffectKind::Host, host)).collect();
    effects.extend(with_secret.then(|| effect(EffectKind::Secret, "KEY")));
    RunFilter { effects, succeeded: failed.then_some(false), ..RunFilter::default() }
}

#[tokio::test]
async fn lists_with_several_effects_have_all_their_runs_in_order() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let mut runs = recorded(&world, &acme).await;
    runs.sort_by(|a, b| (b.started_at, &b.id).cmp(&(a.started_at, &a.id)));
    let middle = runs[runs.len() / 2].started_at;
    let cases: [(&[&str], bool, bool); 11] = [
        (&["often.org", "sometimes.org"], false, false),
        (&["often.org", "sometimes.org", "once.org"], false, false),
        (&["once.org", "absent.org"], false, false),
        (&["often.org"], true, false),
        (&["once.org"], true, false),
        (&["sometimes.org", "once.org"], true, false),
        (&["often.org", "once.org"], false, true),
        (&["often.org", "sometimes.org"], true, true),
        (&["sometimes.org"], true, true),
        (&["once.org", "twice.org"], true, false),
        (&["once.org", "twice.org"], true, true),
    ];
    for (hosts, with_secret, failed) in cases {
        let case = Wanted { hosts, with_secret, failed };
        for before in [None, Some(middle)] {
            let is_wanted = |run: &&Run| {
                hosts.iter().any(|host| run.has(host))
                    && (!with_secret || run.has("KEY"))
                    && (!failed || run.has("failed"))
                    && before.is_none_or(|before| run.started_at < before)
            };
            let expected: Vec<_> = runs.iter().filter(is_wanted).map(|run| run.id.clone()).collect();
            let filter = RunFilter { created_before: before, ..filter(case) };
            for limit in [30, 5_000] {
                let found = listed(&world, &acme, &filter, limit).await;
                assert!(found == expected, "{case:?} {before:?}: {} of {} runs", found.len(), expected.len());
            }
        }
    }
}

/// Reads all pages of a list.
async fn listed(world: &World, acme: &Principal, filter: &RunFilter, limit: u32) -> Vec<RunId> {
    let (mut found, mut page) = (Vec::new(), Page::first(limit));
    loop {
        let slice = world.store.history().list_invocations(&acme.organization, filter, page).await.unwrap();
        found.extend(slice.items.into_iter().map(|record| record.start.id));
        let Some(next) = slice.next else { return found };
        page.token = next;
    }
}
