//! Stack traces of runs that the host stopped: the engine has no chance to throw an error.

use serde_json::{Value, json};

use super::{server, typescript};
use crate::harness::{Options, Site, Team, Tool};

const STOCK: &str = "
const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export class Stock {
  für_immer(how: string): number {
    const all: unknown[] = [];
    while (how === 'loop') how = how + '';
    while (how === 'objects') all.push({ all });
    while (how === 'arrays') all.push(new Uint8Array(1 << 20).fill(1));
    return all.length;
  }
}

export async function patient(how: string): Promise<unknown> {
  await null;
  if (how === 'both') await Promise.all([sleep(3_600_000), sleep(3_600_000)]);
  return how.startsWith('http') ? await fetch(how) : await sleep(3_600_000);
}
";

const BEFORE: &str = "import { patient, Stock } from './shop/stock';

async function outer(how: string, waits: boolean) {
  await null;
  return waits ? await patient(how) : new Stock().für_immer(how);
}

async function abandoned() { await new Promise(() => {}); }";

const BODY: &str = "  abandoned();
  return String(await outer(toolInput.how, toolInput.waits));";

fn published<'t>(team: &'t Team, name: &str, settings: &Value) -> Tool<'t> {
    typescript(team, name, &json!({"lathe": settings}), BEFORE, BODY).with_file("shop/stock.ts", STOCK).published()
}

/// Checks that the calls begin so, innermost first, and that there are no others.
#[track_caller]
fn check(calls: &[String], expected: &[&str]) {
    let is_same =
        calls.len() == expected.len() && calls.iter().zip(expected).all(|(call, begin)| call.starts_with(begin));
    assert!(is_same, "{expected:?} in {calls:?}");
}

#[test]
fn a_run_that_is_stopped_in_time_shows_the_calls_of_the_author() {
    let Some(server) = server(Options::default()) else { return };
    let (team, site) = (Team::on(&server), Site::serve());
    let settings = json!({"timeout_seconds": 1, "allowed_hosts": [site.address.to_string()]});
    let tool = published(&team, "endless", &settings);
    let outer = ["    at outer (index.ts:5:", "    at async outer (index.ts:5:"];
    let run_tool = "    at async runTool (index.ts:11:";
    let stopped = |how: &str, waits: bool| {
        let failure = tool.invoke(json!({"how": how, "waits": waits})).failure();
        assert!(failure.kind.starts_with("timeout_"), "{failure:?}");
        failure.trace
    };
    check(&stopped("loop", false), &["    at für_immer (shop/stock.ts:7:", outer[0], run_tool]);
    check(&stopped("sleep", true), &["    at patient (shop/stock.ts:17:", outer[1], run_tool]);
    check(&stopped("both", true), &["    at patient (shop/stock.ts:16:", outer[1], run_tool]);
    check(&stopped(&site.url("/silent"), true), &["    at patient (shop/stock.ts:17:", outer[1], run_tool]);
}

#[test]
fn a_run_that_is_refused_memory_shows_the_calls_of_the_author() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    let tool = published(&team, "greedy", &json!({"timeout_seconds": 300, "memory_mb": 64}));
    for (how, line) in [("objects", "8:"), ("arrays", "9:")] {
        let failure = tool.invoke(json!({"how": how, "waits": false})).failure();
        let (kind, mut calls) = (failure.kind, failure.trace);
        // The engine throws a text, or aborts while it collects garbage.
        assert!(["Error", "out_of_memory"].contains(&kind.as_str()), "{kind}: {calls:?}");
        if kind == "Error" {
            assert_eq!(calls.remove(0), "Error: out of memory");
        }
        let inner = format!("    at f\u{fc}r_immer (shop/stock.ts:{line}");
        check(&calls, &[&inner, "    at outer (index.ts:5:", "    at async runTool (index.ts:11:"]);
    }
}
