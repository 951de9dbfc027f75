//! Parses TOML, and unpacks the archives of packages, in a child process with bounds on time, memory and stack. A parser
//! that exceeds a bound ends its own process, not the server.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use crate::blocking::blocking;
use crate::error::{Error, Location};
use crate::steps::archive::{Format, Listing, Unpacked};
use crate::steps::child::{self, ChildLimits};
use crate::steps::crates::{Problem, Vendoring};
use crate::steps::manifest::{Malformed, Node, Value, from_toml};
use crate::text::cut;

const STAGE: &str = "manifest";
/// The work of the child, in messages.
const PARSING: &str = "reading the project or a package";
const LIMITS: ChildLimits = ChildLimits {
    // A hundred times what the largest lock files need, and ten times what the largest packages need.
    cpu_seconds_max: 5,
    // The parser takes up to about 250 bytes for each byte of a text that consists of brackets, and a tenth of that for
    // files that cargo writes, the largest of which is a lock file of 4 MiB.
    memory_bytes_max: 512 << 20,
    file_bytes_max: 0,
};
/// The limits for all crates of a tool, which the child writes to the disk.
const CRATES_LIMITS: ChildLimits = ChildLimits {
    // Ten times what the largest allowed crates need.
    cpu_seconds_max: 30,
    file_bytes_max: CRATES_BYTES_MAX,
    ..LIMITS
};
/// Unpacked bytes of all crates of a tool, with the headers of their files. Crates for other platforms contain libraries.
pub const CRATES_BYTES_MAX: u64 = 256 << 20;
/// Time of the child, long enough for a busy machine. Authors reach the bound on CPU time first.
const WALL_MAX: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 120 });
/// Bytes of a request: an archive of 32 MiB, or the texts of a project's files.
const REQUEST_BYTES_MAX: u64 = (32 << 20) + (64 << 10);

/// Bytes of an answer: 64 MiB of files, and the sizes of up to 20,000 of them.
const ANSWER_BYTES_MAX: u64 = (64 << 20) + (1 << 20);
/// Bytes of the main thread's stack, the usual default. A larger or unbounded stack is reduced to this.
const STACK_BYTES_MAX: u64 = 8 << 20;

#[derive(Serialize, Deserialize)]
enum Request {
    /// Files to parse, by name.
    Documents(Vec<(String, String)>),
    /// The archive of a package, whose bytes follow the request.
    Archive(Format),
    /// Crates of the cache, which are unpacked into a directory.
    Crates(Vendoring),
}

/// The child's answer to each kind of request.
#[derive(Debug, Serialize, Deserialize)]
enum ParserResponse {
    Documents(BTreeMap<String, Result<Node, Malformed>>),
    /// The contents of the files follow the answer. The error is the reason why the archive is refused.
    Archive(Result<Listing, String>),
    Crates(CrateNames),
}

/// The name and version that the manifest of each crate states, or the first crate that cannot be unpacked.
pub type CrateNames = Result<Vec<Option<CrateName>>, (usize, Problem)>;

impl Request {
    const fn limits(&self) -> ChildLimits {
        match self {
            Self::Documents(_) | Self::Archive(_) => LIMITS,
            Self::Crates(_) => CRATES_LIMITS,
        }
    }
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
    pub async fn parse_documents(
        &self,
        files: Vec<(String, String)>,
    ) -> Result<BTreeMap<String, Result<Node, Malformed>>, Error> {
        let names: Vec<_> = files.iter().map(|(file, _)| file.clone()).collect();
        let too_costly = || {
            let message =
                "parsing it takes more time or memory than a project file may; make it smaller and less nested";
            Error::failed(STAGE, "cost", message).at(Location::file(&names.join(" or ")))
        };
        match self.ask(Request::Documents(files), Vec::new()).await? {
            Some((ParserResponse::Documents(documents), _)) => Ok(documents),
            Some(_) => Err(other_answer()),
            None => Err(too_costly()),
        }
    }

