//! The catalogues of agents, each for a user.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use registry::{Callable, Error, Permission, Principal, ToolName};
use runner::{NativeTool, NativeTools, Reach};

use super::cache::{CatalogueCache, MadeFrom};
use super::tools::{Catalogue, ListedSource, RUN_TOOL, SEARCH_TOOLS};
use crate::domain::agents::{AgentDraft, Assignment, BuiltInTools, RunningAgent};
use crate::domain::library::LibraryFamily;
use crate::store::AgentStore;

/// The catalogues of the agents of a server. Clones share their cache.
#[derive(Clone)]
pub struct Catalogues {
    store: AgentStore,
    natives: NativeTools,
    /// The names of tools that an agent has besides those of a list: those that find and run tools, and the control tools of a run. A
    /// published tool with such a name gets its family as a prefix, so that each name means one tool in every list.
    reserved: Arc<HashSet<String>>,
    cache: CatalogueCache,
}

impl Catalogues {
    /// No published tool has a reserved name, nor that of a tool that finds or runs others.
    pub(crate) fn new(store: AgentStore, natives: NativeTools, reserved: impl Iterator<Item = &'static str>) -> Self {
        let reserved = reserved.chain([SEARCH_TOOLS, RUN_TOOL]).map(str::to_owned).collect();
        Self { store, natives, reserved: Arc::new(reserved), cache: CatalogueCache::default() }
    }

    /// The names that no published tool has.
    pub(crate) fn reserved_names(&self) -> HashSet<String> {
        HashSet::clone(&self.reserved)
    }

    /// Whether there is a tool of the server with this name that agents can have.
    #[must_use]
    pub fn may_have_native(&self, name: &str) -> bool {
        self.natives.iter().any(|tool| tool.name == name && tool.reach != Reach::Unlisted)
    }

    pub(crate) fn drop_expired(&self) {
        self.cache.drop_expired();
    }

    /// Returns the tools of an agent that a user may call. A tool without a live version that matches is left out.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn catalogue(&self, principal: &Principal, running: Arc<RunningAgent>) -> Result<Arc<Catalogue>, Error> {
        let made_from = MadeFrom::new(principal, &running);
        if let Some(found) = self.cache.get(principal, &made_from) {
            return Ok(found);
        }
        let made = Arc::new(self.build_catalogue(principal, running).await?);
        self.cache.keep(principal, made_from, made.clone());
        Ok(made)
    }

    /// Returns the tools of an agent with other families of the Library than those of its revision. Families that the revision
    /// disables stay disabled, and confirmations that it asks for stay.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) async fn catalogue_with(
        &self,
        principal: &Principal,
        running: Arc<RunningAgent>,
        built_in_tools: Option<&BuiltInTools>,
    ) -> Result<Arc<Catalogue>, Error> {
        let Some(built_in_tools) = built_in_tools else { return self.catalogue(principal, running).await };
        let mut with_others = RunningAgent::clone(&running);
        let own = &running.revision.content.built_in_tools;
        with_others.revision.content.built_in_tools = built_in_tools.clone().as_strict_as(own);
        Ok(Arc::new(self.build_catalogue(principal, Arc::new(with_others)).await?))
    }

    async fn build_catalogue(&self, principal: &Principal, running: Arc<RunningAgent>) -> Result<Catalogue, Error> {
        let natives = self.natives.iter().filter(|tool| has(&running, tool));
        let natives = natives.filter(|tool| tool.may_be_called_by(principal)).cloned();
        let mut sources: Vec<_> = natives.map(ListedSource::Native).collect();
        let published = self.list_published(principal, running.revision.content.assignments.iter()).await?;
        let (fitting, left_out) = keep_within_bound(published);
        sources.extend(fitting);
        let mut catalogue = Catalogue::of(running, sources, self.reserved_names());
        catalogue.left_out = left_out;
        Ok(catalogue)
    }

    /// Returns the highest live versions that assignments accept, of tools that the user may invoke.
    pub(crate) async fn list_published(
        &self,
        principal: &Principal,
        assignments: impl Iterator<Item = &Assignment>,
    ) -> Result<Vec<ListedSource>, Error> {
        let mut sources = Vec::new();
        for assignment in assignments {
            let (tool, constraint) = (&assignment.tool_id, &assignment.version_constraint);
            let callable = self.store.registry().versions().callable(&principal.organization, tool, constraint).await?;
            let callable = callable.filter(|callable| principal.may_for(Permission::InvokeTool, &callable.tool));
            sources.extend(callable.into_iter().flat_map(|callable| list_sources(&callable, assignment)));
        }
        Ok(sources)
    }
}

/// Leaves out versions with whose schemas those of all tools exceed the bound of a deployment: they were published after it. Tools that
/// were created earlier come first. Returns the other ones, and the names of the tools that are left out.
fn keep_within_bound(published: Vec<ListedSource>) -> (Vec<ListedSource>, Vec<ToolName>) {
    let (mut left, mut decided) = (AgentDraft::SCHEMAS_BYTES_MAX, HashMap::new());
    let mut left_out = Vec::new();
    let mut fits = |source: &ListedSource| {
        let ListedSource::Published { callable, .. } = source else { return true };
        *decided.entry(Arc::as_ptr(callable)).or_insert_with(|| {
            let rest = left.checked_sub(callable.version.schema_bytes());
            match rest {
                Some(rest) => left = rest,
                None => left_out.push(callable.tool.name.clone()),
            }
            rest.is_some()
        })
    };
    let fitting = published.into_iter().filter(|source| fits(source)).collect();
    (fitting, left_out)
}

/// The version of a tool as agents list it: once, or once for each API.
fn list_sources(callable: &Arc<Callable>, assignment: &Assignment) -> Vec<ListedSource> {
    let assignment = Arc::new(assignment.clone());
    let source = |api| ListedSource::Published { callable: callable.clone(), assignment: assignment.clone(), api };
    match callable.version.settings.apis.keys() {
        names if names.len() == 0 => vec![source(None)],
        names => names.map(|name| source(Some(name.clone()))).collect(),
    }
}

/// Whether an agent has a native tool.
fn has(running: &RunningAgent, tool: &NativeTool) -> bool {
    match tool.reach {
        Reach::Everywhere => true,
        Reach::Unlisted => false,
        Reach::Family => tool.family.parse::<LibraryFamily>().is_ok_and(|family| running.has_family(family)),
    }
}
