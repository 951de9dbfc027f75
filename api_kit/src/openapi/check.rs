//! Checks of the descriptions of routes. A failed check stops the start-up.

use std::collections::HashSet;

use super::{OperationDoc, RouteDoc};

/// Returns the first problem of the descriptions of a table: method, path and problem.
pub fn find_problem(table: &[RouteDoc]) -> Option<(&'static str, &'static str, String)> {
    let mut ids = HashSet::new();
    table.iter().find_map(|route| {
        let found = find_route_problem(route).or_else(|| {
            let id = route.operation?.id;
            (!ids.insert(id)).then(|| format!("another operation has the id {id}"))
        });
        found.map(|what| (route.method, route.path, what))
    })
}

fn find_route_problem(route: &RouteDoc) -> Option<String> {
    let Some(operation) = route.operation else { return Some(describe_missing(route)) };
    find_text_problem(operation).or_else(|| find_path_problem(route, operation))
}

/// The text to write, and where.
fn describe_missing(route: &RouteDoc) -> String {
    format!(
        "it has no description. Beside its handler, write\n\n    pub fn operation() -> OperationDoc {{\n        \
        OperationDoc::new(\"{}\", Tag::…, \"A title\").description(\"What it does.\").returns::<Response>({}, \"What comes \
        back.\", json!({{…}}))\n    }}\n\nand append `.described(module::operation)` to its line in \
        api/src/router.rs; api/src/routes/tools/create.rs shows how",
        suggest_id(route),
        if route.method == "POST" { 201 } else { 200 },
    )
}

/// Suggests an operation id: a verb for the method, and the last fixed part of the path.
fn suggest_id(route: &RouteDoc) -> String {
    let noun = route.path.split('/').rfind(|part| !part.is_empty() && !part.starts_with('{')).unwrap_or("thing");
    let verb = match route.method {
        "GET" => "get",
        "DELETE" => "delete",
        _ => "create",
    };
    format!("{verb}-{}", noun.replace('_', "-"))
}

fn find_text_problem(operation: &OperationDoc) -> Option<String> {
    if operation.summary.is_empty() || operation.summary.ends_with('.') {
        return Some("its summary should be a title, without a full stop".into());
    }
    if !operation.description.ends_with('.') {
        return Some("its description should be sentences: .description(\"…\")".into());
    }
    if operation.successes.is_empty() {
        return Some(
            "no success is described: .returns::<Response>(…), .returns_nothing(…) or .returns_bytes(…)".into(),
        );
    }
    None
}

/// The handler takes the parameters in the braces of the path, except `organization`.
fn find_path_problem(route: &RouteDoc, operation: &OperationDoc) -> Option<String> {
    let all = || route.inputs.parameters.iter().chain(&operation.parameters);
    if let Some(undescribed) = all().find(|parameter| !parameter.is_described()) {
        return Some(format!("its parameter {} has no description", undescribed.name));
    }
    let taken: HashSet<&str> = all().filter(|parameter| parameter.location == "path").map(|one| &*one.name).collect();
    let braces = find_braced_names(route.path).filter(|name| *name != "organization").collect::<HashSet<_>>();
    let odd = taken.symmetric_difference(&braces).next()?;
    Some(format!("{odd} is not both in its path and among the parameters of its handler (or .parameter(…))"))
}

/// The names of the parameters in a path.
pub(super) fn find_braced_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| Some(part.strip_prefix('{')?.strip_suffix('}')?.trim_start_matches('*')))
}