    /// Unpacks a package's archive. The inner error is the reason why it is refused.
    ///
    /// # Errors
    /// When the child cannot be started.
    pub async fn unpack(&self, format: Format, archive: Vec<u8>) -> Result<Result<Unpacked, String>, Error> {
        let (listing, answer, at) = match self.ask(Request::Archive(format), archive).await? {
            Some((ParserResponse::Archive(Ok(listing)), Rest { answer, at })) => (listing, answer, at),
            Some((ParserResponse::Archive(Err(reason)), _)) => return Ok(Err(reason)),
            Some(_) => return Err(other_answer()),
            None => return Ok(Err("unpacking it takes more time or memory than a package may".into())),
        };
        let unpacked = blocking(move || listing.with(&answer[at..])).await?;
        unpacked.map(Ok).ok_or_else(|| Error::internal("the parsing child listed other files than it sent"))
    }

    /// Unpacks crates. `None` when this exceeds its time or memory.
    ///
    /// # Errors
    /// When the child cannot be started.
    pub async fn unpack_crates(&self, crates: Vendoring) -> Result<Option<CrateNames>, Error> {
        match self.ask(Request::Crates(crates), Vec::new()).await? {
            Some((ParserResponse::Crates(names), _)) => Ok(Some(names)),
            Some(_) => Err(other_answer()),
            None => Ok(None),
        }
    }

    /// The child's answer. `None` when a bound ended the child.
    async fn ask(&self, request: Request, archive: Vec<u8>) -> Result<Option<(ParserResponse, Rest)>, Error> {
        let request = move || postcard::to_allocvec(&request).map(|request| [request, archive].concat());
        let request = blocking(request).await?.map_err(Error::internal)?;
        if request.len() as u64 > REQUEST_BYTES_MAX {
            return Ok(None);
        }
        let too_slow = |_| child::lost(PARSING, format!("it took longer than {} s", WALL_MAX.as_secs()));
        let answer = tokio::time::timeout(WALL_MAX, self.answer(request)).await.map_err(too_slow)?;
        let Some(answer) = answer? else { return Ok(None) };
        let read = move || {
            let (head, rest) = postcard::take_from_bytes(&answer)?;
            let at = answer.len() - rest.len();
            Ok::<_, postcard::Error>((head, Rest { answer, at }))
        };
        blocking(read).await?.map(Some).map_err(Error::internal)
    }

    async fn answer(&self, request: Vec<u8>) -> Result<Option<Vec<u8>>, Error> {
        let ended = match child::exchange(child::build_command(self.command)?, request, ANSWER_BYTES_MAX).await {
            Ok(ended) => ended,
            Err(error) if error.kind() == ErrorKind::FileTooLarge => return Ok(None),
            Err(error) => return Err(child::lost(PARSING, error.to_string())),
        };
        ended.require_own_end(PARSING)?;
        if !ended.status.success() {
            tracing::warn!(status = %ended.status, reason = ended.errors, "a parsing child ended before it answered");
            return Ok(None);
        }
        Ok(Some(ended.answer))
    }
}

/// The bytes of an answer, and the offset of those that follow the answer itself.
struct Rest {
    answer: Vec<u8>,
    at: usize,
}

fn other_answer() -> Error {
    Error::internal("the parsing child answered another request")
}

/// The child process, which reads a request from standard input and writes the answer to standard output.
///
/// # Errors
/// When the process cannot be confined, or the pipes fail.
pub fn child_parse_main() -> io::Result<()> {
    // The kernel checks this bound whenever the stack of the main thread grows.
    let (_, stack_bytes_max) = getrlimit(Resource::RLIMIT_STACK)?;
    setrlimit(Resource::RLIMIT_STACK, STACK_BYTES_MAX.min(stack_bytes_max), stack_bytes_max)?;
    let mut bytes = Vec::new();
    io::stdin().lock().take(REQUEST_BYTES_MAX).read_to_end(&mut bytes)?;
    let (request, archive) = postcard::take_from_bytes::<Request>(&bytes).map_err(io::Error::other)?;
    request.limits().apply()?;
    match request {
        Request::Documents(files) => {
            write(&ParserResponse::Documents(files.into_iter().map(|(file, text)| (file, from_toml(&text))).collect()))
        }
        Request::Archive(format) => write_unpacked(format.unpack(archive.to_vec())),
        Request::Crates(crates) => write(&ParserResponse::Crates(crates.unpack(parse_crate_name))),
    }
}

