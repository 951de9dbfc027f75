//! Finds the file of a project that declares the tool.

use super::fields::STAGE;
use super::node::Node;
use crate::conventions::{CONVENTIONS, Convention};
use crate::error::{Error, Location};
use crate::steps::documents::Documents;

/// The project file and its contents. Of several project files, the one with a table for Lathe is used.
///
/// # Errors
/// When there is no project file, when it is malformed, or when several declare a tool.
pub fn find(documents: &Documents) -> Result<(&'static Convention, &Node), Error> {
    let parsed = |convention: &'static Convention| {
        documents.get(convention.file, STAGE).transpose().map(|node| node.map(|node| (convention, node)))
    };
    let mut found = CONVENTIONS.iter().filter_map(parsed).collect::<Result<Vec<_>, _>>()?;
    if found.len() > 1 {
        found.retain(|(convention, node)| node.find(convention.table).is_some());
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

fn refuse(message: String) -> Error {
    Error::failed(STAGE, "manifest", message).at(Location::file(CONVENTIONS[0].file))
}
