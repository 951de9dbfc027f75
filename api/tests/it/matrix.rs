//! Every route of the table, with every method, in every form in which somebody may come: whose credentials, whose
//! organisation, whose object, and how the path is written. What must hold of each cell is in [`rules`].
//!
//! The dimensions come from `routes()`, so that a new route is in the matrix by itself.

mod cells;
mod paths;
mod rules;
mod world;

use std::io::Write;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use tokio::time::Instant;
use tower::ServiceExt;

use cells::{Cell, Credential, Seen};
use paths::PathForm;
use world::World;

/// What the document of this suite promises.
const CELLS_MIN: usize = 50_000;
/// Cells in flight; more than there are cores, so that a write does not hold the others up.
const TASKS: usize = 4;

/// Methods in the order in which they are tried: what changes nothing, then what changes something, then what deletes.
const PHASES: [&[&str]; 3] = [&["GET", "HEAD", "OPTIONS", "PUT", "PATCH"], &["POST"], &["DELETE"]];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_gets_further_than_they_may() {
    let started = Instant::now();
    let world = Arc::new(World::new().await);
    let mut cells = 0;
    for methods in PHASES {
        let forms = Arc::new(paths::forms());
        let tasks = (0..TASKS).map(|task| {
            let (world, forms) = (world.clone(), forms.clone());
            tokio::spawn(async move {
                let mut cells = 0;
                for form in forms.iter().skip(task).step_by(TASKS) {
                    cells += check(&world, form, methods).await;
                }
                cells
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            cells += task.await.unwrap();
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    // Not by a macro, whose output would be kept back.
    writeln!(std::io::stderr(), "authorisation matrix: {cells} cells in {seconds:.1} s").unwrap();
    assert!(cells >= CELLS_MIN, "only {cells} cells");
}

/// Tries all methods of a phase on a path; HEAD is compared with the GET before it, cell by cell.
async fn check(world: &World, form: &PathForm, methods: &[&'static str]) -> usize {
    let mut count = 0;
    let mut got = Vec::new();
    for method in methods {
        let seen = answers(world, form, method).await;
        count += seen.len();
        if *method == "HEAD" {
            rules::head_follows_get(form, &got, &seen);
        } else {
            rules::check(world, form, method, &seen);
        }
        if *method == "GET" {
            got = seen;
        }
    }
    count
}

async fn answers(world: &World, form: &PathForm, method: &'static str) -> Vec<(Cell, Seen)> {
    let mut seen = Vec::new();
    for credential in Credential::ALL {
        for organization in form.organizations() {
            for id in form.ids() {
                let cell = Cell { credential: *credential, organization, id: *id };
                let request = request(world, form, method, &cell);
                seen.push((cell, send(&world.router, request).await));
            }
        }
    }
    seen
}

fn request(world: &World, form: &PathForm, method: &str, cell: &Cell) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(form.uri(world, cell));
    for (name, value) in world.headers(cell.credential) {
        request = request.header(name, value);
    }
    let body = if method == "POST" { form.body() } else { String::new() };
    request.header("content-type", "application/json").body(body.into()).unwrap()
}

pub async fn send(router: &Router, request: Request<Body>) -> Seen {
    let (parts, body) = router.clone().oneshot(request).await.unwrap().into_parts();
    let mut headers = parts.headers;
    assert!(headers.remove("x-request-id").is_some(), "an answer without a request id");
    let mut headers: Vec<_> = headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    headers.sort_by(|(one, _), (other, _)| one.as_str().cmp(other.as_str()));
    Seen { status: parts.status.as_u16(), headers, body: body.collect().await.unwrap().to_bytes() }
}