fn write(answer: &ParserResponse) -> io::Result<()> {
    io::stdout().lock().write_all(&postcard::to_allocvec(answer).map_err(io::Error::other)?)
}

fn write_unpacked(unpacked: Result<Unpacked, String>) -> io::Result<()> {
    let unpacked = unpacked.map_err(cut);
    write(&ParserResponse::Archive(unpacked.as_ref().map(Unpacked::build_listing).map_err(String::clone)))?;
    let mut output = io::stdout().lock();
    unpacked.iter().flat_map(|unpacked| &unpacked.files).try_for_each(|file| output.write_all(&file.contents))
}

fn parse_crate_name(manifest: &str) -> Option<CrateName> {
    let document = from_toml(manifest).ok()?;
    let text = |key: &str| match &document.find(&["package", key])?.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    Some(CrateName { name: text("name")?, version: text("version")? })
}

/// An answer with documents, for the fuzz target.
#[cfg(test)]
pub fn sample_answer(documents: BTreeMap<String, Result<Node, Malformed>>) -> Vec<u8> {
    postcard::to_allocvec(&ParserResponse::Documents(documents)).unwrap_or_default()
}

/// Reads an answer, for the fuzz target.
#[cfg(test)]
pub fn read_answer(bytes: &[u8]) {
    if let Ok((ParserResponse::Archive(Ok(listing)), contents)) = postcard::take_from_bytes(bytes) {
        drop(listing.with(contents));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_child_that_ends_without_an_answer_refuses_the_files() {
        let command = ["/bin/false".to_owned()];
        let parser = Parser { command: &command };
        let refused = parser.parse_documents(vec![("Cargo.toml".into(), String::new())]).await.unwrap_err().to_string();
        assert!(refused.contains("(cost): Cargo.toml: parsing it takes more time or memory"), "{refused}");
        let refused = parser.unpack(Format::Wheel, vec![0; 9]).await.unwrap().unwrap_err();
        assert!(refused.contains("more time or memory"), "{refused}");
        let crates = Vendoring { archives: Vec::new(), directory: "/".into(), bytes_max: 1, modified_at: 0 };
        assert!(parser.unpack_crates(crates).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_child_that_does_not_end_is_ended_at_the_deadline() {
        let command = ["/bin/sh", "-c", "exec sleep 1000"].map(str::to_owned);
        let parser = Parser { command: &command };
        let late = parser.parse_documents(vec![("pyproject.toml".into(), String::new())]).await.unwrap_err();
        assert_eq!(late.code(), "process_lost", "{late}");
        assert_eq!(parser.unpack(Format::Npm, vec![0; 9]).await.unwrap_err().code(), "process_lost");
    }

    #[tokio::test]
    async fn a_child_that_is_killed_says_nothing_about_the_files() {
        let command = ["/bin/sh", "-c", "kill -KILL $$"].map(str::to_owned);
        let parser = Parser { command: &command };
        let lost = parser.parse_documents(vec![("pyproject.toml".into(), String::new())]).await.unwrap_err();
        assert_eq!(lost.code(), "process_lost", "{lost}");
    }

    #[test]
    fn a_crates_manifest_states_its_name_and_version() {
        let named = parse_crate_name("[package]\nname = \"a\"\nversion = \"1.0.0\"\n").unwrap();
        assert_eq!((named.name.as_str(), named.version.as_str()), ("a", "1.0.0"));
        for other in ["", "[package]\nname = \"a\"\n", "[package]\nname = 1\nversion = \"1\"\n", "[package"] {
            assert_eq!(parse_crate_name(other), None, "{other}");
        }
    }
}
