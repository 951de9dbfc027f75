//! A tool's packages, imported once in an instance of the image, and then the memory of that instance.
//!
//! A package that cannot be imported ahead of a run, or would not be the same in all runs then, is left out: it is there to
//! be imported, and each run does so.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use registry::Language;
use runner::{CompileFailure, Interpreter, Limits, NativeCode, Project, SourceFile};
use serde::{Deserialize, Serialize};

use super::{LIMITS, Request, say, with_loaded};
use crate::error::Error;

/// One attempt; several, and what comes before them, have to fit into the child's time. Large packages take a second.
const ATTEMPT: Limits = Limits { wall_ms: 10_000, cpu_ms: 10_000, ..LIMITS };
/// For finding out which packages are to be left out, when some are. What has had no turn by then is left out, too.
const TRIALS_MAX: Duration = Duration::from_secs(10);

/// What these modules are called. An author whose own have such names gets no snapshot.
pub const PYTHON_MODULES: [&str; 2] = ["lathe_packages", "lathe_preload"];
/// What an entry point has to be.
const PYTHON_ENTRY: &str =
    "def run_tool(tool_input, metadata, config, conversation, send_status_event, user_variables): ...\n";
/// What esbuild's two files are called.
const SCRIPT: &str = "bundle.js";
const MAP: &str = "bundle.js.map";
const NO_MAP: &str = r#"{"version":3,"sources":[],"mappings":""}"#;
const JAVASCRIPT_ENTRY: &str = "\nexports.runTool = () => '';\n";

/// What is to be in memory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Packages {
    pub language: Language,
    /// All files of all packages; in JavaScript one script that loads what it is asked for.
    pub files: Vec<SourceFile>,
    /// What is imported of them, by the names that a tool imports it by.
    pub imports: Vec<String>,
}

/// What came of it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Loaded {
    /// What each run imports itself, and why.
    pub left_out: Vec<(String, String)>,
}

/// Has the image behind `code` import packages, and gives the memory that it has then.
///
/// # Errors
/// When not even files without an import can be had in memory; or a child that failed.
pub async fn load(
    code: &NativeCode,
    bundler: &[String],
    packages: Packages,
) -> Result<Result<(Loaded, Vec<u8>), String>, Error> {
    let mut said = say(code, bundler, |code| Request::Packages { code, packages }).await?;
    let (answer, memory): (Result<Loaded, String>, _) = postcard::take_from_bytes(&said).map_err(Error::internal)?;
    let header = said.len() - memory.len();
    Ok(answer.map(|loaded| (loaded, said.split_off(header))))
}

/// The child: what became of the packages, and behind it the memory.
pub fn child_main(code: &Path, packages: Packages) -> io::Result<()> {
    let made = with_loaded(code, async |image| imported(&image, packages).await)?;
    let (answer, memory) = match made {
        Ok(Ok((loaded, memory))) => (Ok(loaded), memory),
        Ok(Err(failure)) => (Err(failure.message), Vec::new()),
        Err(error) => (Err(error.to_string()), Vec::new()),
    };
    let mut output = io::stdout().lock();
    output.write_all(&postcard::to_allocvec(&answer).map_err(io::Error::other)?)?;
    output.write_all(&memory)
}

type Made<T> = Result<Result<T, CompileFailure>, runner::Error>;

/// One instance with the packages' files.
struct Attempts<'a> {
    image: &'a Interpreter,
    language: Language,
    files: Vec<u8>,
}

async fn imported(image: &Interpreter, packages: Packages) -> Made<(Loaded, Vec<u8>)> {
    let Packages { language, files, imports } = packages;
    let files = match image.bundle(there(language, files), LIMITS).await? {
        Ok(files) => files,
        Err(failure) => return Ok(Err(failure)),
    };
    let attempts = Attempts { image, language, files };
    if let Ok(memory) = attempts.memory_with(&imports).await? {
        return Ok(Ok((Loaded { left_out: Vec::new() }, memory)));
    }
    let (good, mut left_out) = attempts.tried_alone(imports).await?;
    match attempts.memory_with(&good).await? {
        Ok(memory) => Ok(Ok((Loaded { left_out }, memory))),
        Err(failure) => {
            left_out.extend(good.into_iter().map(|name| (name, failure.message.clone())));
            Ok(attempts.memory_with(&[]).await?.map(|memory| (Loaded { left_out }, memory)))
        }
    }
}

impl Attempts<'_> {
    async fn memory_with(&self, imports: &[String]) -> Made<Vec<u8>> {
        match self.image.bundle(imported_now(self.language, imports), LIMITS).await? {
            // The engine of JavaScript looks at the time whenever it likes.
            Ok(load) => {
                let counts_looks = self.language == Language::Python;
                self.image.picture(&[self.files.clone(), load], counts_looks, ATTEMPT).await
            }
            Err(failure) => Ok(Err(failure)),
        }
    }

    /// Those that can be imported, each in an instance of its own, and those that cannot.
    async fn tried_alone(&self, imports: Vec<String>) -> Result<(Vec<String>, Vec<(String, String)>), runner::Error> {
        let (mut good, mut left_out) = (Vec::new(), Vec::new());
        let deadline = tokio::time::Instant::now() + TRIALS_MAX;
        for name in imports {
            let attempt = tokio::time::timeout_at(deadline, self.memory_with(std::slice::from_ref(&name))).await;
            match attempt {
                Ok(tried) => match tried? {
                    Ok(_) => good.push(name),
                    Err(failure) => left_out.push((name, failure.message)),
                },
                Err(_) => left_out.push((name, "there was no time left to try".to_owned())),
            }
        }
        Ok((good, left_out))
    }
}

/// A project that has the packages, and imports none.
fn there(language: Language, files: Vec<SourceFile>) -> Project {
    if language == Language::Python {
        return python(PYTHON_MODULES[0], "", files);
    }
    // Under a name of its own, so that no trace takes its lines for the author's.
    let text = files.into_iter().map(|file| String::from_utf8_lossy(&file.contents).into_owned()).collect::<String>();
    let text = format!("(function (module, exports) {{{text}\n}})({{}}, {{}})\n//# sourceURL=lathe:packages");
    let script = serde_json::Value::from(text);
    javascript(&format!("(0, eval)({script});"))
}

/// A project that imports them.
fn imported_now(language: Language, imports: &[String]) -> Project {
    let names = serde_json::Value::from(imports);
    if language == Language::Python {
        let text = format!("from lathe_runtime import packages\npackages.load({names})\n");
        return python(PYTHON_MODULES[1], &text, Vec::new());
    }
    javascript(&include_str!("packages.js").replace("[/* names */]", &names.to_string()))
}

fn python(module: &str, text: &str, dependencies: Vec<SourceFile>) -> Project {
    let files = vec![source(&format!("{module}.py"), text, PYTHON_ENTRY)];
    Project { entry_point: format!("{module}:run_tool"), files, dependencies }
}

fn javascript(text: &str) -> Project {
    let files = vec![source(SCRIPT, text, JAVASCRIPT_ENTRY), source(MAP, NO_MAP, "")];
    Project { entry_point: SCRIPT.into(), files, dependencies: Vec::new() }
}

fn source(path: &str, text: &str, more: &str) -> SourceFile {
    SourceFile { path: path.into(), contents: [text, more].concat().into_bytes() }
}
