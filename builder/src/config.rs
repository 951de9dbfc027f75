//! What an operator may set of the builder.
//!
//! | field | meaning | default |
//! |---|---|---|
//! | `bundler` | program and arguments of the bundling child | this binary |
//! | `cache_dir` | downloaded packages, by digest, and snapshots of images with packages | `<data>/cache` |
//! | `bubblewrap` | the program that confines builds in which an author's code runs natively | none: such builds are refused |
//! | `scratch_dir` | what running builds have in hand; emptied at the start | `<data>/scratch` |
//! | `confiner` | program and arguments of the child that becomes esbuild | this binary |
//! | `esbuild` | bundles JavaScript and TypeScript | none: they are refused |
//! | `esbuild_digest` | the only one that may bundle | none: any |
//! | `npm_registry` | URL of an npm registry | none: dependencies are refused |
//! | `python_index` | URL of a package index with the simple API | none: dependencies are refused |
//! | `rust_toolchain` | the directory of a Rust toolchain, like those of rustup | none: tools in Rust are refused |
//! | `rust_toolchain_digest` | the only one that may compile | none: any |
//! | `crate_index` | `crates.io`, or the URL of a sparse index of crates | none: dependencies are refused |
//! | `workers` | where build workers come in, which then make what runs | none: it is made in this process |
//! | `builds` | builds at once and builds that wait, in the process and of one organisation | 2 and 16, of one 2 and 12 |
//! | `limits_max` | no version may ask for more | see `runner::Limits` |

use std::path::PathBuf;

use registry::Digest;
use runner::{Bounds, Limits};

use crate::steps::esbuild::Esbuild;
use crate::workers::Place;

/// Each holds a child of up to a gigabyte and a core.
const PARALLEL_BUILDS_MAX: usize = 2;
/// A build takes a second or a few; who comes later would not get a turn in the time for which one is waited.
const QUEUED_BUILDS_MAX: usize = 16;

#[derive(Debug, Clone)]
pub struct Config {
    pub bundler: Vec<String>,
    pub confiner: Vec<String>,
    pub esbuild: Option<Esbuild>,
    pub esbuild_digest: Option<Digest>,
    pub npm_registry: Option<String>,
    pub cache_dir: PathBuf,
    pub bubblewrap: Option<PathBuf>,
    pub scratch_dir: PathBuf,
    pub python_index: Option<String>,
    pub rust_toolchain: Option<PathBuf>,
    pub rust_toolchain_digest: Option<Digest>,
    pub crate_index: Option<String>,
    pub workers: Option<Place>,
    pub builds: Bounds,
    pub limits_max: Limits,
}

impl Config {
    /// The defaults, with this program as its own bundler.
    #[must_use]
    pub fn new(cache_dir: PathBuf, scratch_dir: PathBuf, program: &str) -> Self {
        let own = |command: &str| vec![program.into(), "internal".into(), command.into()];
        Self {
            bundler: own("bundle"),
            confiner: own("esbuild"),
            esbuild: None,
            esbuild_digest: None,
            npm_registry: None,
            cache_dir,
            bubblewrap: None,
            scratch_dir,
            python_index: None,
            rust_toolchain: None,
            rust_toolchain_digest: None,
            crate_index: None,
            workers: None,
            builds: Bounds::shared(PARALLEL_BUILDS_MAX, QUEUED_BUILDS_MAX),
            limits_max: Limits::MAX,
        }
    }
}
