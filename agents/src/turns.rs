//! Turns of conversations: the tools that one presents, and calls of these tools.

use std::borrow::Cow;
use std::sync::Arc;

use registry::{
    AgentProtocol, CallVia, CallerNames, ClientName, Constraint, ConversationId, Digest, Error, Principal, TurnId,
};
use runner::{
    Call, Conversation, Depth, Input, NativeTool, NativeTools, Reach, ResultPersistence, Subject, ToolCaller,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::catalogue::{Catalogues, ListedSource, ListedTool, name_tools};
use crate::domain::agents::Assignment;
use crate::domain::conversations::{PresentedTool, Turn};
use crate::store::AgentStore;

/// A call of a tool in a turn.
pub struct TurnCall {
    pub turn: Arc<Turn>,
    /// The name or the id of the tool.
    pub tool: String,
    pub principal: Principal,
    /// Their modes are that of the conversation.
    pub inputs: Vec<Input>,
    pub protocol: AgentProtocol,
    pub client: Option<ClientName>,
    /// The component that the client pins.
    pub pinned: Option<Digest>,
    pub depth: Depth,
    pub cancelled: CancellationToken,
}

/// The turns of the conversations of a server. Clones share its state.
#[derive(Clone)]
pub struct Turns {
    store: AgentStore,
    natives: NativeTools,
    catalogues: Catalogues,
}

impl Turns {
    pub(crate) const fn new(store: AgentStore, natives: NativeTools, catalogues: Catalogues) -> Self {
        Self { store, natives, catalogues }
    }

    /// Returns the tools that a turn presents to a user. A tool without a live version that matches, or that the user may not
    /// invoke, is left out.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn presented(&self, principal: &Principal, specs: Vec<&Assignment>) -> Result<Vec<PresentedTool>, Error> {
        let sources = self.catalogues.list_published(principal, specs.into_iter()).await?;
        let mut taken = self.catalogues.reserved_names();
        taken.extend(self.turn_tools().map(|tool| tool.name.clone()));
        Ok(name_tools(sources, taken).iter().filter_map(present_tool).collect())
    }

    /// Finds a turn of a conversation of the user.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn turn(
        &self,
        principal: &Principal,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<Option<Turn>, Error> {
        let found = self.store.conversations().get_turn(principal, turn).await?;
        Ok(found.filter(|turn| turn.conversation.id == *conversation))
    }

    /// The native tools of every turn, which no specification lists.
    pub fn turn_tools(&self) -> impl Iterator<Item = &Arc<NativeTool>> {
        self.natives.iter().filter(|tool| tool.reach == Reach::Unlisted)
    }

    /// Makes the call of a tool in a turn. A tool that the turn does not present is refused when the call is resolved.
    #[must_use]
    pub fn turn_call(&self, call: TurnCall) -> Call {
        let TurnCall { turn, tool, principal, inputs, protocol, client, pinned, depth, cancelled } = call;
        let native = self.turn_tools().find(|native| native.name == tool).cloned();
        let presented = if native.is_some() { None } else { turn.find(&tool) };
        let spec = presented.map(|presented| &presented.spec);
        let own = presented.map(|presented| presented.component_digest);
        let pins = [pinned, own, spec.and_then(|spec| spec.component_digest)];
        let result_persistence = spec.map_or_else(ResultPersistence::default, |spec| spec.result_persistence);
        let human_intervention = spec.map(|spec| spec.human_intervention.clone()).unwrap_or_default();
        let mode = turn.conversation.mode;
        let subject = match (native, presented) {
            (Some(native), _) => Subject::Native(native),
            (None, Some(presented)) => build_subject(presented),
            (None, None) => {
                Subject::NotPresented { tool, presented: turn.tools.iter().map(|tool| tool.name.clone()).collect() }
            }
        };
        let caller = ToolCaller {
            source: turn.source(),
            via: CallVia::Agent(turn.agent_call(protocol, client)),
            conversation: Some(build_conversation(&turn)),
            names: CallerNames::default(),
            principal,
        };
        let inputs = inputs.into_iter().map(|input| Input { invocation_mode: mode, ..input }).collect();
        Call {
            pinned: pins.into_iter().flatten().collect(),
            human_intervention,
            result_persistence,
            depth,
            cancelled,
            ..Call::new(subject, caller, inputs)
        }
    }

    /// Returns the schema of the outputs of a tool that can be called in a turn.
    #[must_use]
    pub fn output_schema_in<'a>(&'a self, turn: &'a Turn, tool: &str) -> Option<Cow<'a, Value>> {
        match self.turn_tools().find(|native| native.name == tool) {
            Some(native) => Some(Cow::Borrowed(&native.output_schema)),
            None => turn.find(tool)?.output_schema.as_ref().map(|text| Cow::Owned(text.value())),
        }
    }
}

fn present_tool(listed: &ListedTool) -> Option<PresentedTool> {
    let ListedSource::Published { callable, assignment, api } = &listed.source else { return None };
    Some(PresentedTool {
        name: listed.name.clone(),
        version: callable.version.version,
        component_digest: callable.version.component_digest,
        description: listed.description(),
        input_schema: listed.input_schema_text().into_owned(),
        output_schema: listed.output_schema_text().cloned(),
        api: api.clone(),
        spec: (**assignment).clone(),
    })
}

/// The version that a turn presented, or its API.
fn build_subject(PresentedTool { spec, version, api, .. }: &PresentedTool) -> Subject {
    let (tool, version) = (spec.tool_id.clone(), *version);
    match api.clone() {
        Some(api) => Subject::Api { tool, version, api },
        None => Subject::Version { tool, constraint: Constraint::exactly(version) },
    }
}

/// The conversation as a tool receives it.
fn build_conversation(turn: &Turn) -> Conversation {
    Conversation {
        conversation_id: Some(turn.conversation.id.to_string()),
        interaction_id: Some(turn.interaction.to_string()),
        user_id: turn.conversation.account.user().into(),
    }
}
