//! The statements in the source code of the store.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;
use syn::{Attribute, Item, ItemMacro, LitStr, Macro};

use super::expansion::Macros;

/// The first words of complete statements.
const BEGINNINGS: [&str; 9] =
    ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE"];

/// Tables whose rows servers keep in memory.
const KEPT: [&str; 15] = [
    "agent_revisions",
    "agents",
    "api_keys",
    "cancellations",
    "envvars",
    "library_items",
    "library_shares",
    "members",
    "oauth_grants",
    "oauth_tokens",
    "roles",
    "tokens",
    "tools",
    "user_variables",
    "versions",
];

/// Functions that name a change.
const NAMING: [&str; 3] = [".announce(", "announce_revocation(", ".touch("];

/// A statement, and the file that has it.
pub(super) struct Found {
    pub file: String,
    pub text: String,
}

/// Returns all complete statements of the sources in a folder and its folders.
pub(super) fn statements(folder: &Path) -> Vec<Found> {
    let files = files(folder);
    let syntax: Vec<_> = files
        .iter()
        .map(|path| {
            let text = std::fs::read_to_string(path).unwrap();
            syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        })
        .collect();
    let mut definitions = Definitions::default();
    syntax.iter().for_each(|file| definitions.visit_file(file));
    let mut found = Vec::new();
    for (path, syntax) in files.iter().zip(&syntax) {
        let file = path.strip_prefix(folder).unwrap().display().to_string();
        let mut texts = Texts { macros: &definitions.0, found: Vec::new() };
        texts.visit_file(syntax);
        let complete = texts.found.into_iter().filter(|text| is_statement(text));
        found.extend(complete.map(|text| Found { file: file.clone(), text }));
    }
    found
}

/// Returns the files of a folder that write to a table whose rows servers keep in memory, and name no change.
pub(super) fn find_unannounced(folder: &Path) -> BTreeSet<String> {
    let names_changes = |file: &str| {
        let source = std::fs::read_to_string(folder.join(file)).unwrap();
        NAMING.iter().any(|naming| source.contains(naming))
    };
    let changing = statements(folder).into_iter();
    let changing = changing.filter(|found| written_table(&found.text).is_some_and(|table| KEPT.contains(&table)));
    changing.map(|found| found.file).filter(|file| !names_changes(file)).collect()
}

fn written_table(statement: &str) -> Option<&str> {
    let rest = ["INSERT INTO ", "UPDATE ", "DELETE FROM "].iter().find_map(|verb| statement.strip_prefix(verb))?;
    rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = entries
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    found.sort();
    found
}

/// Whether a text is a complete statement: it begins like one, or with a fragment. A part of a statement that is put together
/// ends with a space.
fn is_statement(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let begins = BEGINNINGS.contains(&first.trim_end_matches(';')) || text.starts_with('{');
    begins && !text.ends_with(char::is_whitespace)
}

#[derive(Default)]
struct Definitions(Macros);

impl Visit<'_> for Definitions {
    fn visit_item_macro(&mut self, item: &ItemMacro) {
        self.0.define(item);
    }
}

struct Texts<'a> {
    macros: &'a Macros,
    found: Vec<String>,
}

impl Visit<'_> for Texts<'_> {
    fn visit_item(&mut self, item: &Item) {
        let attributes = match item {
            Item::Mod(module) => &module.attrs,
            Item::Fn(function) => &function.attrs,
            // The bodies of macros are expanded where the macros are called.
            Item::Macro(_) => return,
            _ => &Vec::new(),
        };
        if !attributes.iter().any(is_test) {
            syn::visit::visit_item(self, item);
        }
    }

    /// Comments are attributes.
    fn visit_attribute(&mut self, _: &Attribute) {}

    fn visit_lit_str(&mut self, literal: &LitStr) {
        self.found.push(literal.value());
    }

    /// A statement within a macro that is not expanded here fails the test.
    fn visit_macro(&mut self, call: &Macro) {
        match self.macros.text_of(call) {
            Some(text) => self.found.push(text),
            None => literals(call.tokens.clone(), &mut |text| {
                assert!(!is_statement(&text) || text.starts_with('{'), "a statement in a macro: {text}");
            }),
        }
    }
}

fn literals(tokens: TokenStream, found: &mut impl FnMut(String)) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => literals(group.stream(), found),
            TokenTree::Literal(literal) => {
                if let Ok(text) = syn::parse_str::<LitStr>(&literal.to_string()) {
                    found(text.value());
                }
            }
            _ => {}
        }
    }
}

fn is_test(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Ident>().is_ok_and(|condition| condition == "test")
}
