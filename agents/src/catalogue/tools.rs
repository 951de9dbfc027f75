//! The tools that a user may call through an agent.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use registry::{
    ApiName, Callable, Digest, HeapBytes, HumanIntervention, Intervention, SchemaText, ToolApi, ToolName, allocated,
    did_you_mean,
};
use runner::NativeTool;
use serde_json::Value;

use super::names::choose_name;
use super::search_index::SearchIndex;
use crate::client_schema::{is_shaped, shape_for_models, shape_input, shape_output};
use crate::domain::agents::{Assignment, RunningAgent};

/// The tool that finds tools of an agent, and the one that calls them. No other tool has these names.
pub const SEARCH_TOOLS: &str = "search_tools";
pub const RUN_TOOL: &str = "run_tool";

/// Bytes of the instructions of all tools with APIs of an agent. A model reads them before each request.
const SYSTEM_ROLES_BYTES_MAX: usize = 64 << 10;
/// Tools that a list names of those whose instructions are left out.
const LEFT_OUT_NAMED_MAX: usize = 10;

/// The family of published tools. It becomes a prefix of a tool whose name is that of another tool.
const PUBLISHED: &str = "tools";
/// The tools of the running revision of an agent that one user may call, in the order of their families and names.
#[derive(Debug)]
pub struct Catalogue {
    pub running: Arc<RunningAgent>,
    pub tools: Vec<ListedTool>,
    /// Tools that are left out, because the schemas of all tools would exceed [`crate::domain::agents::AgentDraft::SCHEMAS_BYTES_MAX`].
    pub left_out: Vec<ToolName>,
    digest: OnceLock<Digest>,
    /// Made by the first search.
    pub(crate) search_index: OnceLock<SearchIndex>,
}

/// A tool of an agent.
#[derive(Debug, Clone)]
pub struct ListedTool {
    /// The name for models: at most 64 characters of `[a-zA-Z0-9_-]`, unique in the catalogue.
    pub name: String,
    pub source: ListedSource,
}

/// The version of a tool in a catalogue.
#[derive(Debug, Clone)]
pub enum ListedSource {
    Native(Arc<NativeTool>),
    /// The highest live version that the assignment accepts.
    Published {
        callable: Arc<Callable>,
        assignment: Arc<Assignment>,
        /// The API of the version. `None` for a tool of one function.
        api: Option<ApiName>,
    },
}

impl Catalogue {
    /// Names the tools of an agent. No tool gets a reserved name.
    pub(super) fn of(running: Arc<RunningAgent>, sources: Vec<ListedSource>, reserved: HashSet<String>) -> Self {
        Self {
            running,
            tools: name_tools(sources, reserved),
            left_out: Vec::new(),
            digest: OnceLock::new(),
            search_index: OnceLock::new(),
        }
    }

    #[must_use]
    pub fn find(&self, name: &str) -> Option<&ListedTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Returns `; did you mean …?` for the end of a message about a tool that does not exist, or an empty text.
    #[must_use]
    pub fn suggest(&self, name: &str) -> String {
        did_you_mean(name, self.tools.iter().map(|tool| tool.name.as_str()))
    }

    /// The families of the tools, each once.
    #[must_use]
    pub fn families(&self) -> Vec<&str> {
        // A tool with APIs may have the name of a family of the Library.
        let tools = self.tools.iter().filter(|tool| tool.api().is_none());
        let mut families: Vec<_> = tools.map(ListedTool::family).collect();
        families.dedup();
        families
    }

    /// Returns the instructions of the published tools with APIs of which a model has some, each once. Those beyond
    /// [`SYSTEM_ROLES_BYTES_MAX`] are left out, and the last text names their tools.
    #[must_use]
    pub fn system_roles(&self, has_tool: impl Fn(&str) -> bool) -> Vec<String> {
        let mut seen = HashSet::new();
        let tools = self.tools.iter().filter(|tool| tool.api().is_some() && has_tool(&tool.name));
        let (mut roles, mut left_out, mut left) = (Vec::new(), Vec::new(), SYSTEM_ROLES_BYTES_MAX);
        for tool in tools.filter(|tool| seen.insert(tool.family())) {
            let Some(role) = tool.system_role() else { continue };
            match left.checked_sub(role.len()).filter(|_| left_out.is_empty()) {
                Some(rest) => {
                    left = rest;
                    roles.push(role);
                }
                None => left_out.push(tool.family()),
            }
        }
        if !left_out.is_empty() {
            let named =
                left_out.iter().take(LEFT_OUT_NAMED_MAX).map(ToString::to_string).collect::<Vec<_>>().join(", ");
            roles.push(format!("The instructions of {} tools are left out, which begin with {named}.", left_out.len()));
        }
        roles
    }

