//! JavaScript and TypeScript to one script and its source map, by esbuild: it parses, and runs nothing of what it reads.

mod confined;
pub mod packages;
mod program;

use std::fs;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use runner::SourceFile;
use tokio::process::Command;

use crate::error::{Error, Place};
use crate::sandbox::{ScratchDirectory, Scratches};
pub use confined::child_esbuild_main;
pub use program::{Esbuild, EsbuildMissing};

const STAGE: &str = "bundle";

/// What the image's compiler calls the two files.
const SCRIPT: &str = "bundle.js";
const MAP: &str = "bundle.js.map";
/// Beside the sources, so that the map names them from the project's root. Where a project has such a file, it is lost.
const OUTPUT: &str = ".lathe-bundle.js";
const OUTPUT_MAP: &str = ".lathe-bundle.js.map";
const PACKAGES: &str = "node_modules/";

/// A hundred times what large tools take.
const WALL_MAX: Duration = Duration::from_secs(30);
/// Of what esbuild complains about, which is the author's own line.
const MESSAGE_CHARACTERS_MAX: usize = 2_000;

const IMPORTABLE: &str = "a tool has its project's files, the packages in its lock file, and no modules of Node.js";

const NO_TOP_LEVEL_AWAIT: &str = "a module cannot `await` outside of a function: what it waits for it would wait for in \
                                  every run; await it in runTool, or in a function that runTool calls";

/// Packages are taken in the form that they have for browsers and workers, which have what a tool has.
const OPTIONS: [&str; 14] = [
    "--bundle",
    "--format=cjs",
    "--platform=browser",
    "--main-fields=browser,module,main",
    "--conditions=worker,browser",
    "--target=es2022",
    "--define:process.env.NODE_ENV=\"production\"",
    "--minify-syntax",
    "--minify-whitespace",
    "--legal-comments=none",
    "--sourcemap=external",
    "--sources-content=false",
    "--log-level=error",
    "--log-limit=1",
];

/// Makes every import of a package one of what is there already.
const APART: [&str; 2] = ["--packages=external", "--banner:js=var require=globalThis[Symbol.for(\"lathe.packages\")];"];

/// Where it runs.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    pub confiner: &'a [String],
    pub scratches: &'a Scratches,
}

/// What is to be one script.
pub struct Sources<'a> {
    pub entry_point: &'a str,
    pub files: Vec<SourceFile>,
    /// Below `node_modules/`.
    pub packages: Vec<SourceFile>,
}

/// Makes the script and its map.
///
/// # Errors
/// What esbuild refuses, with file and line.
pub async fn bundle(esbuild: Option<&Esbuild>, site: Site<'_>, sources: Sources<'_>) -> Result<Vec<SourceFile>, Error> {
    let esbuild = esbuild.ok_or_else(|| refuse("toolchain", EsbuildMissing.to_string(), Place::default()))?;
    if !sources.files.iter().any(|file| file.path == sources.entry_point) {
        let message = "the file is missing: set `entry_point` to the one that exports runTool";
        return Err(refuse("entry-point", message.into(), Place::file(sources.entry_point)));
    }
    let scratch = run(esbuild, site, sources, &[]).await?;
    blocking(move || taken(&scratch)).await
}

/// Runs esbuild over the sources, with more options than usual, and gives the directory with what it made.
async fn run(
    esbuild: &Esbuild,
    site: Site<'_>,
    sources: Sources<'_>,
    more: &[&str],
) -> Result<ScratchDirectory, Error> {
    let entry_point = format!("./{}", sources.entry_point);
    let Sources { files, packages, .. } = sources;
    let scratches = site.scratches.clone();
    let scratch = blocking(move || written(&files, &packages, &scratches)).await?;
    let child = child(site.confiner, esbuild, scratch.path(), &entry_point, more)?;
    let output = tokio::time::timeout(WALL_MAX, async { child.spawn_and_wait().await })
        .await
        .map_err(|_| refuse("time", format!("bundling took longer than {} s", WALL_MAX.as_secs()), Place::default()))?
        .map_err(|error| Error::internal(format!("esbuild does not start: {error}")))?;
    if !output.status.success() {
        return Err(complaint(&String::from_utf8_lossy(&output.stderr)));
    }
    Ok(scratch)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)?.map_err(Error::internal)
}

