//! Which file of a project declares the tool, and where in it.

use std::collections::BTreeMap;

use registry::Language;

use super::STAGE;
use super::node::{self, Malformed, Node};
use crate::error::{Error, Place};

/// What a language's projects have by convention.
#[derive(Debug)]
pub struct Convention {
    pub language: Language,
    pub file: &'static str,
    parse: fn(&str) -> Result<Node, Malformed>,
    /// The path of the table with Lathe's keys.
    pub table: &'static [&'static str],
    pub name: &'static [&'static str],
    /// A list of requirements, or a table of them.
    pub dependencies: &'static [&'static str],
    pub entry_point: EntryPoint,
}

/// What names the code to call.
#[derive(Debug)]
pub struct EntryPoint {
    /// The first of these that is a file of the project, or else the first of all.
    pub defaults: &'static [&'static str],
    pub is_valid: fn(&str) -> bool,
    /// What an entry point must be, for the author.
    pub rule: &'static str,
}

const CONVENTIONS: [Convention; 3] = [PYTHON, JAVASCRIPT, RUST];

const PYTHON: Convention = Convention {
    language: Language::Python,
    file: "pyproject.toml",
    parse: node::from_toml,
    table: &["tool", "lathe"],
    name: &["project", "name"],
    dependencies: &["project", "dependencies"],
    entry_point: EntryPoint {
        defaults: &["tool:run_tool"],
        is_valid: is_python_object,
        rule: "must be `package.module:function`, such as `tool:run_tool`",
    },
};

const JAVASCRIPT: Convention = Convention {
    language: Language::JavaScript,
    file: "package.json",
    parse: node::from_json,
    table: &["lathe"],
    name: &["name"],
    dependencies: &["dependencies"],
    entry_point: EntryPoint {
        defaults: &["index.ts", "index.js", "src/index.ts", "src/index.js"],
        is_valid: is_script,
        rule: "must be a file of the project that exports runTool, such as `src/index.ts`",
    },
};

const RUST: Convention = Convention {
    language: Language::Rust,
    file: "Cargo.toml",
    parse: node::from_toml,
    table: &["package", "metadata", "lathe"],
    name: &["package", "name"],
    dependencies: &["dependencies"],
    entry_point: EntryPoint {
        // What every component exports.
        defaults: &["run-tool"],
        is_valid: |_| false,
        rule: "is not set in Rust: `lathe::tool!(…)` in src/lib.rs names the function",
    },
};

/// The project's one file, and what is in it. With several, it is the one with a table for Lathe.
///
/// # Errors
/// When there is none, when it is malformed, or when several could be meant.
pub fn find(files: &BTreeMap<String, Vec<u8>>) -> Result<(&'static Convention, Node), Error> {
    let parsed = |convention: &'static Convention| {
        files.get(convention.file).map(|bytes| convention.read(bytes).map(|node| (convention, node)))
    };
    let mut found = CONVENTIONS.iter().filter_map(parsed).collect::<Result<Vec<_>, _>>()?;
    if found.len() > 1 {
        found.retain(|(convention, node)| node.at(convention.table).is_some());
    }
    if found.len() > 1 {
        let names: Vec<_> = found.iter().map(|(convention, _)| convention.file).collect();
        return Err(refuse(format!("{} both declare a tool; a project is one tool", names.join(" and "))));
    }
    found.pop().ok_or_else(|| {
        let names: Vec<_> = CONVENTIONS.iter().map(|convention| convention.file).collect();
        refuse(format!("the project has no {}; `lathe tool new` makes one", names.join(" or ")))
    })
}

impl Convention {
    fn read(&self, bytes: &[u8]) -> Result<Node, Error> {
        let text = std::str::from_utf8(bytes)
            .map_err(|_| Error::failed(STAGE, "utf-8", "the file is not UTF-8", Place::file(self.file)))?;
        (self.parse)(text).map_err(|Malformed { message, line }| {
            Error::failed(STAGE, "syntax", message, Place { line, ..Place::file(self.file) })
        })
    }
}

fn refuse(message: String) -> Error {
    Error::failed(STAGE, "manifest", message, Place::file(CONVENTIONS[0].file))
}

fn is_python_object(text: &str) -> bool {
    let dotted = |text: &str| text.split('.').all(is_identifier);
    text.split_once(':').is_some_and(|(module, function)| dotted(module) && dotted(function))
}

fn is_identifier(part: &str) -> bool {
    let mut characters = part.chars();
    characters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|next| next.is_alphanumeric() || next == '_')
}

fn is_script(text: &str) -> bool {
    let inside = text.split('/').all(|part| !matches!(part, "" | "." | ".."));
    inside && [".ts", ".mts", ".tsx", ".js", ".mjs", ".jsx"].iter().any(|ending| text.ends_with(ending))
}
