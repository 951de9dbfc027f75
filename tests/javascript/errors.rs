//! Stack traces of failed runs, with the author's files and lines.

use serde_json::json;

use super::{server, typescript};
use crate::harness::{Options, Team};

const HELPER: &str = "
interface Order { count: number }

export class TooMany extends RangeError {
  override name = 'TooMany';
}

export function check(order: Order): void {
  if (order.count > 2) {
    throw new TooMany(`no more than 2, not ${order.count}`, { cause: new Error('the shelf is small') });
  }
}
";

const BODY: &str = "
  const what: Record<string, () => unknown> = {
    async check() { await null; check({ count: 3 }); },
    never: () => new Promise(() => {}),
    timer: () => new Promise(() => setTimeout(() => { throw new Error('late'); }, 1)),
    recursion() { const deeper = (): number => deeper() + 1; return deeper(); },
    nothing() {},
    circle() { const circle: any = {}; circle.self = circle; return circle; },
    number: () => 1n,
    text() { throw 'only text'; },
    object() { throw { code: 7 }; },
    nameless() { throw Object.assign(new Error('m'), { name: 5 }); },
    hostile() { throw new Proxy(new Error('x'), { get() { throw new Error('no'); } }); },
    rejected: () => Promise.reject(new TypeError('rejected')),
    many: () => Promise.any([Promise.reject(new Error('first'))]),
    event: () => sendStatusEvent(5),
    memory() { const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1)); },
  };
  return what[toolInput.what]!();
";

#[test]
fn errors_show_the_authors_lines() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    let before = "import { check } from './lib/helper';";
    let tool = typescript(&team, "fails", &json!({"lathe": {"memory_mb": 64}}), before, BODY);
    let tool = tool.with_file("lib/helper.ts", HELPER).published();
    let failed = |what: &str| tool.invoke(json!({"what": what})).failure();

    let check = failed("check");
    assert_eq!((check.kind.as_str(), check.message.as_str()), ("TooMany", "no more than 2, not 3"));
    assert_eq!(check.trace[0], "TooMany: no more than 2, not 3");
    for expected in
        ["    at check (lib/helper.ts:10:", "    at check (index.ts:5:", "    at async runTool (index.ts:21:"]
    {
        assert!(check.trace.iter().any(|line| line.starts_with(expected)), "{expected} in {:?}", check.trace);
    }
    assert!(check.trace.iter().any(|line| line == "Caused by: Error: the shelf is small"), "{:?}", check.trace);

    for (what, kind, message) in [
        ("never", "Deadlock", "the tool awaits something that can never happen"),
        ("timer", "Error", "late"),
        ("recursion", "InternalError", "too much recursion"),
        ("nothing", "NoResult", "runTool returns nothing: return a string or a JSON value on every path"),
        ("circle", "UnserialisableResult", "the result cannot be returned"),
        ("number", "UnserialisableResult", "the result cannot be returned"),
        ("text", "Error", "only text"),
        ("object", "Error", "{\"code\":7}"),
        ("nameless", "5", "m"),
        ("hostile", "Error", "the error has no readable message"),
        ("rejected", "TypeError", "rejected"),
        ("many", "AggregateError", "No Promise in Promise.any was resolved"),
        ("event", "TypeError", "sendStatusEvent: message must be a string"),
    ] {
        let said = failed(what);
        assert!(said.kind == kind && said.message.starts_with(message), "{what}: {said:?}");
        assert!(said.trace.len() < 10, "{what}: {said:?}");
    }
    let said = failed("memory");
    assert!(["Error", "InternalError", "RangeError", "limit_memory"].contains(&said.kind.as_str()), "{said:?}");
    assert_eq!(tool.invoke(json!({"what": "check"})).failure().trace, check.trace, "and the next run is a fresh one");
}
