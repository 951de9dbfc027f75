//! The report of a tool's code about its APIs. The author's code ran in the process that wrote it, so it is no more trusted than
//! a file.

use std::collections::BTreeMap;

use registry::ApiName;
use serde::Deserialize;
use serde_json::Value;

use crate::error::{Error, Location};
use crate::text::cut;

pub const STAGE: &str = "compile";
/// Bytes of a report. The schemas in it may have 256 KiB together.
const REPORT_BYTES_MAX: usize = 1 << 20;

/// The report of the generated module.
#[derive(Debug, Deserialize)]
pub struct ApiReport {
    /// The modules with functions of APIs.
    pub modules: BTreeMap<String, Module>,
    /// The derived schemas of the APIs without a schema file.
    #[serde(default)]
    pub schemas: BTreeMap<ApiName, Value>,
    /// The reason why a function cannot be an API.
    #[serde(default)]
    problem: Option<Problem>,
}

/// A module with functions of APIs.
#[derive(Debug, Deserialize)]
pub struct Module {
    pub file: String,
    /// The names of the exported functions.
    pub functions: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Problem {
    check: String,
    message: String,
    file: String,
}

impl ApiReport {
    /// # Errors
    /// When the text is no report, or is too long.
    pub fn read(text: &str) -> Result<Self, Error> {
        let refuse = |message: String| Error::failed(STAGE, "apis", message);
        if text.len() > REPORT_BYTES_MAX {
            return Err(refuse(format!("the schemas of the APIs have more than {REPORT_BYTES_MAX} bytes")));
        }
        serde_json::from_str(text).map_err(|error| {
            refuse(format!("the code does not name its functions, as `lathe::apis!` does in Rust: {error}"))
        })
    }

    /// # Errors
    /// When a function cannot be an API.
    pub fn check(&self) -> Result<(), Error> {
        let Some(Problem { check, message, file }) = &self.problem else { return Ok(()) };
        Err(Error::failed(STAGE, check, cut(message.clone())).at(Location::file(file)))
    }
}
