//! The introduction of an agent to a client: its name, its instructions, and its abilities besides tools.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use agents::{Catalogue, LibraryFamily, RunningAgent};
use parking_lot::Mutex;

use crate::lists::tool_forms;

/// Introductions of different texts that sessions hold, above which those of ended sessions are forgotten.
const FORGOTTEN_ABOVE: usize = 64;

/// The introduction of an agent. A session keeps it, and nothing else of the agent's revision, which may have megabytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Introduction {
    pub name: String,
    /// The description of the agent, and the instructions of its tools for models.
    pub instructions: String,
    pub has_prompts: bool,
    pub has_resources: bool,
    pub has_skills: bool,
}

impl Introduction {
    /// `tools` are those of the user. The instructions of tools are left out for a call.
    pub fn of(running: &RunningAgent, tools: Option<&Catalogue>, is_call: bool) -> Self {
        let roles = tools.filter(|_| !is_call).map(|tools| tools.system_roles(|_| true)).unwrap_or_default();
        let own = running.agent.description.to_string();
        let has_skills = running.has_family(LibraryFamily::Skills);
        let has_tool_prompts = tools.is_some_and(|tools| !tool_forms::list_prompts(tools).is_empty());
        let has_tool_resources = tools.is_some_and(|tools| !tool_forms::list_resources(tools).is_empty());
        Self {
            name: running.agent.name.to_string(),
            instructions: std::iter::once(own).chain(roles).collect::<Vec<_>>().join("\n\n"),
            has_prompts: has_tool_prompts || running.has_family(LibraryFamily::Prompts),
            has_resources: has_skills || has_tool_resources || running.has_family(LibraryFamily::Artifacts),
            has_skills,
        }
    }
}

/// The introductions of the sessions of a server. Sessions share those that are equal: one may have 64 KiB.
#[derive(Clone, Default)]
pub struct SharedIntroductions(Arc<Mutex<HashMap<u64, Weak<Introduction>>>>);

impl SharedIntroductions {
    /// Returns the introduction of a session, or an equal one that another session has.
    pub fn share(&self, introduction: Introduction) -> Arc<Introduction> {
        use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(&introduction);
        let mut shared = self.0.lock();
        let equal = shared.get(&hash).and_then(Weak::upgrade).filter(|known| **known == introduction);
        if let Some(known) = equal {
            return known;
        }
        if shared.len() >= FORGOTTEN_ABOVE {
            shared.retain(|_, known| known.strong_count() > 0);
        }
        let own = Arc::new(introduction);
        shared.insert(hash, Arc::downgrade(&own));
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_introductions_are_shared_while_a_session_has_them() {
        let shared = SharedIntroductions::default();
        let named = |name: &str| Introduction { name: name.to_owned(), ..Introduction::default() };
        let (one, two, other) = (shared.share(named("a")), shared.share(named("a")), shared.share(named("b")));
        assert!(Arc::ptr_eq(&one, &two) && !Arc::ptr_eq(&one, &other));
        drop((one, two, other));
        for number in 0..4 * FORGOTTEN_ABOVE {
            shared.share(named(&number.to_string()));
        }
        assert!(shared.0.lock().len() <= FORGOTTEN_ABOVE);
    }
}
