//! The tools that a user may call through an agent.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use registry::{Assignment, Callable, Digest, RunningAgent};
use serde_json::{Map, Value};

use crate::native::NativeTool;

/// The family of published tools. It becomes a prefix of a tool whose name is that of another tool.
const PUBLISHED: &str = "tools";
/// Characters of a name for models.
const NAME_CHARACTERS_MAX: usize = 64;
/// Characters that stay of a longer name, before `_` and the beginning of its digest.
const NAME_CHARACTERS_KEPT: usize = 55;

/// The tools of the running revision of an agent that one user may call, in the order of their families and names.
#[derive(Debug)]
pub struct Catalogue {
    pub running: Arc<RunningAgent>,
    pub tools: Vec<ListedTool>,
    digest: OnceLock<Digest>,
}

/// A tool of an agent.
#[derive(Debug, Clone)]
pub struct ListedTool {
    /// The name for models: at most 64 characters of `[a-zA-Z0-9_-]`, unique in the catalogue.
    pub name: String,
    pub source: ListedSource,
    /// The input schema, once it was asked for.
    input: OnceLock<Arc<Map<String, Value>>>,
}

/// The version of a tool in a catalogue.
#[derive(Debug, Clone)]
pub enum ListedSource {
    Native(Arc<NativeTool>),
    /// The highest live version that the assignment accepts.
    Published {
        callable: Arc<Callable>,
        assignment: Arc<Assignment>,
    },
}

impl Catalogue {
    /// Names the tools of an agent.
    pub(super) fn of(running: Arc<RunningAgent>, sources: Vec<ListedSource>) -> Self {
        Self { running, tools: named(sources, HashSet::new()), digest: OnceLock::new() }
    }

    #[must_use]
    pub fn find(&self, name: &str) -> Option<&ListedTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The families of the tools, each once.
    #[must_use]
    pub fn families(&self) -> Vec<&str> {
        let mut families: Vec<_> = self.tools.iter().map(ListedTool::family).collect();
        families.dedup();
        families
    }

    /// Returns a digest of everything that a list of the tools shows. It changes with the revision, with the versions and with the
    /// rights of the user.
    #[must_use]
    pub fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| self.made_digest())
    }

    fn made_digest(&self) -> Digest {
        let RunningAgent { agent, revision } = &*self.running;
        let head = format!("{} {}", agent.id, revision.deployment.number);
        let lines = self.tools.iter().map(|tool| match &tool.source {
            ListedSource::Native(_) => tool.name.clone(),
            ListedSource::Published { callable, .. } => {
                format!("{} {} {}", tool.name, callable.version.id, callable.tool.updated_at.as_milliseconds())
            }
        });
        let text = std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n");
        Digest::of(text.as_bytes())
    }
}

impl ListedTool {
    #[must_use]
    pub const fn new(name: String, source: ListedSource) -> Self {
        Self { name, source, input: OnceLock::new() }
    }

    #[must_use]
    pub fn family(&self) -> &str {
        self.source.family_and_name().0
    }

    /// Whether the result is an object that tells success from failure, also for a failure.
    #[must_use]
    pub fn has_envelope(&self) -> bool {
        matches!(&self.source, ListedSource::Native(tool) if tool.has_envelope())
    }

    /// The description for models: that of the tool, with the instruction of the assignment.
    #[must_use]
    pub fn description(&self) -> String {
        match &self.source {
            ListedSource::Native(tool) => tool.description.to_owned(),
            ListedSource::Published { callable, assignment } => {
                let description = callable.tool.description.as_str();
                let instruction = assignment.additional_instruction.as_str();
                let has_instruction = !instruction.trim().is_empty();
                if has_instruction { format!("{description}\n\n{instruction}") } else { description.to_owned() }
            }
        }
    }

    #[must_use]
    pub fn input_schema(&self) -> &Value {
        match &self.source {
            ListedSource::Native(tool) => &tool.input_schema,
            ListedSource::Published { callable, .. } => &callable.version.input_schema,
        }
    }

    /// The input schema as an object, which all clones of a catalogue share.
    #[must_use]
    pub fn input_object(&self) -> Arc<Map<String, Value>> {
        self.input.get_or_init(|| Arc::new(self.input_schema().as_object().cloned().unwrap_or_default())).clone()
    }

    /// The schema of outputs, if the version has one.
    #[must_use]
    pub fn output_schema(&self) -> Option<&Value> {
        match &self.source {
            ListedSource::Native(tool) => Some(&tool.output_schema),
            ListedSource::Published { callable, .. } => callable.version.settings.output_schema.as_ref(),
        }
    }
}

impl ListedSource {
    fn family_and_name(&self) -> (&str, &str) {
        match self {
            Self::Native(tool) => (tool.family, &tool.name),
            Self::Published { callable, .. } => (PUBLISHED, callable.tool.name.as_str()),
        }
    }
}

/// Gives each tool a name of its own that is not taken, in the order of families and names.
pub(super) fn named(mut sources: Vec<ListedSource>, mut taken: HashSet<String>) -> Vec<ListedTool> {
    sources.sort_by(|a, b| a.family_and_name().cmp(&b.family_and_name()));
    let named = sources.into_iter().map(|source| {
        let (family, name) = source.family_and_name();
        let own = match taken.contains(name) {
            true => bounded(format!("{family}_{name}")),
            false => bounded(name.to_owned()),
        };
        taken.insert(own.clone());
        ListedTool::new(own, source)
    });
    named.collect()
}

/// Replaces the end of a name that is too long by the beginning of its digest.
fn bounded(name: String) -> String {
    if name.len() <= NAME_CHARACTERS_MAX {
        return name;
    }
    let digest = Digest::of(name.as_bytes()).to_hex();
    format!("{}_{}", &name[..NAME_CHARACTERS_KEPT], &digest[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_ends_with_its_digest() {
        let name = "a".repeat(65);
        let short = bounded(name.clone());
        assert_eq!((short.len(), &short[..56]), (64, format!("{}_", "a".repeat(55)).as_str()));
        assert_ne!(short, bounded("a".repeat(66)));
        assert_eq!(bounded("a".repeat(64)), "a".repeat(64));
    }
}
