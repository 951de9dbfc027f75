//! Effects of runs: the facts by which the history can be filtered through an index of its own. Those of a call are known when
//! its run starts, and those of a ledger and of a refusal when it ends.

use std::collections::BTreeSet;

use super::agent_call::AgentCall;
use super::ledger::Ledger;
use super::record::{Outcome, RunEnd, RunStart};

/// Kinds of effects. Effects of one kind are alternatives in a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EffectKind {
    /// The id of the turn of a conversation with an agent. It has few runs, so that a list begins with it.
    Turn,
    /// A host that a request was sent to, with its port unless that is the scheme's default.
    Host,
    /// A secret that the tool received, or that the server inserted into a request.
    Secret,
    /// The error code of a refused request, or `status_events` for refused status events.
    Refusal,
    /// The step that refused the call.
    RefusedAt,
    /// The name of a tool that the server provides.
    NativeTool,
    /// The id of the agent through which the tool was called.
    Agent,
    /// The name and the version of the MCP client.
    Client,
    /// The outcome, of runs that failed: of all of them, and of those in each group of runs.
    Outcome,
}

/// One effect of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Effect {
    pub kind: EffectKind,
    pub name: String,
}

/// The name of the outcome of runs that failed.
const FAILED: &str = "failed";
/// The name of refused status events.
const STATUS_EVENTS: &str = "status_events";
/// The name of requests above a run's limit. They are refused without an entry of their own.
const BUDGET: &str = "budget";

impl EffectKind {
    /// The kinds that are columns of a record, by the same names.
    pub(crate) const COLUMNS: [Self; 5] = [Self::Turn, Self::RefusedAt, Self::NativeTool, Self::Agent, Self::Client];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Host => "host",
            Self::Secret => "secret",
            Self::Refusal => "refusal",
            Self::RefusedAt => "refused_at",
            Self::NativeTool => "native_tool",
            Self::Agent => "agent",
            Self::Client => "client",
            Self::Outcome => "outcome",
        }
    }
}

impl Effect {
    fn new(kind: EffectKind, name: &str) -> Self {
        Self { kind, name: name.to_owned() }
    }

    /// The effect of runs that failed.
    pub(crate) fn failed() -> Self {
        Self::new(EffectKind::Outcome, FAILED)
    }

    /// The effect of runs that failed, in a group of runs.
    pub(crate) fn failed_in(group: &str) -> Self {
        Self { kind: EffectKind::Outcome, name: format!("{FAILED} {group}") }
    }
}

impl RunStart {
    /// Returns the distinct effects that are known at the start of the run.
    pub fn effects(&self) -> BTreeSet<Effect> {
        let mut effects = BTreeSet::new();
        if let Some(AgentCall { agent, client, turn, .. }) = self.via.agent_call() {
            effects.insert(Effect::new(EffectKind::Agent, agent.as_str()));
            effects.extend(client.iter().map(|client| Effect::new(EffectKind::Client, client.as_str())));
            effects.extend(turn.iter().map(|turn| Effect::new(EffectKind::Turn, turn.as_str())));
        }
        effects.extend(self.native_tool.iter().map(|name| Effect::new(EffectKind::NativeTool, name.as_str())));
        effects
    }
}

impl<E> RunEnd<E> {
    /// Returns the distinct effects that are known at the end of the run.
    pub fn effects(&self) -> BTreeSet<Effect> {
        let mut effects = self.ledger.as_ref().map_or_else(BTreeSet::new, Ledger::effects);
        effects.extend(self.refused_at.map(|step| Effect::new(EffectKind::RefusedAt, step.as_str())));
        effects.extend(matches!(self.outcome, Outcome::Failed { .. }).then(Effect::failed));
        effects
    }
}

impl Ledger {
    /// Returns the distinct effects of the run.
    pub fn effects(&self) -> BTreeSet<Effect> {
        let Self { granted, used, refused, .. } = self;
        let of = |kind| move |name: &String| Effect::new(kind, name);
        let mut effects: BTreeSet<_> = granted.secrets.iter().map(of(EffectKind::Secret)).collect();
        effects.extend(used.http.iter().flat_map(|request| &request.secrets).map(of(EffectKind::Secret)));
        let sent = used.http.iter().filter(|request| request.sent_bytes > 0);
        effects.extend(sent.map(|request| Effect::new(EffectKind::Host, &request.host)));
        let refusals: Vec<_> = used.http.iter().filter_map(|request| request.refusal()).collect();
        effects.extend(refusals.iter().map(|code| Effect::new(EffectKind::Refusal, code)));
        if refused.http_requests > refusals.len() as u64 {
            effects.insert(Effect::new(EffectKind::Refusal, BUDGET));
        }
        if refused.status_events > 0 {
            effects.insert(Effect::new(EffectKind::Refusal, STATUS_EVENTS));
        }
        effects
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::ledger::{Denied, Granted, HttpUse, Used};

    fn request(host: &str, refusal: Option<&str>, secrets: &[&str]) -> HttpUse {
        let secrets = secrets.iter().map(|name| (*name).to_owned()).collect();
        let (is_refused, error) = (refusal.is_some(), refusal.map(str::to_owned));
        let sent_bytes = u64::from(!is_refused);
        HttpUse { host: host.to_owned(), error, is_refused, sent_bytes, secrets, ..HttpUse::default() }
    }

    #[test]
    fn a_ledger_has_its_effects() {
        let http = vec![
            request("a.example.com", None, &["KEY"]),
            request("a.example.com", None, &[]),
            request("b.example.com", Some("denied"), &[]),
        ];
        let ledger = Ledger {
            granted: Granted { secrets: vec!["TOKEN".into()], ..Granted::default() },
            used: Used { http, ..Used::default() },
            refused: Denied { http_requests: 2, status_events: 1, ..Denied::default() },
            ..Ledger::default()
        };
        let said: Vec<_> =
            ledger.effects().into_iter().map(|effect| format!("{} {}", effect.kind.as_str(), effect.name)).collect();
        let expected = [
            "host a.example.com",
            "secret KEY",
            "secret TOKEN",
            "refusal budget",
            "refusal denied",
            "refusal status_events",
        ];
        assert_eq!(said, expected);
        assert!(Ledger::default().effects().is_empty());
    }
}
