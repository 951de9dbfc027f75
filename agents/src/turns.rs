//! Turns of conversations: the tools that one presents, and calls of these tools.

use std::borrow::Cow;
use std::sync::Arc;

use registry::{
    AgentProtocol, Assignment, CallerNames, ClientName, ConversationId, Digest, PresentedTool, Principal, Turn, TurnId,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::agent_catalogue::reserved_names;
use super::catalogue::{ListedSource, ListedTool, named};
use super::invoker::Invoker;
use super::run::Run;
use crate::call::{Call, CallOrigin, Conversation, Input, ResultPersistence, Subject};
use crate::depth::Depth;
use crate::error::Error;
use crate::interaction::Interaction;
use crate::native::{ConversationRuns, NativeTool, Reach};

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

impl Invoker {
    /// Returns the tools that a turn presents to a user. A tool without a live version that matches, or that the user may not
    /// invoke, is left out.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn presented(&self, principal: &Principal, specs: Vec<&Assignment>) -> Result<Vec<PresentedTool>, Error> {
        let sources = self.published(principal, specs.into_iter()).await?;
        let mut taken = reserved_names();
        taken.extend(self.turn_tools().map(|tool| tool.name.clone()));
        Ok(named(sources, taken).iter().filter_map(presented).collect())
    }

    /// Finds a turn of a conversation of the user.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn turn(
        &self,
        principal: &Principal,
        (conversation, turn): (&ConversationId, &TurnId),
    ) -> Result<Option<Turn>, Error> {
        let found = self.services.store.conversations().get_turn(principal, turn).await?;
        Ok(found.filter(|turn| turn.conversation.id == *conversation))
    }

    /// The native tools of every turn, which no specification lists.
    pub fn turn_tools(&self) -> impl Iterator<Item = &Arc<NativeTool>> {
        self.native_tools().iter().filter(|tool| tool.reach == Reach::Turns)
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
        Call {
            source: turn.source(),
            agent_call: Some(turn.agent_call(protocol, client)),
            conversation: Some(conversation(&turn)),
            inputs: inputs.into_iter().map(|input| Input { invocation_mode: mode, ..input }).collect(),
            pinned: pins.into_iter().flatten().collect(),
            human_intervention,
            result_persistence,
            subject: native.map_or(Subject::Presented { turn, tool }, Subject::Native),
            principal,
            depth,
            origin: CallOrigin::Client,
            run_id: None,
            operation: None,
            cancelled,
            interaction: Interaction::default(),
            caller_names: CallerNames::default(),
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

impl Run<'_> {
    /// The runs of the conversation to whose turn the call belongs.
    pub fn conversation_runs(&self) -> Option<ConversationRuns> {
        let turn = self.caller.agent_call.as_ref()?.turn.clone()?;
        let (store, organization) = (self.services.store.clone(), self.caller.principal.organization.clone());
        Some(ConversationRuns::new(move |run| {
            let (store, organization, turn) = (store.clone(), organization.clone(), turn.clone());
            Box::pin(async move { Ok(store.conversations().run_status(&organization, &turn, &run).await?) })
        }))
    }
}

fn presented(listed: &ListedTool) -> Option<PresentedTool> {
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

/// The conversation as a tool receives it.
fn conversation(turn: &Turn) -> Conversation {
    Conversation {
        conversation_id: Some(turn.conversation.id.to_string()),
        interaction_id: Some(turn.interaction.to_string()),
        user_id: turn.conversation.account.user().into(),
    }
}
