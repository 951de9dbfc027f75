//! `GET` and `POST /v1/{organization}/tool/git/tools.git/…`: the organisation's repository for git clients.
//!
//! Bodies stream in both directions. [`GitServer`] bounds them and runs the git processes.

mod words;

use api_kit::caller::Caller;
use api_kit::error::{Error, Problem};
use api_kit::extract::{Decoder as _, OneOf};
use api_kit::openapi::{OperationDoc, Parameter, schemas};
use api_kit::tasks::Tasks;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::Response;
use futures_util::TryStreamExt;
use registry::{OrganizationId, Principal};
use repository::{GitRequest, GitResponse, GitServer, Repositories};
use tokio_util::io::{ReaderStream, StreamReader};

use crate::sections;
pub(crate) use words::rewrite_refusal;

/// The beginning of the paths of repositories, after the organisation.
pub(crate) const REPOSITORIES: &str = "/tool/git/";
/// The part of the path before git's own part.
const REPOSITORY: &str = "/tool/git/tools.git/";
/// The beginning of the paths of Git LFS.
const LFS: &str = "info/lfs/";

/// The bytes of one read of git's response.
const BUFFER_BYTES: usize = 64 * 1024;

/// Git clients use this interface; the document shows their requests.
pub(crate) fn read_operation() -> OperationDoc {
    let services = OneOf(&[("git-upload-pack", ()), ("git-receive-pack", ())]).schema();
    describe_common(OperationDoc::new("access-git-interface", sections::SOURCE, "Begin a fetch or a push"))
        .description(
            "Git's smart HTTP protocol, version 2: `git clone {server}/v1/{organization}/tool/git/tools.git`. Git begins \
            with the request `tools.git/info/refs?service=…`. Its first request has no credentials; git asks its user for \
            them when the response names Basic authentication.",
        )
        .parameter(Parameter::query("service", "The service that git requests.", services))
        .returns_bytes(
            200,
            "The response of git, in git's own format.",
            &["application/x-git-upload-pack-advertisement", "application/x-git-receive-pack-advertisement"],
        )
}

pub(crate) fn write_operation() -> OperationDoc {
    describe_common(OperationDoc::new("post-git-interface", sections::SOURCE, "Fetch or push"))
        .description(
            "The second request of git's smart HTTP protocol: `tools.git/git-upload-pack` fetches and \
            `tools.git/git-receive-pack` pushes. A push may change every branch but `main`, and is checked before a branch \
            changes. Git's own response has the refusal of a push. A body may be compressed with gzip; its bound \
            also applies to the uncompressed bytes.",
        )
        .binary_body(&["application/x-git-upload-pack-request", "application/x-git-receive-pack-request"])
        .returns_bytes(
            200,
            "The response of git, in git's own format.",
            &["application/x-git-upload-pack-result", "application/x-git-receive-pack-result"],
        )
        .errors(400, &["git_body_cut_off", "git_body_not_gzip", "git_lfs_not_served"])
        .errors(413, &["git_body_too_large"])
        .errors(415, &["git_body_encoding"])
        .words_of_git(&[400, 413, 415])
}

fn describe_common(operation: OperationDoc) -> OperationDoc {
    let path = "The repository `tools.git` and git's own path in it, with slashes.";
    operation
        .parameter(Parameter::path("git_path", path, schemas::text()))
        .parameter(Parameter::header("git-protocol", "`version=2`.", schemas::text()))
        .words_of_git(&[401, 403, 404, 429, 503])
        .errors(403, &["push_forbidden"])
        .errors(503, &["git_busy", "git_missing", "git_too_old", "git_hook_missing", "repository_damaged"])
}

pub(crate) async fn handle(
    State(git): State<GitServer>,
    State(repositories): State<Repositories>,
    State(tasks): State<Tasks>,
    Caller(principal): Caller,
    request: Request,
) -> Result<Response, Error> {
    let (parts, body) = request.into_parts();
    let path = find_path_in_repository(&parts.uri).ok_or(Error::NotFound)?;
    if parts.method == Method::POST && path.starts_with(LFS) {
        return Err(refuse_lfs());
    }
    check_content_type(path, &parts.headers)?;
    let organization = principal.organization.clone();
    if repositories.find_current(&organization).await?.is_none() {
        let created = tasks.spawn(async move { create_repository(&repositories, &organization).await })?.await;
        created
            .map_err(|error| Error::Internal { detail: format!("creating a repository ended early: {error}") })??;
    }
    let request = build_request(&principal, path, &parts);
    let body = StreamReader::new(body.into_data_stream().map_err(std::io::Error::other));
    respond(git.serve(request, Box::pin(body)).await?)
}

