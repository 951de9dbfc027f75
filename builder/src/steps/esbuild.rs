//! Bundles JavaScript and TypeScript into one script and its source map with esbuild, which parses code and runs none
//! of it.

mod confined;
mod node;
mod package;
pub mod packages;
mod program;

use std::fs;
use std::io;
use std::time::Duration;

use runner::SourceFile;

use crate::blocking::blocking;
use crate::error::{Error, Location};
use crate::io_error::at;
use crate::sandbox::{ScratchDirectory, Scratches};
use crate::steps::child;
pub use confined::child_esbuild_main;
pub use package::{EsbuildPackage, PINNED_ESBUILD};
pub use program::{Esbuild, EsbuildSource};

const STAGE: &str = "bundle";

/// The names that the image's compiler expects for the two files.
const SCRIPT: &str = "bundle.js";
const MAP: &str = "bundle.js.map";
/// The output file, which lies beside the sources so that the source map has paths from the project's root. A project's
/// file of the same name is overwritten.
const OUTPUT: &str = ".lathe-bundle.js";
const OUTPUT_MAP: &str = ".lathe-bundle.js.map";
const PACKAGES: &str = "node_modules/";

/// The work of the child, in messages.
const BUNDLING: &str = "bundling with esbuild";
/// Time for esbuild: a hundred times what large tools need.
const WALL_MAX: Duration = Duration::from_secs(30);
/// Bytes of esbuild's standard output, to which it writes nothing when it bundles into a file.
const STDOUT_BYTES_MAX: u64 = 64 << 10;
/// Characters of esbuild's message, which quotes the author's own line.
const MESSAGE_CHARACTERS_MAX: usize = 2_000;

const IMPORTABLE: &str = "a tool can import its project's files, the packages in its lock file, and modules of Node.js";

/// The next step on a server without esbuild.
const INSTALL: &str = "install it with `npm install --global esbuild`, or give `lathe tool test` or `lathe serve` the \
                       program with --esbuild or LATHE_ESBUILD, or an npm registry that has it with --npm-registry or \
                       LATHE_NPM_REGISTRY, for example https://npm.example";

const NO_TOP_LEVEL_AWAIT: &str = "a module cannot `await` outside of a function: what it waits for it would wait for in \
                                  every run; await it in runTool, or in a function that runTool calls";

/// Options of every run. Packages are used in their build for browsers and workers, whose environment is like that of a
/// tool. Regular expressions with a flag u, v or y become calls of `RegExp`, which the image replaces.
const OPTIONS: [&str; 18] = [
    "--bundle",
    "--format=cjs",
    "--platform=browser",
    "--main-fields=browser,module,main",
    "--conditions=worker,browser",
    "--target=es2022",
    "--supported:regexp-unicode-property-escapes=false",
    "--supported:regexp-sticky-and-unicode-flags=false",
    "--supported:regexp-set-notation=false",
    "--define:process.env.NODE_ENV=\"production\"",
    "--define:process.version=\"\"",
    "--minify-syntax",
    "--minify-whitespace",
    "--legal-comments=none",
    "--sourcemap=external",
    "--sources-content=false",
    "--log-level=error",
    "--log-limit=1",
];

/// The option that defines `require` for code that looks whether it is a module of CommonJS, and for names that are known
/// at run time only. A footer leaves `"use strict"` at the beginning of the script.
const REQUIRE: &str = "--footer:js=function require(name){throw Object.assign(new Error(\"Cannot find module '\"+name+\"'\"),\
                       {code:\"MODULE_NOT_FOUND\"})}";

/// Options that leave packages out of the script and resolve imports to the packages in memory.
const APART: [&str; 2] = [
    "--packages=external",
    "--footer:js=function require(name){return globalThis[Symbol.for(\"lathe.packages\")](name)}",
];

/// Esbuild, the program that confines it, and the directories that it runs in.
#[derive(Clone, Copy)]
pub struct Bundler<'a> {
    pub esbuild: &'a Esbuild,
    pub confiner: &'a [String],
    pub scratches: &'a Scratches,
}

/// The files to bundle into one script.
pub struct Sources<'a> {
    pub entry_point: &'a str,
    pub files: Vec<SourceFile>,
    /// The files below `node_modules/`.
    pub packages: Vec<SourceFile>,
}

/// The error of a server without esbuild.
pub fn refuse_missing() -> Error {
    refuse(
        "toolchain",
        format!("there is no esbuild, which JavaScript and TypeScript need: {INSTALL}"),
        Location::default(),
    )
}

/// Creates the script and its source map.
///
/// # Errors
/// When esbuild refuses the sources, with file and line.
pub async fn bundle(bundler: Bundler<'_>, sources: Sources<'_>) -> Result<Vec<SourceFile>, Error> {
    if !sources.files.iter().any(|file| file.path == sources.entry_point) {
        let message = "the file is missing: set `entry_point` to the one that exports runTool";
        return Err(refuse("entry-point", message.into(), Location::file(sources.entry_point)));
    }
    let scratch = run(bundler, sources, &[REQUIRE]).await?;
    blocking(move || take_outputs(&scratch)).await?.map_err(Error::internal)
}

