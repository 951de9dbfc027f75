//! Buckets of an S3 server, which the first test that needs one starts, and which ends with the tests.
//!
//! The server is moto: a package of PyPI that is installed within seconds, checks signatures and permissions, and
//! creates an object once with `If-None-Match: *`. It keeps objects in memory.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::need::Need;

const S3_SERVER: Need = Need {
    what: "an S3 server",
    command: "python3 -m venv target/storage && target/storage/bin/pip install -r tests/storage/requirements.txt; \
              LATHE_S3_PYTHON=$PWD/target/storage/bin/python",
};

static SERVER: LazyLock<Option<Mutex<S3Server>>> =
    LazyLock::new(|| std::env::var("LATHE_S3_PYTHON").ok().map(|python| Mutex::new(S3Server::start(&python))));
static BUCKETS: AtomicU32 = AtomicU32::new(0);

/// A bucket of its own for a test.
pub struct Bucket {
    server: &'static Mutex<S3Server>,
    pub name: String,
}

struct S3Server {
    child: Child,
    output: BufReader<ChildStdout>,
    /// Its address, and the keys of its users.
    access: Value,
}

impl Bucket {
    /// Creates a bucket. `None` without an S3 server.
    #[track_caller]
    pub fn create() -> Option<Self> {
        let server = S3_SERVER.require(SERVER.as_ref())?;
        let bucket = Self { server, name: format!("lathe-{}", BUCKETS.fetch_add(1, Ordering::Relaxed)) };
        bucket.order(json!({"do": "create"}));
        Some(bucket)
    }

    /// The URL of a prefix in the bucket.
    pub fn url(&self) -> String {
        format!("s3://{}/some/prefix", self.name)
    }

    /// The environment variables of a user with all permissions.
    pub fn variables(&self) -> Vec<(String, String)> {
        self.variables_of("writer")
    }

    /// The environment variables of a user that may only read.
    pub fn read_only_variables(&self) -> Vec<(String, String)> {
        self.variables_of("reader")
    }

    fn variables_of(&self, user: &str) -> Vec<(String, String)> {
        let access = &self.server.lock().access;
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let variables = [
            ("AWS_ENDPOINT_URL", text(&access["url"])),
            ("AWS_REGION", "us-east-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", text(&access[user]["id"])),
            ("AWS_SECRET_ACCESS_KEY", text(&access[user]["secret"])),
        ];
        variables.map(|(name, value)| (name.to_owned(), value)).to_vec()
    }

    pub fn keys(&self) -> Vec<String> {
        serde_json::from_value(self.order(json!({"do": "keys"}))).expect("a list of keys")
    }

    /// The keys that contain a text, such as a digest.
    pub fn keys_with(&self, text: &str) -> Vec<String> {
        self.keys().into_iter().filter(|key| key.contains(text)).collect()
    }

    /// Changes the first byte of an object.
    pub fn damage(&self, key: &str) {
        self.order(json!({"do": "damage", "key": key}));
    }

    /// Deletes an object.
    pub fn remove(&self, key: &str) {
        self.order(json!({"do": "remove", "key": key}));
    }

    /// Deletes the bucket with its objects.
    pub fn delete(&self) {
        self.order(json!({"do": "delete"}));
    }

    fn order(&self, mut request: Value) -> Value {
        request["bucket"] = self.name.as_str().into();
        self.server.lock().answer(&request)
    }
}

impl S3Server {
    fn start(python: &str) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/storage/server.py");
        // It ends when the pipe to its input closes, with this process.
        let mut command = Command::new(python);
        let started = command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.expect("LATHE_S3_PYTHON starts");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let mut server = Self { child, output, access: Value::Null };
        server.access = server.line();
        server
    }

    fn answer(&mut self, request: &Value) -> Value {
        let input = self.child.stdin.as_mut().expect("its input");
        writeln!(input, "{request}").expect("the S3 server reads");
        self.line()
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the S3 server answers");
        serde_json::from_str(&line).expect("JSON")
    }
}
