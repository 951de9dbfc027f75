//! `GET` and `POST /v1/{organization}/tool/git/tools.git/…`: the organisation's repository for git clients.
//!
//! Bodies stream both ways; their bounds and the processes behind them are [`GitServer`]'s.
//!
//! [`GitServer`]: builder::source::GitServer

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::Response;
use builder::source::{GitRequest, GitResponse, Repositories};
use futures_util::TryStreamExt;
use registry::{OrganizationId, Principal};
use tokio_util::io::{ReaderStream, StreamReader};

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::Problem;
use crate::openapi::{Operation, Parameter, Tag, form};

/// Where in the path the repository ends and git's own part begins.
const REPOSITORY: &str = "/tool/git/tools.git/";

/// One read of git's answer.
const BUFFER_BYTES: usize = 64 * 1024;

/// `git` itself reads this interface; the document shows which requests it makes.
pub(crate) fn read_operation() -> Operation {
    let services = form::one_of(&[("git-upload-pack", ()), ("git-receive-pack", ())]);
    of_git(Operation::new("access-git-interface", Tag::Source, "Begin a fetch or a push"))
        .says(
            "Git's smart HTTP, with protocol version 2: `git clone {server}/v1/{organization}/tool/git/tools.git`. \
            This request is `tools.git/info/refs?service=…`, with which git begins. The first one comes without \
            credentials, and git asks its user for them when told of Basic.",
        )
        .reads(Parameter::query("service", "What git is about to do.", services))
        .answers_bytes(
            200,
            "What git sends, in its own format.",
            &["application/x-git-upload-pack-advertisement", "application/x-git-receive-pack-advertisement"],
        )
}

pub(crate) fn write_operation() -> Operation {
    of_git(Operation::new("post-git-interface", Tag::Source, "Fetch or push"))
        .says(
            "The second half of git's smart HTTP: `tools.git/git-upload-pack` fetches, `tools.git/git-receive-pack` \
            pushes. A push may change branches below `releases/` alone, and is inspected before any of them moves. A \
            refusal of a push is part of git's own answer.",
        )
        .reads_bytes(&["application/x-git-upload-pack-request", "application/x-git-receive-pack-request"])
        .answers_bytes(
            200,
            "What git sends, in its own format.",
            &["application/x-git-upload-pack-result", "application/x-git-receive-pack-result"],
        )
        .refuses(400, &["git_body_cut_off"])
        .refuses(413, &["git_body_too_large"])
}

fn of_git(operation: Operation) -> Operation {
    let path = "The repository `tools.git` and git's own path in it, slashes included.";
    operation
        .reads(Parameter::path("git_path", path, form::text()))
        .reads(Parameter::header("git-protocol", "`version=2`.", form::text()))
        .refuses(403, &["push_forbidden"])
        .refuses(503, &["git_busy", "git_missing", "git_too_old", "git_hook_missing"])
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    request: Request,
) -> Result<Response, Error> {
    let (parts, body) = request.into_parts();
    let path = path_in_repository(&parts.uri).ok_or(Error::NotFound)?;
    check_content_type(path, &parts.headers)?;
    ensure_repository(&app, &principal.organization).await?;
    // What answers a GET answers HEAD too; the body is left out further out.
    let method = if parts.method == Method::HEAD { Method::GET } else { parts.method };
    let request = git_request(&principal, method.as_str(), path, parts.uri.query(), &parts.headers);
    let body = StreamReader::new(body.into_data_stream().map_err(std::io::Error::other));
    respond(app.git().serve(request, Box::pin(body)).await?)
}

/// What git itself would refuse, in text and from a process of its own.
fn check_content_type(path: &str, headers: &HeaderMap) -> Result<(), Error> {
    let expected = match path {
        "git-upload-pack" => "application/x-git-upload-pack-request",
        "git-receive-pack" => "application/x-git-receive-pack-request",
        _ => return Ok(()),
    };
    if headers.get(CONTENT_TYPE).is_some_and(|given| given == expected) {
        return Ok(());
    }
    let place = vec!["header".into(), "content-type".into()];
    Err(Error::Invalid { problems: vec![Problem::new(place, "value_error", format!("should be {expected}"))] })
}

/// Makes the organisation's repository at its first use.
async fn ensure_repository(app: &App, organization: &OrganizationId) -> Result<(), Error> {
    if app.repositories().find(organization).is_some() {
        return Ok(());
    }
    let (repositories, organization) = (app.repositories().clone(), organization.clone());
    let made =
        app.spawn(
            async move { tokio::task::spawn_blocking(move || make_repository(&repositories, &organization)).await },
        )?;
    let made = made.await.and_then(|made| made);
    made.map_err(|error| Error::Internal { detail: format!("making a repository ended early: {error}") })?
}

fn make_repository(repositories: &Repositories, organization: &OrganizationId) -> Result<(), Error> {
    let files = scaffold::main_branch().map_err(|error| Error::Internal { detail: error.to_string() })?;
    let files: Vec<_> = files.into_iter().map(|file| (file.path, file.bytes.into_owned())).collect();
    repositories.ensure(organization, &files)?;
    Ok(())
}

/// What follows the repository, as it came: nothing is decoded, so nothing can be smuggled.
fn path_in_repository(uri: &Uri) -> Option<&str> {
    uri.path().split_once(REPOSITORY).map(|(_, path)| path)
}

fn git_request(
    principal: &Principal,
    method: &str,
    path: &str,
    query: Option<&str>,
    headers: &HeaderMap,
) -> GitRequest {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    GitRequest {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.unwrap_or_default().to_owned(),
        content_type: text(CONTENT_TYPE),
        content_encoding: text(CONTENT_ENCODING),
        content_length: text(CONTENT_LENGTH).and_then(|length| length.parse().ok()),
        git_protocol: text(HeaderName::from_static("git-protocol")),
        remote_user: principal.user.to_string(),
        organization: principal.organization.clone(),
        may_push: true,
    }
}

fn respond(answer: GitResponse) -> Result<Response, Error> {
    let status = StatusCode::from_u16(answer.status);
    let status = status.map_err(|_| Error::Internal { detail: format!("git answered status {}", answer.status) })?;
    let mut response = Response::new(Body::from_stream(ReaderStream::with_capacity(answer.body, BUFFER_BYTES)));
    *response.status_mut() = status;
    for (name, value) in answer.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::path_in_repository;

    #[test]
    fn the_path_in_the_repository_is_taken_as_it_came() {
        let check = |path: &'static str, expected| {
            assert_eq!(path_in_repository(&axum::http::Uri::from_static(path)), expected, "{path}");
        };
        check("/v1/acme/tool/git/tools.git/info/refs?service=git-upload-pack", Some("info/refs"));
        check("/v1/acme/tool/git/tools.git/%2e%2e/x", Some("%2e%2e/x"));
        check("/v1/acme/tool/git/other.git/info/refs", None);
        check("/v1/acme/tool/git/tools.git", None);
    }
}
