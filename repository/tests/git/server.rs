//! A small HTTP server in front of a [`GitServer`].

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::TryStreamExt;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use parking_lot::Mutex;
use registry::{BranchName, Clock, OrganizationId, Timestamp};
use repository::{
    CommitId, Config, Error, ErrorKind, GitLimits, GitProgram, GitRequest, GitServer, HookEnvironment, Repositories,
    Repository, check_push,
};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_util::io::{ReaderStream, StreamReader};

/// The time of the tests' clock.
pub const NOW: Timestamp = Timestamp::from_milliseconds(1_700_000_000_000);

/// A server with one organisation, `acme`, whose `main` has one file.
pub struct Server {
    pub repository: Repository,
    pub repositories: Repositories,
    pub data: TempDir,
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    git: GitServer,
    runtime: Runtime,
}

/// The properties of a request on the wire.
#[derive(Debug, Clone)]
pub struct Seen {
    pub path: String,
    pub chunked: bool,
    pub gzip: bool,
    pub protocol: Option<String>,
}

#[derive(Clone)]
struct Shared {
    git: GitServer,
    seen: Arc<Mutex<Vec<Seen>>>,
}

/// The commit that a repository keeps under `name`.
pub fn pinned(repository: &Repository, name: &str) -> Option<CommitId> {
    let git = git2::Repository::open_bare(repository.path()).expect("a repository");
    git.find_reference(&format!("refs/lathe/{name}")).ok()?.target().map(CommitId::from)
}

impl Server {
    pub fn start() -> Self {
        Self::start_with(GitLimits::default())
    }

    pub fn start_with(limits: GitLimits) -> Self {
        let data = tempfile::tempdir().expect("a temporary directory");
        let config = Config { root: data.path().join("git"), hook_program: hook_program(data.path()) };
        let repositories = Repositories::new(&config, Clock::fixed(NOW)).expect("the repositories");
        let repository = repositories.ensure(&acme(), &scaffold()).expect("a repository");
        let git = GitServer::new(repositories.clone(), GitProgram::find().expect("git"), limits).expect("a git server");
        let runtime = Runtime::new().expect("a runtime");
        let seen = Arc::default();
        let address = runtime.block_on(listen(Shared { git: git.clone(), seen: Arc::clone(&seen) }));
        Self { repository, repositories, data, address, seen, git, runtime }
    }

    /// Collects garbage, as the service does periodically.
    pub fn collect_garbage(&self) {
        self.runtime.block_on(self.git.collect_garbage());
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL for a user. Users named `ro…` may only read.
    pub fn url_for(&self, user: &str) -> String {
        format!("http://{}/{user}/tools.git", self.address)
    }

    pub fn url(&self) -> String {
        self.url_for("ada")
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().clone()
    }

    /// The number of quarantine directories. Without a running push, all of them are leftovers.
    pub fn quarantine_leftovers(&self) -> usize {
        let objects = fs::read_dir(self.repository.path().join("objects")).expect("objects");
        objects.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with("tmp_objdir")).count()
    }

    pub fn tip(&self, branch: &str) -> Option<CommitId> {
        let branch = BranchName::parse(branch).expect("a branch name");
        self.repository.find_branch_tip(&branch).expect("a readable repository")
    }
}

/// The files that make a directory a project.
pub const PROJECT_FILES: [&str; 1] = ["pyproject.toml"];

pub fn acme() -> OrganizationId {
    OrganizationId::parse("acme").expect("an organisation id")
}

pub fn scaffold() -> Vec<(String, Vec<u8>)> {
    vec![
        ("README.md".to_owned(), b"scaffold\n".to_vec()),
        ("tools/hello/pyproject.toml".to_owned(), b"[tool.lathe]\n".to_vec()),
        ("tools/hello/tool.py".to_owned(), b"def run_tool(): pass\n".to_vec()),
    ]
}

/// The program of the hook: this test binary, with [`hook_entry`] as the only test.
fn hook_program(directory: &Path) -> PathBuf {
    let path = directory.join("it's the hook");
    let this = std::env::current_exe().expect("the path of this program");
    let script = format!(
        "#!/bin/sh\ntest \"$*\" = 'internal pre-receive' || exit 9\nexport RUN_HOOK=1\nexec '{}' --exact server::hook_entry --ignored --nocapture >/dev/null\n",
        this.display()
    );
    fs::write(&path, script).expect("a script");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("an executable script");
    path
}

#[test]
#[ignore = "started by git as the hook of the other tests"]
fn hook_entry() {
    if std::env::var_os("RUN_HOOK").is_none() {
        return;
    }
    let environment = HookEnvironment::read(|name| std::env::var_os(name));
    if let Err(refusal) = check_push(std::io::stdin().lock(), &environment) {
        eprintln!("{refusal}");
        std::process::exit(1);
    }
}

async fn listen(shared: Shared) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(converse(stream, shared.clone()));
        }
    });
    address
}

async fn converse(stream: TcpStream, shared: Shared) {
    let service = service_fn(move |request| answer(shared.clone(), request));
    let connection = auto::Builder::new(TokioExecutor::new()).http1_only();
    // Some tests disconnect.
    let _ended = connection.serve_connection(TokioIo::new(stream), service).await;
}

type Body = BoxBody<Bytes, std::io::Error>;

async fn answer(shared: Shared, request: Request<Incoming>) -> Result<Response<Body>, hyper::http::Error> {
    let (git_request, seen) = translate(&request);
    shared.seen.lock().push(seen);
    let body = request.into_body().into_data_stream().map_err(std::io::Error::other);
    match shared.git.serve(git_request, StreamReader::new(body)).await {
        Err(error) => refuse(&error),
        Ok(found) => {
            let mut response = Response::builder().status(found.status);
            for (name, value) in &found.headers {
                response = response.header(name, value);
            }
            let stream = ReaderStream::new(found.body).map_ok(Frame::data);
            response.body(BodyExt::boxed(StreamBody::new(stream)))
        }
    }
}

fn refuse(error: &Error) -> Result<Response<Body>, hyper::http::Error> {
    let status = match error.kind() {
        ErrorKind::BadRequest => 400,
        ErrorKind::Forbidden => 403,
        ErrorKind::Missing | ErrorKind::NotFound => 404,
        ErrorKind::TooLarge => 413,
        ErrorKind::UnknownForm => 415,
        ErrorKind::Internal => 500,
        ErrorKind::Unavailable => 503,
    };
    let text = Full::from(error.to_string()).map_err(|never| match never {});
    Response::builder().status(status).body(BodyExt::boxed(text))
}

fn translate(request: &Request<Incoming>) -> (GitRequest, Seen) {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (user, path) = request.uri().path()[1..].split_once("/tools.git/").unwrap_or_default();
    let seen = Seen {
        path: path.to_owned(),
        chunked: header("transfer-encoding").is_some_and(|value| value == "chunked"),
        gzip: header("content-encoding").is_some_and(|value| value == "gzip"),
        protocol: header("git-protocol"),
    };
    let git_request = GitRequest {
        method: request.method().to_string(),
        path: path.to_owned(),
        query: request.uri().query().unwrap_or_default().to_owned(),
        content_type: header("content-type"),
        content_encoding: header("content-encoding"),
        content_length: header("content-length").and_then(|value| value.parse().ok()),
        git_protocol: header("git-protocol"),
        remote_user: user.to_owned(),
        organization: acme(),
        may_push: !user.starts_with("ro"),
    };
    (git_request, seen)
}
