//! Every route with every method, credentials, organisation, object and form of the path. [`rules`] has the rules for
//! the responses.
//!
//! The routes come from `list_routes()`, so that new ones are included.

mod cells;
mod owners;
mod paths;
mod rules;
mod world;

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use tokio::time::{Instant, sleep};
use tower::ServiceExt;

use cells::{Cell, Credential, Seen};
use paths::PathForm;
use world::World;

/// Least number of requests in the matrix.
const CELLS_MIN: usize = 50_000;
/// Requests in flight: more than there are cores, so that a write does not delay the others.
const TASKS: usize = 4;
const REPETITIONS_MAX: u32 = 10;

/// Methods in order: first those that change nothing, then those that change something, then deletions.
const PHASES: [&[&str]; 3] = [&["GET", "HEAD", "OPTIONS"], &["PUT", "PATCH", "POST"], &["DELETE"]];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_enforces_its_permissions() {
    let started = Instant::now();
    let world = Arc::new(World::new().await);
    let mut cells = 0;
    // Routes of the Library record runs, which lists of the history have: between a GET and its HEAD nothing is recorded.
    for (methods, is_of_user) in PHASES.into_iter().flat_map(|methods| [(methods, true), (methods, false)]) {
        let forms = Arc::new(
            paths::list_forms().into_iter().filter(|form| form.is_of_user() == is_of_user).collect::<Vec<_>>(),
        );
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
    // Written directly, since the harness captures the output of macros.
    writeln!(std::io::stderr(), "authorisation matrix: {cells} cells in {seconds:.1} s").unwrap();
    assert!(cells >= CELLS_MIN, "only {cells} cells");
}

/// Tries all methods of a phase on a path. Each HEAD response is compared with the GET response before it.
async fn check(world: &World, form: &PathForm, methods: &[&'static str]) -> usize {
    let mut count = 0;
    let mut got = Vec::new();
    for method in methods {
        let seen = collect_answers(world, form, method).await;
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

async fn collect_answers(world: &World, form: &PathForm, method: &'static str) -> Vec<(Cell, Seen)> {
    let mut seen = Vec::new();
    for credential in Credential::ALL {
        for organization in form.organizations(*credential) {
            for id in form.ids() {
                let cell = Cell { credential: *credential, organization, id: *id };
                let request = build_request(world, form, method, &cell);
                seen.push((cell, send(&world.router, &request).await));
            }
        }
    }
    seen
}

fn build_request(world: &World, form: &PathForm, method: &str, cell: &Cell) -> Request<String> {
    let mut request = Request::builder().method(method).uri(form.build_uri(world, cell));
    for (name, value) in world.build_headers(cell.credential) {
        request = request.header(name, value);
    }
    let body = if method == "POST" { form.build_body() } else { String::new() };
    request.header("content-type", "application/json").body(body).unwrap()
}

/// Sends a request, and repeats it while the server says that it is busy: on a machine that stalls, lists reach their time limit.
pub async fn send(router: &Router, request: &Request<String>) -> Seen {
    let mut seen = try_send(router, request).await;
    for _ in 0..REPETITIONS_MAX {
        if !seen.is_busy() {
            break;
        }
        eprintln!("{} {}: {seen:?}", request.method(), request.uri());
        sleep(Duration::from_secs(2)).await;
        seen = try_send(router, request).await;
    }
    seen
}

async fn try_send(router: &Router, request: &Request<String>) -> Seen {
    let response = router.clone().oneshot(request.clone().map(Body::from)).await.unwrap();
    let (parts, body) = response.into_parts();
    let mut headers = parts.headers;
    assert!(headers.remove("x-request-id").is_some(), "an answer without a request id");
    let mut headers: Vec<_> = headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    headers.sort_by(|(one, _), (other, _)| one.as_str().cmp(other.as_str()));
    Seen { status: parts.status.as_u16(), headers, body: body.collect().await.unwrap().to_bytes() }
}
