//! The URIs of items of the Library that are resources.

use registry::LibraryItemId;
use rmcp::ErrorData;
use serde_json::json;

/// The beginning of the URI of an artifact, before its id.
pub const ARTIFACTS: &str = "artifact://";
/// The beginning of the URI of a skill, before its id.
const SKILLS: &str = "skill://";
/// The file of a skill.
const SKILL_FILE: &str = "SKILL.md";

/// The id in the URI of an artifact.
pub fn parse_artifact_id(uri: &str) -> Option<LibraryItemId> {
    LibraryItemId::parse(uri.strip_prefix(ARTIFACTS)?).ok()
}

/// The id in the URI of a skill's file. The name in it is compared later.
pub fn parse_skill_id(uri: &str) -> Option<LibraryItemId> {
    let (id, path) = uri.strip_prefix(SKILLS)?.split_once('/')?;
    let is_file = path.split_once('/').is_some_and(|(_, file)| file == SKILL_FILE);
    LibraryItemId::parse(id).ok().filter(|_| is_file)
}

pub fn build_skill_uri(id: &LibraryItemId, name: &str) -> String {
    format!("{SKILLS}{id}/{name}/{SKILL_FILE}")
}

/// Whether a URI is one that only the server gives.
pub fn is_of_library(uri: &str) -> bool {
    uri.starts_with(ARTIFACTS) || uri.starts_with(SKILLS)
}

/// Refuses the URI of a resource that the user does not see.
pub fn refuse_uri(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("Resource not found", Some(json!({"uri": uri})))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_uri_of_a_skill_has_its_id_and_its_name() {
        let id = LibraryItemId::parse("6b087fb88c8b71fedaf8732b").unwrap();
        let uri = build_skill_uri(&id, "refunds");
        assert_eq!(
            (uri.as_str(), parse_skill_id(&uri)),
            ("skill://6b087fb88c8b71fedaf8732b/refunds/SKILL.md", Some(id))
        );
        for other in [
            "skill://refunds/SKILL.md",
            "skill://6b087fb88c8b71fedaf8732b/refunds/a/SKILL.md",
            "skill://6b087fb88c8b71fedaf8732b/refunds",
        ] {
            assert_eq!(parse_skill_id(other), None, "{other}");
        }
    }
}