/// The tree in a directory of its own. Its paths were checked when it was exported, or when a package was unpacked.
fn written(files: &[SourceFile], packages: &[SourceFile], scratches: &Scratches) -> io::Result<ScratchDirectory> {
    let scratch = scratches.make()?;
    let own = files.iter().filter(|file| !file.path.starts_with(PACKAGES) && !file.path.starts_with(OUTPUT));
    for SourceFile { path, contents } in own.chain(packages) {
        let path = scratch.path().join(path);
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(path, contents)?;
    }
    Ok(scratch)
}

fn taken(scratch: &ScratchDirectory) -> io::Result<Vec<SourceFile>> {
    [(OUTPUT, SCRIPT), (OUTPUT_MAP, MAP)]
        .into_iter()
        .map(|(from, to)| Ok(SourceFile { path: to.into(), contents: fs::read(scratch.path().join(from))? }))
        .collect()
}

struct Child(Command);

impl Child {
    async fn spawn_and_wait(mut self) -> io::Result<std::process::Output> {
        self.0.spawn()?.wait_with_output().await
    }
}

/// This program confines itself and becomes esbuild.
fn child(
    confiner: &[String],
    esbuild: &Esbuild,
    scratch: &Path,
    entry_point: &str,
    more: &[&str],
) -> Result<Child, Error> {
    let [program, arguments @ ..] = confiner else {
        return Err(Error::internal("no confining program is configured"));
    };
    let mut child = Command::new(program);
    child.args(arguments).arg(esbuild.path()).arg("--").arg(entry_point).args(OPTIONS).args(more);
    child.arg(format!("--outfile={OUTPUT}")).current_dir(scratch);
    child.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    Ok(Child(child))
}

/// `✘ [ERROR] message`, an empty line, and `    file:line:column:`.
fn complaint(stderr: &str) -> Error {
    let Some((_, told)) = stderr.split_once("[ERROR] ") else {
        tracing::warn!(stderr, "esbuild broke off");
        return refuse("toolchain", format!("esbuild broke off: {}", first(stderr)), Place::default());
    };
    let mut paragraphs = told.split("\n\n");
    let message = first(paragraphs.next().unwrap_or_default());
    let place = paragraphs.next().and_then(|text| place(text.lines().next()?)).unwrap_or_default();
    if message.starts_with("Could not resolve") {
        return refuse("import", format!("{message}; {IMPORTABLE}"), place);
    }
    if message.starts_with("Top-level await") {
        return refuse("top-level-await", NO_TOP_LEVEL_AWAIT.into(), place);
    }
    refuse("syntax", message, place)
}

fn first(text: &str) -> String {
    text.trim().chars().take(MESSAGE_CHARACTERS_MAX).collect()
}

fn place(text: &str) -> Option<Place> {
    let mut parts = text.trim().trim_end_matches(':').rsplitn(3, ':');
    let (_column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    Some(Place::line(file, line.parse().ok()?))
}

fn refuse(check: &str, message: String, place: Place) -> Error {
    Error::failed(STAGE, check, message, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_keeps_its_message_and_its_place() {
        let text = "✘ [ERROR] Expected \";\" but found \"y\"\n\n    src/a b.ts:3:6:\n      3 │ let x y\n        ╵       ^\n\n1 error\n";
        let expected = "bundle failed (syntax): src/a b.ts:3: Expected \";\" but found \"y\"";
        assert_eq!(complaint(text).to_string(), expected);
        let text = "✘ [ERROR] Could not resolve \"fs\"\n\n    index.ts:1:15:\n      1 │ import fs from 'fs'\n";
        assert!(
            complaint(text)
                .to_string()
                .starts_with("bundle failed (import): index.ts:1: Could not resolve \"fs\"; a tool")
        );
        let text = "✘ [ERROR] Top-level await is currently not supported with the \"cjs\" output format\n\n    lib/db.ts:2:0:\n      2 │ await x\n";
        let told = complaint(text).to_string();
        assert!(told.starts_with("bundle failed (top-level-await): lib/db.ts:2: a module cannot `await`"), "{told}");
        assert_eq!(complaint("no Landlock\n").to_string(), "bundle failed (toolchain): esbuild broke off: no Landlock");
        assert!(complaint(&format!("[ERROR] {}", "x".repeat(1 << 20))).to_string().len() < 3_000);
    }
}
