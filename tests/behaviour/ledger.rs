//! The ledger of a run: resources that the host counted.

use serde_json::{Value, json};

use crate::harness::{Team, Tool};

const BODY: &str = "
    import os, time, urllib.request
    for _ in range(tool_input['clock']):
        time.time()
        time.monotonic()
    os.urandom(tool_input['random'])
    for number in range(tool_input['events']):
        await send_status_event(f'event {number}')
    for _ in range(tool_input['requests']):
        try:
            urllib.request.urlopen('http://127.0.0.1:1/')
        except OSError:
            pass
    for _ in range(tool_input['compute']):
        pass
    kept = bytearray(tool_input['memory'])
    print('x' * tool_input['print'])
    return 'é'
";

fn input(changes: &Value) -> Value {
    let mut input = json!({
        "clock": 0, "random": 0, "events": 0, "requests": 0, "compute": 0, "memory": 0, "print": 0,
    });
    for (name, value) in changes.as_object().expect("an object") {
        input[name] = value.clone();
    }
    input
}

fn ledger(team: &Team, tool: &Tool<'_>, changes: &Value) -> Value {
    let run = tool.invoke(input(changes));
    team.get(&format!("/tool/invocation/{}", run.id()))["ledger"].clone()
}

#[test]
fn the_ledger_counts_resources() {
    let team = Team::new();
    let tool =
        team.tool("does").body(BODY).manifest("required_envvars = ['REGION']\nrequired_secret_envvars = ['KEY']");
    tool.set_variables(&[("REGION", "north", false), ("KEY", "open sesame", true), ("OTHER", "x", true)]);
    let tool = tool.published();
    let quiet = ledger(&team, &tool, &json!({}));
    assert_eq!(quiet["granted"]["envvars"], json!(["REGION"]));
    assert_eq!(quiet["granted"]["secrets"], json!(["KEY"]));
    assert_eq!((&quiet["used"]["envvars"], &quiet["used"]["secrets"]), (&json!(["REGION"]), &json!(["KEY"])));
    assert!(
        quiet["granted"]["wall_ms"].as_u64() > Some(999) && quiet["granted"]["memory_bytes"].as_u64() > Some(1 << 20)
    );
    assert_eq!(quiet["refused"], json!({"http_requests": 0, "status_events": 0, "calls": 0}));
    assert_eq!((&quiet["used"]["status_events"], &quiet["used"]["output_bytes"]), (&json!(0), &json!(2)));

    let busy = json!({
        "clock": 50, "events": 3, "requests": 2, "compute": 5_000_000, "memory": 40_000_000, "print": 99,
    });
    let busy = ledger(&team, &tool, &busy);
    let count = |ledger: &Value, group: &str, name: &str| {
        ledger[group][name].as_u64().unwrap_or_else(|| panic!("{group}.{name}: {ledger}"))
    };
    let more = |group: &str, name: &str| count(&busy, group, name) - count(&quiet, group, name);
    assert!(more("used", "clock_reads") >= 100, "{busy}");
    let lucky = ledger(&team, &tool, &json!({"random": 1000}));
    assert_eq!(count(&lucky, "used", "random_bytes") - count(&quiet, "used", "random_bytes"), 1000);
    assert_eq!(more("used", "status_events"), 3);
    assert_eq!(more("used", "log_bytes"), 99);
    assert_eq!(more("refused", "http_requests"), 2);
    // Far more work than an empty run does, on any machine.
    assert!(count(&busy, "cost", "cpu_ms") > 2 * count(&quiet, "cost", "cpu_ms"), "{quiet} {busy}");
    assert!((38_000_000..60_000_000).contains(&more("cost", "memory_peak_bytes")), "{busy}");

    let flood = ledger(&team, &tool, &json!({"events": 150}));
    assert_eq!((&flood["used"]["status_events"], &flood["refused"]["status_events"]), (&json!(100), &json!(50)));
    let shown = team.lathe().ok(&["history", "show", team.history()[0]["id"].as_str().expect("an id")]);
    for part in [
        "granted   variables: REGION; secrets: KEY;",
        "used      variables: REGION; secrets: KEY;",
        "100 status events",
        "refused   0 HTTP requests, 50",
        "cost ",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("sesame"), "{shown}");
}

const TIMES: &str = "
    import asyncio, os
    for _ in range(tool_input['random']):
        os.urandom(60_000)
    total = 0
    for number in range(tool_input['compute']):
        total += number % 7
    await asyncio.sleep(tool_input['sleep'])
";

/// Each tool makes one part far longer than the other two. The parts are compared within a run, since the speed of a
/// machine affects all of them.
#[test]
fn the_time_of_a_run_has_three_parts() {
    let team = Team::new();
    let tool = team.tool("takes_time").body(&format!("{TIMES}    return 'ok'")).manifest("timeout_seconds = 300");
    let tool = tool.published();
    let parts = |random: u64, compute: u64, sleep: f64| {
        let run = tool.invoke(json!({"random": random, "compute": compute, "sleep": sleep}));
        let cost = team.get(&format!("/tool/invocation/{}", run.id()))["ledger"]["cost"].clone();
        let part = |name: &str| cost[name].as_u64().unwrap_or_else(|| panic!("{name}: {cost}"));
        let parts = [part("guest_us"), part("host_us"), part("waiting_us")];
        let sum_ms = parts.iter().sum::<u64>() / 1_000;
        assert!(run.duration_ms().abs_diff(sum_ms) <= 1, "{run}: {cost}");
        parts
    };
    let [_, _, slept] = parts(0, 0, 0.4);
    assert!(slept >= 390_000, "{slept} µs");
    let share = |[guest, host, _]: [u64; 3]| host as f64 / (guest + host) as f64;
    let (computed, called) = (parts(0, 10_000_000, 0.0), parts(1_000, 0, 0.0));
    let [computed, called] = [computed, called].map(|parts| (share(parts), parts));
    assert!(called.0 > 2.0 * computed.0, "of the host, µs: {called:?} when it is asked much, {computed:?} otherwise");
    let shown = team.lathe().ok(&["history", "show", team.history()[0]["id"].as_str().expect("an id")]);
    assert!(shown.contains(" ms in the tool, ") && shown.contains(" ms in the host, "), "{shown}");
}

#[test]
fn a_run_that_fails_has_a_ledger_too() {
    let team = Team::new();
    let limits = "timeout_seconds = 300\nlimits = { cpu_seconds = 1 }";
    let tool = team.tool("fails").body("while True:\n    pass").manifest(limits).published();
    let run = tool.invoke(json!({}));
    let record = team.get(&format!("/tool/invocation/{}", run.id()));
    assert_eq!(record["invocation_status"]["exception_type"], "timeout_cpu");
    assert!(record["ledger"]["cost"]["cpu_ms"].as_u64() >= Some(1_000), "{record}");
    assert!(team.history()[0].get("ledger").is_none(), "lists have the contract's form");
}
