//! The sections of the reference, in its order.

use api_kit::openapi::Tag;

pub(crate) const SIGN_IN: Tag = Tag { position: 0, name: "Sign-in", description: "Exchange an API key for a token." };
pub(crate) const TOOLS: Tag = Tag {
    position: 1,
    name: "Tools",
    description: "A tool is a name under which versions are published. It has a description, tags and variables.",
};
pub(crate) const VERSIONS: Tag = Tag {
    position: 2,
    name: "Versions",
    description: "A version is the tip of a branch, built once. It never changes.",
};
pub(crate) const RUNS: Tag =
    Tag { position: 3, name: "Runs", description: "Run a version, or the tip of a branch, on one to ten inputs." };
pub(crate) const HISTORY: Tag =
    Tag { position: 4, name: "History", description: "The record of every run that began, with its outcome." };
pub(crate) const SOURCE: Tag = Tag {
    position: 5,
    name: "Source",
    description: "The organisation's git repository, and the Python package for authors of tools.",
};
pub(crate) const IDENTITY: Tag = Tag {
    position: 6,
    name: "Users, roles and keys",
    description: "Users, their roles and their API keys. Every user manages their own keys; administrators manage all.",
};
pub(crate) const AGENTS: Tag = Tag {
    position: 7,
    name: "Agents",
    description: "An agent holds tools through assignments. Edits change its draft; a deployment makes the draft the running \
        revision, which never changes.",
};
pub(crate) const LIBRARY: Tag = Tag {
    position: 8,
    name: "Library",
    description: "What users and their agents keep: memories, rules, skills, prompts, artifacts and preferences. Each operation \
        calls the tool of its name, on behalf of the user of the credentials. Responses have `success`, and `data` or \
        `error`.",
};
pub(crate) const SERVICE: Tag =
    Tag { position: 9, name: "Service", description: "Health, the OpenAPI document and the HTTP reference." };