    /// Returns a digest of everything that a list of the tools shows. It changes with the revision, with the versions and with the
    /// rights of the user.
    #[must_use]
    pub fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| self.compute_digest())
    }

    fn compute_digest(&self) -> Digest {
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
        Self { name, source }
    }

    /// The family of the tool. The APIs of a tool are a family of their own.
    #[must_use]
    pub fn family(&self) -> &str {
        match &self.source {
            ListedSource::Published { callable, api: Some(_), .. } => callable.tool.name.as_str(),
            source => source.family_and_name().0,
        }
    }

    /// Whether the result is an object that tells success from failure, also for a failure.
    #[must_use]
    pub fn has_envelope(&self) -> bool {
        matches!(&self.source, ListedSource::Native(tool) if tool.has_envelope)
    }

    /// The name and the declarations of the API that the name stands for.
    #[must_use]
    pub fn api(&self) -> Option<(&ApiName, &ToolApi)> {
        match &self.source {
            ListedSource::Published { callable, api: Some(api), .. } => {
                callable.version.settings.apis.get_key_value(api)
            }
            _ => None,
        }
    }

    /// The instructions for models of the tool whose API the name stands for, if its author gives some.
    #[must_use]
    pub fn system_role(&self) -> Option<String> {
        match &self.source {
            ListedSource::Published { callable, api: Some(_), .. } => {
                let (name, role) = (&callable.tool.name, callable.version.settings.system_role.as_ref()?);
                Some(format!("## {name}\n\n{role}"))
            }
            _ => None,
        }
    }

    /// The confirmation that an agent asks for of the tool's calls, besides what the tool declares.
    #[must_use]
    pub fn human_intervention(&self, running: &RunningAgent) -> HumanIntervention {
        match &self.source {
            ListedSource::Published { assignment, .. } => assignment.human_intervention.clone(),
            ListedSource::Native(tool) => {
                let built_in_tools = &running.revision.content.built_in_tools;
                HumanIntervention::of_policy(built_in_tools.intervention_of(&tool.name))
            }
        }
    }

    /// The description for models: that of the tool or the API, with the instruction of the assignment.
    #[must_use]
    pub fn description(&self) -> String {
        match &self.source {
            ListedSource::Native(tool) => tool.description.to_owned(),
            ListedSource::Published { callable, assignment, .. } => {
                let description = self.api().map_or(&callable.tool.description, |(_, api)| &api.description).as_str();
                let instruction = assignment.additional_instruction.as_str();
                let has_instruction = !instruction.trim().is_empty();
                if has_instruction { format!("{description}\n\n{instruction}") } else { description.to_owned() }
            }
        }
    }

    /// The text of the input schema.
    #[must_use]
    pub fn input_schema_text(&self) -> Cow<'_, SchemaText> {
        match &self.source {
            ListedSource::Native(tool) => Cow::Owned(SchemaText::of(&tool.input_schema)),
            ListedSource::Published { callable, .. } => {
                Cow::Borrowed(self.api().map_or(&callable.version.input_schema, |(_, api)| &api.input_schema))
            }
        }
    }

    /// The input schema as MCP clients read it, parsed for this call unless the tool is the server's.
    #[must_use]
    pub fn input_schema(&self) -> Cow<'_, Value> {
        match &self.source {
            ListedSource::Native(tool) => Cow::Borrowed(&tool.shown.input),
            ListedSource::Published { .. } => Cow::Owned(shape_input(self.input_schema_text().value())),
        }
    }

    /// The input schema as model APIs read it, parsed for this call unless the tool is the server's.
    #[must_use]
    pub fn model_input_schema(&self) -> Cow<'_, Value> {
        match &self.source {
            ListedSource::Native(tool) => Cow::Borrowed(&tool.shown.input),
            ListedSource::Published { .. } => Cow::Owned(shape_for_models(self.input_schema_text().value())),
        }
    }

    /// The text of the input schema as model APIs read it.
    pub(crate) fn model_input_schema_text(&self) -> String {
        match &self.source {
            ListedSource::Published { .. } if is_shaped(self.input_schema_text().as_str()) => {
                self.input_schema_text().as_str().to_owned()
            }
            _ => self.model_input_schema().to_string(),
        }
    }

    /// The schema of outputs as MCP clients read it, parsed for this call unless the tool is the server's. `None` without a schema, and
    /// for one of other values than objects.
    #[must_use]
    pub fn output_schema(&self) -> Option<Cow<'_, Value>> {
        match &self.source {
            ListedSource::Native(tool) => tool.shown.output.as_ref().map(Cow::Borrowed),
            ListedSource::Published { callable, .. } => {
                shape_output(self.find_published_output(callable)?.value()).map(Cow::Owned)
            }
        }
    }

    /// The strictest confirmation that the version, its API or the agent asks for of some call. Rules count for all calls, since readers
    /// do not match them.
    #[must_use]
    pub fn strictest_intervention(&self, running: &RunningAgent) -> Intervention {
        let of_agent = self.human_intervention(running);
        let mut rules: Vec<_> = of_agent.rules.iter().collect();
        let mut strictest = of_agent.policy;
        if let ListedSource::Published { callable, api, .. } = &self.source {
            let settings = &callable.version.settings;
            rules.extend(&settings.intervention_rules);
            let of_api = api.as_ref().and_then(|api| of_agent.apis.get(api).copied());
            let declared = self.api().map_or(settings.intervention, |(_, api)| api.intervention);
            strictest = strictest.max(of_api.unwrap_or_default()).max(declared);
        }
        rules.into_iter().map(|rule| rule.intervention).fold(strictest, Intervention::max)
    }

    /// The text of the schema of outputs of a published tool, if it has one.
    #[must_use]
    pub fn output_schema_text(&self) -> Option<&SchemaText> {
        match &self.source {
            ListedSource::Native(_) => None,
            ListedSource::Published { callable, .. } => self.find_published_output(callable),
        }
    }

    /// Bytes of the schemas. Those of the server's tools are small, and counted as if they were one kilobyte.
    #[must_use]
    pub fn schema_bytes(&self) -> usize {
        match &self.source {
            ListedSource::Native(_) => 1 << 10,
            ListedSource::Published { callable, .. } => {
                let output = self.find_published_output(callable).map_or(0, |schema| schema.as_str().len());
                self.input_schema_text().as_str().len() + output
            }
        }
    }

    fn find_published_output<'a>(&'a self, callable: &'a Callable) -> Option<&'a SchemaText> {
        match self.api() {
            Some((_, api)) => api.output_schema.as_ref(),
            None => callable.version.settings.output_schema.as_ref(),
        }
    }
}

