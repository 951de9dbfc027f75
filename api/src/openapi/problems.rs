//! What can be missing or wrong in the description of a route; one of these stops the start-up.

use std::collections::HashSet;

use super::operation::Operation;
use crate::router::Route;

/// The first thing that is wrong with the descriptions of a table, as (method, path, what).
pub(crate) fn problem(table: &[Route]) -> Option<(&'static str, &'static str, String)> {
    let mut ids = HashSet::new();
    table.iter().find_map(|route| {
        let found = of_route(route).or_else(|| {
            let id = route.operation.as_ref()?.id;
            (!ids.insert(id)).then(|| format!("another operation has the id {id}"))
        });
        found.map(|what| (route.method, route.path, what))
    })
}

fn of_route(route: &Route) -> Option<String> {
    let Some(operation) = &route.operation else { return Some(missing(route)) };
    of_words(operation).or_else(|| of_path(route, operation))
}

/// Says what to write, and where.
fn missing(route: &Route) -> String {
    format!(
        "it has no description. Beside its handler, write\n\n    pub(crate) fn operation() -> Operation {{\n        \
        Operation::new(\"{}\", Tag::…, \"A title\").says(\"What it does.\").answers::<Response>({}, \"What comes \
        back.\", json!({{…}}))\n    }}\n\nand append `.described(module::operation)` to its line in \
        api/src/router.rs; api/src/routes/tools/create.rs shows how",
        suggested_id(route),
        if route.method == "POST" { 201 } else { 200 },
    )
}

/// The verb and the last word of the path.
fn suggested_id(route: &Route) -> String {
    let noun = route.path.split('/').rfind(|part| !part.is_empty() && !part.starts_with('{')).unwrap_or("thing");
    let verb = match route.method {
        "GET" => "get",
        "DELETE" => "delete",
        _ => "create",
    };
    format!("{verb}-{}", noun.replace('_', "-"))
}

fn of_words(operation: &Operation) -> Option<String> {
    if operation.summary.is_empty() || operation.summary.ends_with('.') {
        return Some("its summary should be a title, without a full stop".into());
    }
    if !operation.description.ends_with('.') {
        return Some("its description should be sentences: .says(\"…\")".into());
    }
    if operation.answers.is_empty() {
        return Some(
            "no success is described: .answers::<Response>(…), .answers_nothing(…) or .answers_bytes(…)".into(),
        );
    }
    None
}

/// The parameters in the path's braces are those that the handler takes, `organization` apart.
fn of_path(route: &Route, operation: &Operation) -> Option<String> {
    let all = || route.inputs.parameters.iter().chain(&operation.parameters);
    if let Some(silent) = all().find(|parameter| !parameter.has_words()) {
        return Some(format!("nothing is said about its parameter {}", silent.name));
    }
    let taken: HashSet<&str> = all().filter(|parameter| parameter.place == "path").map(|one| one.name).collect();
    let braces = in_braces(route.path).filter(|name| *name != "organization").collect::<HashSet<_>>();
    let odd = taken.symmetric_difference(&braces).next()?;
    Some(format!("{odd} is not both in its path and among the parameters of its handler (or .reads(…))"))
}

/// The names of the parameters in a path.
pub(super) fn in_braces(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| Some(part.strip_prefix('{')?.strip_suffix('}')?.trim_start_matches('*')))
}