/// Git would refuse another content type too, but as text and after starting a process.
fn check_content_type(path: &str, headers: &HeaderMap) -> Result<(), Error> {
    let expected = match path {
        "git-upload-pack" => "application/x-git-upload-pack-request",
        "git-receive-pack" => "application/x-git-receive-pack-request",
        _ => return Ok(()),
    };
    if headers.get(CONTENT_TYPE).is_some_and(|given| given == expected) {
        return Ok(());
    }
    let location = vec!["header".into(), "content-type".into()];
    Err(Error::Invalid { problems: vec![Problem::new(location, "value_error", format!("should be {expected}"))] })
}

fn refuse_lfs() -> Error {
    let detail = "Large files of Git LFS are not stored here, and a tool is never built from their pointers. Commit the files themselves, of at most \
        20 MiB each: `git lfs migrate export --everything --include='*'`, then push again. A file that the repository does not need \
        can stay in .gitignore.";
    Error::Refused { code: "git_lfs_not_served", detail: detail.to_owned() }
}

/// Creates the organisation's repository at its first use.
async fn create_repository(repositories: &Repositories, organization: &OrganizationId) -> Result<(), Error> {
    let files = scaffold::main_branch().map_err(|error| Error::Internal { detail: error.to_string() })?;
    let files = files.into_iter().map(|file| (file.path, file.bytes.into_owned())).collect();
    repositories.create(organization, files).await?;
    Ok(())
}

/// The part of the path after the repository. It is not decoded, so that encoded characters cannot change its meaning.
fn find_path_in_repository(uri: &Uri) -> Option<&str> {
    uri.path().split_once(REPOSITORY).map(|(_, path)| path)
}

fn build_request(principal: &Principal, path: &str, parts: &Parts) -> GitRequest {
    let headers = &parts.headers;
    // A HEAD request is handled as a GET request; an outer layer removes the body.
    let method = if parts.method == Method::HEAD { &Method::GET } else { &parts.method };
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    GitRequest {
        method: method.as_str().to_owned(),
        path: path.to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        content_type: text(CONTENT_TYPE),
        content_encoding: join_encodings(headers),
        content_length: text(CONTENT_LENGTH).and_then(|length| length.parse().ok()),
        git_protocol: text(HeaderName::from_static("git-protocol")),
        remote_user: principal.user().into(),
        organization: principal.organization.clone(),
        may_push: true,
    }
}

/// All encodings of the body. A value that is not a text is unsupported, and must not count as absent.
fn join_encodings(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all(CONTENT_ENCODING).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
    let values: Vec<_> = values.collect();
    (!values.is_empty()).then(|| values.join(", "))
}

fn respond(answer: GitResponse) -> Result<Response, Error> {
    let status = StatusCode::from_u16(answer.status);
    let status =
        status.map_err(|_| Error::Internal { detail: format!("git returned the status {}", answer.status) })?;
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
    use axum::http::HeaderMap;
    use axum::http::header::{CONTENT_ENCODING, HeaderValue};

    use super::{find_path_in_repository, join_encodings};

    #[test]
    fn every_encoding_of_the_body_is_seen() {
        let check = |values: &[&[u8]], expected: Option<&str>| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(CONTENT_ENCODING, HeaderValue::from_bytes(value).expect("a value"));
            }
            assert_eq!(join_encodings(&headers).as_deref(), expected, "{values:?}");
        };
        check(&[], None);
        check(&[b"gzip"], Some("gzip"));
        check(&[b"identity", b"gzip"], Some("identity, gzip"));
        check(&[b"\xff"], Some("\u{fffd}"));
    }

    #[test]
    fn the_path_in_the_repository_is_taken_as_it_came() {
        let check = |path: &'static str, expected| {
            assert_eq!(find_path_in_repository(&axum::http::Uri::from_static(path)), expected, "{path}");
        };
        check("/v1/acme/tool/git/tools.git/info/refs?service=git-upload-pack", Some("info/refs"));
        check("/v1/acme/tool/git/tools.git/%2e%2e/x", Some("%2e%2e/x"));
        check("/v1/acme/tool/git/other.git/info/refs", None);
        check("/v1/acme/tool/git/tools.git", None);
    }
}
