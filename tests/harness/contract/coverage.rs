//! Coverage of the contract: parameters in successful requests, and statuses of responses.
//!
//! Tests run concurrently and in any selection, so coverage is not summed over them. One test sends all requests on
//! its own thread, and only requests of that thread count.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::Value;

use super::Sent;
use super::document::{ContractOperation, operations};

thread_local! {
    static NOTED: RefCell<Option<Coverage>> = const { RefCell::new(None) };
}

/// Covered parameters and statuses by operation name.
#[derive(Default)]
pub struct Coverage(BTreeMap<&'static str, Seen>);

#[derive(Default)]
struct Seen {
    parameters: BTreeSet<String>,
    statuses: BTreeSet<u16>,
}

/// Returns the coverage of the requests that this thread sends during `walk`.
pub fn recorded(walk: impl FnOnce()) -> Coverage {
    NOTED.set(Some(Coverage::default()));
    walk();
    NOTED.take().expect("nobody took it away")
}

pub fn note(operation: &'static ContractOperation, sent: &Sent, status: u16) {
    NOTED.with_borrow_mut(|noted| {
        let Some(Coverage(coverage)) = noted else { return };
        let seen = coverage.entry(operation.name.as_str()).or_default();
        seen.statuses.insert(status);
        if (200..300).contains(&status) {
            seen.parameters.extend(parameters_sent(operation, sent));
        }
    });
}

impl Coverage {
    /// Returns the parameters and statuses that did not occur, by operation name.
    pub fn missing(&self) -> BTreeSet<String> {
        let mut missing = BTreeSet::new();
        for operation in operations() {
            let (parameters, statuses) = self.unseen(operation);
            missing.extend(parameters.into_iter().map(|parameter| format!("{}: {parameter}", operation.name)));
            missing.extend(statuses.into_iter().map(|status| format!("{}: {status}", operation.name)));
        }
        missing
    }

    /// Formats one line per operation.
    pub fn table(&self) -> String {
        let mut table = String::from("what was seen of the contract:\n");
        let (mut all, mut unseen) = ([0, 0], [0, 0]);
        for operation in operations() {
            let (parameters, statuses) = self.unseen(operation);
            let sizes = [operation.parameters.len(), operation.statuses.len()];
            let missing = [parameters.len(), statuses.len()];
            all = [0, 1].map(|index| all[index] + sizes[index]);
            unseen = [0, 1].map(|index| unseen[index] + missing[index]);
            let open: Vec<String> = parameters.into_iter().chain(statuses.iter().map(u16::to_string)).collect();
            table.push_str(&line(&operation.name.replace("/v1/{organization}/tool", ""), sizes, missing, &open));
        }
        table.push_str(&line("all operations", all, unseen, &[]));
        table
    }

    fn unseen(&self, operation: &ContractOperation) -> (BTreeSet<String>, BTreeSet<u16>) {
        let nothing = Seen::default();
        let seen = self.0.get(operation.name.as_str()).unwrap_or(&nothing);
        let parameters = operation.parameters.difference(&seen.parameters).cloned().collect();
        (parameters, operation.statuses.difference(&seen.statuses).copied().collect())
    }
}

/// Formats the covered and missing parameters and statuses of an operation.
fn line(name: &str, all: [usize; 2], unseen: [usize; 2], open: &[String]) -> String {
    let [parameters, statuses] = [0, 1].map(|index| format!("{}/{}", all[index] - unseen[index], all[index]));
    let mut line = format!("{name:<42} parameters {parameters:>7}  statuses {statuses:>7}");
    if !open.is_empty() {
        write!(line, "  not seen: {}", open.join(", ")).expect("a string");
    }
    line + "\n"
}

/// Returns the parameters of a request.
fn parameters_sent(operation: &ContractOperation, sent: &Sent) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = operation.parameters.iter().filter(|name| is_in_path(name)).cloned().collect();
    let slash = if sent.path.ends_with('/') { "with" } else { "without" };
    found.insert(format!("path {slash} a slash at its end"));
    for (name, value) in &sent.query {
        found.extend([format!("query {name}"), format!("query {name}={value}")]);
        let times = sent.query.iter().filter(|(other, _)| other == name).count();
        found.extend((times > 1).then(|| format!("query {name} twice")));
    }
    for name in &sent.headers {
        found.insert(format!("header {name}"));
        let times = sent.headers.iter().filter(|other| *other == name).count();
        found.extend((times > 1).then(|| format!("header {name} twice")));
    }
    if let Some(body) = &sent.body {
        fields("body", body, &mut found);
    }
    found.intersection(&operation.parameters).cloned().collect()
}

fn is_in_path(parameter: &str) -> bool {
    parameter.starts_with("path ") && !parameter.contains("slash")
}

fn fields(place: &str, value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            let separator = if place == "body" { " " } else { "." };
            for (name, value) in map {
                let place = format!("{place}{separator}{name}");
                fields(&place, value, found);
                found.insert(place);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| fields(&format!("{place}[]"), item, found)),
        Value::String(text) => drop(found.insert(format!("{place}={text}"))),
        _ => {}
    }
}
