//! What an operator may set of the builder.
//!
//! | field | meaning | default |
//! |---|---|---|
//! | `bundler` | program and arguments of the bundling child | this binary |
//! | `cache_dir` | downloaded packages, by digest | `<data>/cache` |
//! | `python_index` | URL of a package index with the simple API | none: dependencies are refused |
//! | `limits_max` | no version may ask for more | see `runner::Limits` |

use std::path::PathBuf;

use runner::Limits;

#[derive(Debug, Clone)]
pub struct Config {
    pub bundler: Vec<String>,
    pub cache_dir: PathBuf,
    pub python_index: Option<String>,
    pub limits_max: Limits,
}

impl Config {
    /// The defaults, with this program as its own bundler.
    #[must_use]
    pub fn new(cache_dir: PathBuf, program: &str) -> Self {
        Self {
            bundler: vec![program.into(), "internal".into(), "bundle".into()],
            cache_dir,
            python_index: None,
            limits_max: Limits::MAX,
        }
    }
}
