//! The sections of the reference, in its order.

use crate::openapi::Tag;

impl Tag {
    pub(crate) const SIGN_IN: Self =
        Self { position: 0, name: "Sign-in", description: "Exchange an API key for a token." };
    pub(crate) const TOOLS: Self = Self {
        position: 1,
        name: "Tools",
        description: "A tool is a name under which versions are published. It has a description, tags and variables.",
    };
    pub(crate) const VERSIONS: Self = Self {
        position: 2,
        name: "Versions",
        description: "A version is the tip of a branch, built once. It never changes.",
    };
    pub(crate) const RUNS: Self =
        Self { position: 3, name: "Runs", description: "Run a version, or the tip of a branch, on one to ten inputs." };
    pub(crate) const HISTORY: Self =
        Self { position: 4, name: "History", description: "The record of every run that began, with its outcome." };
    pub(crate) const SOURCE: Self = Self {
        position: 5,
        name: "Source",
        description: "The organisation's git repository, and the Python package for authors of tools.",
    };
    pub(crate) const IDENTITY: Self = Self {
        position: 6,
        name: "Users, roles and keys",
        description: "Users, their roles and their API keys. Every user manages their own keys; administrators manage all.",
    };
    pub(crate) const AGENTS: Self = Self {
        position: 7,
        name: "Agents",
        description: "An agent holds tools through assignments. Edits change its draft; a deployment makes the draft the running \
            revision, which never changes.",
    };
    pub(crate) const LIBRARY: Self = Self {
        position: 8,
        name: "Library",
        description: "What users and their agents keep: memories, rules, skills, prompts, artifacts and preferences. Each operation \
            calls the tool of its name, on behalf of the user of the credentials. Responses have `success`, and `data` or \
            `error`.",
    };
    pub(crate) const SERVICE: Self =
        Self { position: 9, name: "Service", description: "Health, the OpenAPI document and the HTTP reference." };
}
