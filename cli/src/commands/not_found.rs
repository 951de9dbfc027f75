//! Names what a 404 is about. The server's usual message does not name it.

use std::future::Future;

use registry::closest;
use serde_json::Value;

use crate::failure::Failure;

/// The server's message about everything that does not exist or belongs to another organisation.
const USUAL_DETAIL: &str = "Not found.";

/// A named thing that a command asks for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The kind of thing, such as `role`.
    pub kind: &'a str,
    pub name: &'a str,
    /// The command that lists the things.
    pub hint: &'a str,
}

/// Replaces a 404 without a message of its own by an error that names `what`.
pub fn name_missing<T>(answer: anyhow::Result<T>, what: &str, hint: &str) -> anyhow::Result<T> {
    answer.map_err(|error| {
        if is_usual(&error) { Failure::coded("not_found", format!("there is no {what}"), hint) } else { error }
    })
}

/// Like [`name_missing`]; the error also names the thing that was probably meant. `listed` returns all things, and `field` is the
/// field of their names.
pub async fn suggest_meant<T>(
    answer: anyhow::Result<T>,
    wanted: Wanted<'_>,
    listed: impl Future<Output = anyhow::Result<Vec<Value>>>,
    field: &str,
) -> anyhow::Result<T> {
    let Wanted { kind, name, hint } = wanted;
    let error = match answer {
        Err(error) if is_usual(&error) => error,
        other => return other,
    };
    // A user who may not see the list gets no suggestion.
    let listed = listed.await.unwrap_or_default();
    let meant = closest(name, listed.iter().filter_map(|thing| thing[field].as_str()));
    let hint = meant.map_or_else(|| hint.to_owned(), |meant| format!("did you mean `{meant}`? {hint}"));
    name_missing(Err(error), &format!("{kind} `{name}`"), &hint)
}

/// Adds the role that was probably meant to the refusal of a role that does not exist.
pub async fn suggest_role<T>(
    answer: anyhow::Result<T>,
    role: &str,
    listed: impl Future<Output = anyhow::Result<Vec<Value>>>,
) -> anyhow::Result<T> {
    let error = match answer {
        Err(error) if error.downcast_ref::<Failure>().is_some_and(|failure| failure.code() == "role_unknown") => error,
        other => return other,
    };
    let listed = listed.await.unwrap_or_default();
    Err(match closest(role, listed.iter().filter_map(|role| role["name"].as_str())) {
        Some(meant) => Failure::add_hint(error, format!("did you mean `{meant}`?")),
        None => error,
    })
}

fn is_usual(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<Failure>(), Some(Failure::Server { status: 404, detail, .. }) if detail == USUAL_DETAIL)
}
