//! Parses TOML of authors and of packages in a child process with bounds on time, memory and stack. A parser that
//! exceeds a bound ends its own process, not the server.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use crate::blocking::blocking;
use crate::error::{Error, Location};
use crate::steps::child::{self, ChildLimits};
use crate::steps::manifest::{Malformed, Node, Value, from_toml};

const STAGE: &str = "manifest";
const LIMITS: ChildLimits = ChildLimits {
    // A hundred times what the largest lock files need.
    cpu_seconds_max: 5,
    // The parser takes up to about 250 bytes for each byte of a text that consists of brackets, and a tenth of that for
    // files that cargo writes, the largest of which is a lock file of 4 MiB.
    memory_bytes_max: 512 << 20,
    file_bytes_max: 0,
};
/// Time of the child, long enough for a busy machine. Authors reach the bound on CPU time first.
const WALL_MAX: Duration = Duration::from_secs(60);
/// Bytes of all texts of one request: the manifests of three hundred crates, the largest of which have 300 KiB.
const REQUEST_BYTES_MAX: u64 = 32 << 20;

/// Bytes of an answer. A table of many short keys takes a few bytes more than its text.
const ANSWER_BYTES_MAX: u64 = 2 * REQUEST_BYTES_MAX;
/// Bytes of the main thread's stack, the usual default. A larger or unbounded stack is reduced to this.
const STACK_BYTES_MAX: u64 = 8 << 20;

#[derive(Serialize, Deserialize)]
enum Request {
    /// Files to parse, by name.
    Documents(Vec<(String, String)>),
    /// Manifests of crates, whose names and versions are read.
    CrateNames(Vec<String>),
}

/// The child's answer to each kind of request.
#[derive(Debug, Serialize, Deserialize)]
pub enum ParserResponse {
    Documents(BTreeMap<String, Result<Node, Malformed>>),
    CrateNames(Vec<Option<CrateName>>),
}

/// The name and version that a crate's manifest states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrateName {
    pub name: String,
    pub version: String,
}

/// Starts the parsing child.
#[derive(Debug, Clone, Copy)]
pub struct Parser<'c> {
    /// The child's program and arguments.
    pub command: &'c [String],
}

impl Parser<'_> {
    /// Parses files.
    ///
    /// # Errors
    /// When parsing exceeds its time or memory.
    pub async fn documents(
        &self,
        files: Vec<(String, String)>,
    ) -> Result<BTreeMap<String, Result<Node, Malformed>>, Error> {
        let names: Vec<_> = files.iter().map(|(file, _)| file.clone()).collect();
        let too_costly = || {
            let message =
                "parsing it takes more time or memory than a project file may; make it smaller and less nested";
            Error::failed(STAGE, "cost", message).at(Location::file(&names.join(" or ")))
        };
        match self.ask(Request::Documents(files)).await? {
            Some(ParserResponse::Documents(documents)) => Ok(documents),
            Some(_) => Err(Error::internal("the parsing child answered another request")),
            None => Err(too_costly()),
        }
    }

    /// Reads the name and version of each manifest. An element is `None` when a manifest has none; the result is `None`
    /// when parsing exceeds its time or memory.
    ///
    /// # Errors
    /// When the child cannot be started.
    pub async fn crate_names(&self, manifests: Vec<String>) -> Result<Option<Vec<Option<CrateName>>>, Error> {
        match self.ask(Request::CrateNames(manifests)).await? {
            Some(ParserResponse::CrateNames(names)) => Ok(Some(names)),
            Some(_) => Err(Error::internal("the parsing child answered another request")),
            None => Ok(None),
        }
    }

    /// The child's answer. `None` when a bound ended the child.
    async fn ask(&self, request: Request) -> Result<Option<ParserResponse>, Error> {
        let request = blocking(move || postcard::to_allocvec(&request)).await?.map_err(Error::internal)?;
        if request.len() as u64 > REQUEST_BYTES_MAX {
            return Ok(None);
        }
        let Ok(answer) = tokio::time::timeout(WALL_MAX, self.answer(request)).await else { return Ok(None) };
        match answer? {
            Some(answer) => blocking(move || postcard::from_bytes(&answer)).await?.map(Some).map_err(Error::internal),
            None => Ok(None),
        }
    }

    async fn answer(&self, request: Vec<u8>) -> Result<Option<Vec<u8>>, Error> {
        let ended = match child::exchange(child::command(self.command)?, request, ANSWER_BYTES_MAX).await {
            Ok(ended) => ended,
            Err(error) if error.kind() == ErrorKind::FileTooLarge => return Ok(None),
            Err(error) => return Err(Error::internal(format!("a parsing child failed: {error}"))),
        };
        if !ended.status.success() {
            tracing::warn!(status = %ended.status, reason = ended.errors, "a parsing child ended before it answered");
            return Ok(None);
        }
        Ok(Some(ended.answer))
    }
}

/// The child process, which reads a request from standard input and writes the answer to standard output.
///
/// # Errors
/// When the process cannot be confined, or the pipes fail.
pub fn child_parse_main() -> io::Result<()> {
    // The kernel checks this bound whenever the stack of the main thread grows.
    let (_, stack_bytes_max) = getrlimit(Resource::RLIMIT_STACK)?;
    setrlimit(Resource::RLIMIT_STACK, STACK_BYTES_MAX.min(stack_bytes_max), stack_bytes_max)?;
    LIMITS.apply()?;
    let mut request = Vec::new();
    io::stdin().lock().take(REQUEST_BYTES_MAX).read_to_end(&mut request)?;
    let answer = match postcard::from_bytes(&request).map_err(io::Error::other)? {
        Request::Documents(files) => {
            ParserResponse::Documents(files.into_iter().map(|(file, text)| (file, from_toml(&text))).collect())
        }
        Request::CrateNames(manifests) => {
            ParserResponse::CrateNames(manifests.iter().map(|text| crate_name(text)).collect())
        }
    };
    io::stdout().lock().write_all(&postcard::to_allocvec(&answer).map_err(io::Error::other)?)
}

fn crate_name(manifest: &str) -> Option<CrateName> {
    let document = from_toml(manifest).ok()?;
    let text = |key: &str| match &document.at(&["package", key])?.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    Some(CrateName { name: text("name")?, version: text("version")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_child_that_ends_without_an_answer_refuses_the_files() {
        let command = ["/bin/false".to_owned()];
        let parser = Parser { command: &command };
        let refused = parser.documents(vec![("Cargo.toml".into(), String::new())]).await.unwrap_err().to_string();
        assert!(refused.contains("(cost): Cargo.toml: parsing it takes more time or memory"), "{refused}");
        assert_eq!(parser.crate_names(vec![String::new()]).await.unwrap(), None);
    }

    #[test]
    fn a_crates_manifest_states_its_name_and_version() {
        let named = crate_name("[package]\nname = \"a\"\nversion = \"1.0.0\"\n").unwrap();
        assert_eq!((named.name.as_str(), named.version.as_str()), ("a", "1.0.0"));
        for other in ["", "[package]\nname = \"a\"\n", "[package]\nname = 1\nversion = \"1\"\n", "[package"] {
            assert_eq!(crate_name(other), None, "{other}");
        }
    }
}