impl ListedSource {
    /// The family, which becomes a prefix where two names are equal, and the name.
    fn family_and_name(&self) -> (&str, Cow<'_, str>) {
        match self {
            Self::Native(tool) => (tool.family, tool.name.as_str().into()),
            Self::Published { callable, api: None, .. } => (PUBLISHED, callable.tool.name.as_str().into()),
            Self::Published { callable, api: Some(api), .. } => {
                (PUBLISHED, format!("{}_{api}", callable.tool.name).into())
            }
        }
    }
}

/// Counts each version once. Native tools belong to the server.
impl HeapBytes for Catalogue {
    fn heap_bytes(&self) -> usize {
        let tools = allocated(self.tools.capacity() * size_of::<ListedTool>());
        let names: usize = self.tools.iter().map(|tool| tool.name.heap_bytes()).sum();
        let mut seen = HashSet::new();
        let versions = self.tools.iter().map(|tool| match &tool.source {
            ListedSource::Published { callable, assignment, .. } if seen.insert(Arc::as_ptr(callable)) => {
                callable.heap_bytes() + assignment.heap_bytes()
            }
            _ => 0,
        });
        let versions: usize = versions.sum();
        // A search may make its index later, which has the same texts in small letters.
        let index: usize = self.tools.iter().map(|tool| allocated(tool.name.len() + tool.description().len())).sum();
        self.running.heap_bytes() + tools + names + versions + index
    }
}

/// Gives each tool a name of its own that is not taken, in the order of families and names.
pub(crate) fn name_tools(mut sources: Vec<ListedSource>, mut taken: HashSet<String>) -> Vec<ListedTool> {
    sources.sort_by_cached_key(|source| {
        let (family, name) = source.family_and_name();
        (family.to_owned(), name.into_owned())
    });
    let named = sources.into_iter().map(|source| {
        let (family, name) = source.family_and_name();
        let own = choose_name(&taken, family, &name);
        taken.insert(own.clone());
        ListedTool::new(own, source)
    });
    named.collect()
}
