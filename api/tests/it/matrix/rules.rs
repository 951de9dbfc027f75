//! The rules for the responses to one path and one method.

use super::cells::{Cell, Id, Seen, Standing};
use super::owners::is_of_one_user;
use super::paths::PathForm;
use super::world::World;
use registry::Permission;

/// Checks all methods except HEAD.
pub fn check(world: &World, form: &PathForm, method: &str, seen: &[(Cell, Seen)]) {
    let place = |cell: &Cell| format!("{method} {}: {cell:?}", form.build_uri(world, cell));
    for (cell, answer) in seen {
        assert!(answer.status < 500, "{} gives {answer:?}", place(cell));
    }
    let permission = form.permission(method);
    if permission == Some(None) && form.encoding.is_faithful() {
        return public_answers_tell_nothing_of_the_caller(seen, &place);
    }
    let refused = nobody_gets_one_answer(seen, &place);
    if permission.is_some() && form.encoding.is_faithful() {
        assert_eq!(refused.status, 401, "{method} {}", form.template);
    }
    if refused.status != 401 {
        // The route does not exist. The response is the same for every caller, and does not depend on organisations
        // and objects.
        assert!(matches!(refused.status, 404 | 405), "{method} {form:?}: {refused:?}");
        for (cell, answer) in seen {
            assert_eq!(answer, refused, "{}", place(cell));
        }
        return;
    }
    for (cell, answer) in seen.iter().filter(|(cell, _)| cell.find_standing() == Standing::Stranger) {
        if form.is_of_user() {
            assert_eq!(answer.status, 403, "{}", place(cell));
        } else {
            assert_eq!(answer, world.not_found(form.template), "{}", place(cell));
        }
    }
    colleagues_do_not_see_what_is_anothers(form, method, seen, &place);
    administrators_see_their_own(world, form, method, seen, &place);
    if method == "GET" {
        forms_of_credentials_are_equal(seen, &place);
    }
}

/// HEAD has the status and the headers of GET, and no body.
pub fn head_follows_get(form: &PathForm, got: &[(Cell, Seen)], seen: &[(Cell, Seen)]) {
    assert_eq!(got.len(), seen.len());
    for ((cell, get), (_, head)) in got.iter().zip(seen) {
        let follows = head.status == get.status && head.headers == get.headers && head.body.is_empty();
        assert!(follows, "{form:?} {cell:?}: GET {get:?}, HEAD {head:?}");
    }
}

/// Callers without valid credentials get one response for all organisations and all objects.
fn nobody_gets_one_answer<'a>(seen: &'a [(Cell, Seen)], place: &dyn Fn(&Cell) -> String) -> &'a Seen {
    let mut nobody = seen.iter().filter(|(cell, _)| cell.find_standing() == Standing::Nobody);
    let (_, first) = nobody.next().unwrap();
    for (cell, answer) in nobody {
        assert_eq!(answer, first, "{}", place(cell));
    }
    first
}

/// What belongs to one user looks to a colleague like an object that does not exist. Other objects need a permission.
fn colleagues_do_not_see_what_is_anothers(
    form: &PathForm,
    method: &str,
    seen: &[(Cell, Seen)],
    place: &dyn Fn(&Cell) -> String,
) {
    let colleague = || seen.iter().filter(|(cell, _)| cell.find_standing() == Standing::Colleague);
    let needs_administrator = form.permission(method) == Some(Some(Permission::Administer));
    for (cell, answer) in colleague() {
        if !cell.is_theirs() || !form.encoding.is_faithful() {
            continue;
        }
        assert_eq!(answer.status == 403, needs_administrator, "{}: {answer:?}", place(cell));
        if !is_of_one_user(form.template) {
            continue;
        }
        let is_unknown = |other: &Cell| other.organization == cell.organization && other.id == Id::Unknown;
        let (_, unknown) = colleague().find(|(other, _)| is_unknown(other)).unwrap();
        assert_eq!(answer.status, 404, "{}: {answer:?}", place(cell));
        assert_eq!(answer, unknown, "{}", place(cell));
    }
}

/// Administrators reach their own organisation's objects. Objects of others look like objects that do not exist.
fn administrators_see_their_own(
    world: &World,
    form: &PathForm,
    method: &str,
    seen: &[(Cell, Seen)],
    place: &dyn Fn(&Cell) -> String,
) {
    let mut absent = None;
    for (cell, answer) in seen.iter().filter(|(cell, _)| cell.find_standing() == Standing::Administrator) {
        assert!(!matches!(answer.status, 401 | 403 | 405), "{} gives {answer:?}", place(cell));
        if !form.names_object() || !form.encoding.is_faithful() {
            continue;
        }
        // A PUT creates what is absent.
        if form.is_absent(cell) && form.is_of_user() && method != "PUT" {
            assert_eq!(answer.status, 404, "{}: {answer:?}", place(cell));
            let first: &mut &Seen = absent.get_or_insert(answer);
            assert_eq!(answer, *first, "{}", place(cell));
        } else if form.is_absent(cell) && !form.is_of_user() {
            assert_eq!(answer, world.not_found(form.template), "{}", place(cell));
        }
        // Nothing is deleted before the reads, so that existing objects are found.
        if method == "GET" && cell.is_theirs() && form.is_there() {
            // The requests here name no host, which MCP asks for.
            let found = if form.template.contains("/mcp/") { 400 } else { 200 };
            assert_eq!(answer.status, found, "{}", place(cell));
        }
    }
}

/// Bearer, Basic and a named organisation give the same access.
fn forms_of_credentials_are_equal(seen: &[(Cell, Seen)], place: &dyn Fn(&Cell) -> String) {
    let own = || seen.iter().filter(|(cell, _)| cell.find_standing() == Standing::Administrator);
    for (cell, answer) in own() {
        let same = |other: &Cell| (other.organization, other.id) == (cell.organization, cell.id);
        for (other, other_answer) in own().filter(|(other, _)| same(other)) {
            assert_eq!(answer, other_answer, "{} and {other:?}", place(cell));
        }
    }
}

/// Public routes ignore credentials.
fn public_answers_tell_nothing_of_the_caller(seen: &[(Cell, Seen)], place: &dyn Fn(&Cell) -> String) {
    for (cell, answer) in seen {
        let same = |other: &Cell| (other.organization, other.id) == (cell.organization, cell.id);
        let (_, first) = seen.iter().find(|(other, _)| same(other)).unwrap();
        assert_eq!(answer, first, "{}", place(cell));
    }
}
