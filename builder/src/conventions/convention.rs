//! The conventions of a language's projects.

use registry::Language;

use crate::component::ShippedImage;

/// The project file of a language, and the places of the tool's declarations in it.
#[derive(Debug)]
pub struct Convention {
    pub language: Language,
    pub file: &'static str,
    /// The path of the table with Lathe's keys.
    pub table: &'static [&'static str],
    /// The path of the project's name.
    pub name: &'static [&'static str],
    /// The path of the dependencies: a list of requirements, or a table of them.
    pub dependencies: &'static [&'static str],
    pub entry_point: EntryPoint,
    pub api_functions: ApiFunctions,
    /// The interpreter that runs the language's bundles. `None` when tools are components of their own.
    pub image: Option<ShippedImage>,
}

/// The rules for the name of the code to call.
#[derive(Debug)]
pub struct EntryPoint {
    /// Default names: the first that is a file of the project, otherwise the first of the list.
    pub defaults: &'static [&'static str],
    pub is_valid: fn(&str) -> bool,
    /// The rule in words, for authors.
    pub rule: &'static str,
}

/// The functions that can be APIs of a tool.
#[derive(Debug, Clone, Copy)]
pub enum ApiFunctions {
    /// Functions of modules. With APIs, the entry point of the tool is a module.
    OfModules { default: &'static str, is_valid: fn(&str) -> bool, rule: &'static str },
    /// Functions that the entry file exports.
    OfEntryFile,
}
