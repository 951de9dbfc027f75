//! The ledger of a run, as text.

use registry::{CallUse, Cost, Denied, Granted, HttpUse, Ledger, Used};

/// The text of an empty list of names.
const NONE: &str = "none";

pub fn render_lines(ledger: &Ledger) -> Vec<String> {
    let Ledger { granted, used, refused, cost } = ledger;
    let mut lines = vec![render_granted(granted), render_used(used)];
    lines.extend(used.http.iter().map(render_http_line));
    lines.extend(used.calls.iter().map(render_call_line));
    lines.extend(render_refused(refused));
    lines.push(render_cost_line(cost));
    lines.extend(render_time_line(cost));
    lines
}

fn join_names(names: &[String]) -> String {
    if names.is_empty() { NONE.to_owned() } else { names.join(" ") }
}

fn render_granted(granted: &Granted) -> String {
    let Granted { envvars, secrets, host_secrets, wall_ms, cpu_ms, memory_bytes } = granted;
    let (envvars, secrets) = (join_names(envvars), join_names(secrets));
    let host_secrets = if host_secrets.is_empty() {
        String::new()
    } else {
        format!("secrets of the host: {}; ", host_secrets.join(" "))
    };
    format!(
        "granted   variables: {envvars}; secrets: {secrets}; {host_secrets}{wall_ms} ms, {cpu_ms} ms computing, {}",
        render_mebibytes(*memory_bytes)
    )
}

fn render_used(used: &Used) -> String {
    let Used { envvars, secrets, clock_reads, random_bytes, status_events, log_bytes, output_bytes, .. } = used;
    let (envvars, secrets) = (join_names(envvars), join_names(secrets));
    format!(
        "used      variables: {envvars}; secrets: {secrets}; {clock_reads} clock reads, {random_bytes} random bytes, {status_events} status events, \
         {log_bytes} bytes printed, {output_bytes} bytes of output"
    )
}

/// `http      GET api.example.com 200, 0 bytes sent, 512 received, 31 ms, secrets API_KEY`
fn render_http_line(one: &HttpUse) -> String {
    let HttpUse {
        method,
        host,
        status,
        error,
        is_refused: _,
        answered_by,
        sent_bytes,
        received_bytes,
        duration_ms,
        secrets,
    } = one;
    let status = status.map(|status| status.to_string());
    let by = match answered_by.as_deref() {
        None | Some("network") => String::new(),
        Some("recorded") => " from a recorded answer".to_owned(),
        Some(by) => format!(" from a {by}"),
    };
    let end = status.or_else(|| error.clone()).unwrap_or_default();
    let secrets = if secrets.is_empty() { String::new() } else { format!(", secrets {}", secrets.join(" ")) };
    format!(
        "http      {method} {host} {end}{by}, {sent_bytes} bytes sent, {received_bytes} received, {duration_ms} ms{secrets}"
    )
}

/// `call      weather 1.2.0 as 6ab1…, 31 ms; 2 runs, 9 ms computing, 1 HTTP requests in all`
fn render_call_line(one: &CallUse) -> String {
    let CallUse { tool, version, invocation_id, error, is_refused: _, duration_ms, total } = one;
    let version = version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let run = invocation_id.as_ref().map(|run| format!(" as {run}")).unwrap_or_default();
    let end = error.as_ref().map(|error| format!(" {error}")).unwrap_or_default();
    let all = match total.runs {
        0 => String::new(),
        runs => format!("; {runs} runs, {} ms computing, {} HTTP requests in all", total.cpu_ms, total.http_requests),
    };
    format!("call      {tool}{version}{end}{run}, {duration_ms} ms{all}")
}

fn render_refused(refused: &Denied) -> Option<String> {
    let Denied { http_requests, status_events, calls } = refused;
    let is_any = *http_requests + *status_events + *calls > 0;
    let calls = if *calls > 0 { format!(", {calls} calls") } else { String::new() };
    is_any.then(|| format!("refused   {http_requests} HTTP requests, {status_events} status events{calls}"))
}

fn render_cost_line(cost: &Cost) -> String {
    format!("cost      {} ms computing, {} at most", cost.cpu_ms, render_mebibytes(cost.memory_peak_bytes))
}

/// The run's time by part. `None` for a run that has no cost, because its runner died or a user cancelled it.
fn render_time_line(Cost { guest_us, host_us, waiting_us, .. }: &Cost) -> Option<String> {
    let [guest, host, waiting] = [guest_us, host_us, waiting_us].map(|part| render_milliseconds(*part));
    let is_known = guest_us + host_us + waiting_us > 0;
    is_known.then(|| format!("time      {guest} in the tool, {host} in the host, {waiting} waiting"))
}

fn render_milliseconds(microseconds: u64) -> String {
    format!("{}.{:03} ms", microseconds / 1_000, microseconds % 1_000)
}

fn render_mebibytes(bytes: u64) -> String {
    let tenths = bytes.saturating_mul(10) >> 20;
    format!("{}.{} MiB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use registry::TreeUse;

    use super::*;

    #[test]
    fn a_request_shows_the_source_of_its_response() {
        let line = |by: Option<&str>| {
            let (method, host) = ("POST".to_owned(), "api.example.com".to_owned());
            render_http_line(&HttpUse {
                method,
                host,
                status: Some(201),
                answered_by: by.map(str::to_owned),
                ..HttpUse::default()
            })
        };
        for (by, said) in [
            (None, "201, "),
            (Some("network"), "201, "),
            (Some("mock"), "201 from a mock, "),
            (Some("recorded"), "201 from a recorded answer, "),
        ] {
            let expected = format!("http      POST api.example.com {said}0 bytes sent, 0 received, 0 ms");
            assert_eq!(line(by), expected);
        }
    }

    #[test]
    fn a_call_shows_its_run_or_the_reason_for_none() {
        let total = TreeUse { runs: 2, cpu_ms: 9, http_requests: 1, http_bytes: 7 };
        let refused = CallUse { tool: "weather".into(), error: Some("undeclared".into()), ..CallUse::default() };
        assert_eq!(render_call_line(&refused), "call      weather undeclared, 0 ms");
        let version = Some("1.2.0".to_owned());
        let ended = CallUse { error: None, version, duration_ms: 31, total, ..refused };
        let expected = "call      weather 1.2.0, 31 ms; 2 runs, 9 ms computing, 1 HTTP requests in all";
        assert_eq!(render_call_line(&ended), expected);
    }

    #[test]
    fn a_ledger_is_a_few_lines() {
        let ledger = Ledger {
            granted: Granted { secrets: vec!["A".into(), "B".into()], wall_ms: 30_000, ..Granted::default() },
            refused: Denied { http_requests: 2, ..Denied::default() },
            cost: Cost { cpu_ms: 3, guest_us: 2_050, host_us: 7, waiting_us: 30_000, memory_peak_bytes: 23_592_960 },
            ..Ledger::default()
        };
        let lines = render_lines(&ledger);
        assert_eq!(lines[0], "granted   variables: none; secrets: A B; 30000 ms, 0 ms computing, 0.0 MiB");
        assert_eq!(lines[2], "refused   2 HTTP requests, 0 status events");
        assert_eq!(lines[3], "cost      3 ms computing, 22.5 MiB at most");
        assert_eq!(lines[4], "time      2.050 ms in the tool, 0.007 ms in the host, 30.000 ms waiting");
        assert_eq!(self::render_lines(&Ledger::default()).len(), 3);
    }
}