/// Runs esbuild on the sources with additional options, and returns the directory with its output.
async fn run(bundler: Bundler<'_>, sources: Sources<'_>, more: &[&str]) -> Result<ScratchDirectory, Error> {
    let entry_point = format!("./{}", sources.entry_point);
    let Sources { files, mut packages, .. } = sources;
    let aliases = node::list_aliases(&packages);
    packages.extend(node::build_files(&packages));
    let scratches = bundler.scratches.clone();
    let scratch = blocking(move || write_sources(&files, &packages, &scratches)).await?.map_err(Error::internal)?;
    // The child confines itself and then executes esbuild.
    let mut child = child::build_command(bundler.confiner)?;
    child.arg(bundler.esbuild.path()).arg("--");
    child.arg(&entry_point).args(OPTIONS).args(aliases).args(more).arg(format!("--outfile={OUTPUT}"));
    child.current_dir(scratch.path());
    let ended = tokio::time::timeout(WALL_MAX, child::exchange(child, Vec::new(), STDOUT_BYTES_MAX))
        .await
        .map_err(|_| {
            refuse(
                "time",
                format!(
                    "bundling took longer than {} s, which is the limit; use fewer or smaller packages",
                    WALL_MAX.as_secs()
                ),
                Location::default(),
            )
        })?
        .map_err(|error| child::lost(BUNDLING, error.to_string()))?;
    ended.require_own_end(BUNDLING)?;
    if !ended.status.success() {
        return Err(explain_stderr(&ended.errors));
    }
    Ok(scratch)
}

/// Writes the sources to a new directory. Their paths were checked when the tree was exported or a package was
/// unpacked.
fn write_sources(files: &[SourceFile], packages: &[SourceFile], scratches: &Scratches) -> io::Result<ScratchDirectory> {
    let scratch = scratches.make()?;
    let own = files.iter().filter(|file| !file.path.starts_with(PACKAGES) && !file.path.starts_with(OUTPUT));
    for SourceFile { path, contents } in own.chain(packages) {
        let path = scratch.path().join(path);
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(at(directory))?;
        }
        fs::write(&path, contents).map_err(at(&path))?;
    }
    Ok(scratch)
}

fn take_outputs(scratch: &ScratchDirectory) -> io::Result<Vec<SourceFile>> {
    [(OUTPUT, SCRIPT), (OUTPUT_MAP, MAP)]
        .into_iter()
        .map(|(from, to)| {
            let path = scratch.path().join(from);
            Ok(SourceFile { path: to.into(), contents: fs::read(&path).map_err(at(&path))? })
        })
        .collect()
}

/// Parses esbuild's output: `✘ [ERROR] message`, an empty line, and `    file:line:column:`.
pub fn explain_stderr(stderr: &str) -> Error {
    let Some((_, told)) = stderr.split_once("[ERROR] ") else {
        tracing::warn!(stderr, "esbuild failed");
        return refuse("toolchain", format!("esbuild failed: {}", cut_message(stderr)), Location::default());
    };
    let mut paragraphs = told.split("\n\n");
    let message = cut_message(paragraphs.next().unwrap_or_default());
    let location = paragraphs.next().and_then(|text| parse_location(text.lines().next()?)).unwrap_or_default();
    if message.starts_with("Could not resolve") {
        return refuse("import", format!("{message}; {IMPORTABLE}"), location);
    }
    if message.starts_with("Top-level await") {
        return refuse("top-level-await", NO_TOP_LEVEL_AWAIT.into(), location);
    }
    refuse("syntax", message, location)
}

fn cut_message(text: &str) -> String {
    text.trim().chars().take(MESSAGE_CHARACTERS_MAX).collect()
}

fn parse_location(text: &str) -> Option<Location> {
    let mut parts = text.trim().trim_end_matches(':').rsplitn(3, ':');
    let (_column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    Some(Location::line(file, line.parse().ok()?))
}

fn refuse(check: &str, message: String, location: Location) -> Error {
    Error::failed(STAGE, check, message).at(location)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_keeps_its_message_and_its_place() {
        let text = "✘ [ERROR] Expected \";\" but found \"y\"\n\n    src/a b.ts:3:6:\n      3 │ let x y\n        ╵       ^\n\n1 error\n";
        let expected = "bundle failed (syntax): src/a b.ts:3: Expected \";\" but found \"y\"";
        assert_eq!(explain_stderr(text).to_string(), expected);
        let text = "✘ [ERROR] Could not resolve \"fs\"\n\n    index.ts:1:15:\n      1 │ import fs from 'fs'\n";
        assert!(
            explain_stderr(text)
                .to_string()
                .starts_with("bundle failed (import): index.ts:1: Could not resolve \"fs\"; a tool")
        );
        let text = "✘ [ERROR] Top-level await is currently not supported with the \"cjs\" output format\n\n    lib/db.ts:2:0:\n      2 │ await x\n";
        let told = explain_stderr(text).to_string();
        assert!(told.starts_with("bundle failed (top-level-await): lib/db.ts:2: a module cannot `await`"), "{told}");
        assert_eq!(
            explain_stderr("no Landlock\n").to_string(),
            "bundle failed (toolchain): esbuild failed: no Landlock"
        );
        assert!(explain_stderr(&format!("[ERROR] {}", "x".repeat(1 << 20))).to_string().len() < 3_000);
    }
}
