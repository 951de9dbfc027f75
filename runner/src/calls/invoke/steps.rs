//! The steps of a call, the same for every tool and every client:
//!
//! | step | function |
//! |---|---|
//! | 1 resolve | [`Resolver::resolve`], [`require_pinned`] |
//! | 2 permit | [`permit`] |
//! | 3 validate | [`validate`] |
//! | 4 once | the operation of the call, whose idempotency key is stored before the call begins |
//! | 5 mode | [`Run::open_egress_session`] |
//! | 6 policy | [`refuse_deep_call`], [`CallPolicy::check`](super::call_policy::CallPolicy::check) |
//! | 7 intervene | [`intervene`] |
//! | 8 reserve | [`InputBytes::hold`], [`Admission::admit`] |
//! | 9 execute | [`Run::execute`] |
//! | 10 shape | [`Run::shape`] |
//! | 11 verdict | [`give_verdict`](super::verdict::give_verdict) |
//! | 12 record | [`Run::record_start`], [`Run::record_end`], [`Refused::record`] |

use std::sync::Arc;

use futures_util::future::join_all;
use registry::InvokeStep::{Intervene, Permit, Policy, Record, Reserve, Resolve, Validate};
use registry::{Admitted, UserVariables};
use tracing::Instrument;

use super::admissions::Admissions;
use super::call_policy::obey;
use super::call_taker::CallTaker;
use super::intervene::intervene;
use super::permit::permit;
use super::policy::refuse_deep_call;
use super::refusal::{Refusal, Refused, at};
use super::resolve::{Resolver, require_pinned};
use super::run::{PendingRun, Run};
use super::services::Services;
use super::target::Target;
use super::validate::{spell_integers, validate};
use crate::calls::call::{Call, CallOrigin, EventSender, Input, RunResult};
use crate::calls::input_bytes::HeldBytes;
use crate::calls::input_documents::InputDocuments;
use crate::calls::redact::Redaction;
use crate::error::Error;

/// The parts of a server that a call needs.
pub(super) struct Steps<'a> {
    pub services: &'a Services,
    pub resolver: &'a Resolver,
    pub admissions: &'a Admissions,
}

impl Steps<'_> {
    /// Takes a call through all steps.
    pub async fn run(&self, call: Call, events: EventSender) -> Result<Vec<RunResult>, Refusal> {
        let mut call = with_api(call);
        // Before anything waits: a call keeps its inputs while it is resolved and matched with the schema, too.
        let _held = match self.hold_inputs(&call) {
            Ok(held) => held,
            Err(refused) => return Err(self.refuse(call, None, refused).await),
        };
        let target = match self.resolve(&call).await {
            Ok(target) => target,
            Err(refused) => return Err(self.refuse(call, None, refused).await),
        };
        match self.admit(&mut call, &target).await {
            Ok(admitted) => {
                let calls = target.calls_tools().then(|| self.build_taker());
                let running = RunningCall { services: self.services, target: &target, admitted: &admitted, calls };
                running.run(call, &events).await.map_err(|error| Refusal::unrecorded(Record, error))
            }
            Err(refused) => Err(self.refuse(call, Some(&target), refused).await),
        }
    }

    /// The first part of step 8.
    fn hold_inputs(&self, call: &Call) -> Result<HeldBytes, Refused> {
        let bytes = call.inputs.iter().map(Input::bytes).sum();
        let held = self.admissions.inputs_of(&call.origin).hold(&call.caller.principal.organization, bytes);
        held.map_err(Error::from).map_err(at(Reserve))
    }

    async fn resolve(&self, call: &Call) -> Result<Target, Refused> {
        let target = self.resolver.resolve(&call.caller.principal, &call.subject).await.map_err(at(Resolve))?;
        require_pinned(&target, &call.pinned).map_err(at(Resolve))?;
        Ok(target)
    }

    /// Steps 2 to 8.
    async fn admit(&self, call: &mut Call, target: &Target) -> Result<Admitted, Refused> {
        permit(&call.caller.principal, target).map_err(at(Permit))?;
        validate(&self.services.schemas, target, call).await.map_err(at(Validate))?;
        spell_integers(target, call).await.map_err(at(Validate))?;
        refuse_deep_call(target.trust_class(), call.depth, &call.origin).map_err(at(Policy))?;
        obey(self.services.policy.as_deref(), target, call).await.map_err(at(Policy))?;
        intervene(&self.services.compiled_rules, target, call).await.map_err(at(Intervene))?;
        let admission = self.admissions.of(&call.origin, call.depth);
        admission
            .admit(&call.caller.principal.organization, call.inputs.len())
            .map_err(Error::from)
            .map_err(at(Reserve))
    }

    /// Takes the calls of the call's runs through all steps.
    fn build_taker(&self) -> CallTaker {
        let (services, resolver, admissions) = (self.services.clone(), self.resolver.clone(), self.admissions.clone());
        Arc::new(move |call| {
            let (services, resolver, admissions) = (services.clone(), resolver.clone(), admissions.clone());
            Box::pin(async move {
                let steps = Steps { services: &services, resolver: &resolver, admissions: &admissions };
                steps.run(call, EventSender::none()).await
            })
        })
    }

    /// Records a refused call whose refusals have records.
    async fn refuse(&self, call: Call, target: Option<&Target>, refused: Refused) -> Refusal {
        let records = match call.caller.via.records_refusals() {
            true => refused.record(self.services, call, target).await,
            false => Ok(Vec::new()),
        };
        let Refused { step, error } = refused;
        match records {
            Ok(records) => Refusal { step, error, records },
            Err(failed) => Refusal::unrecorded(Record, failed),
        }
    }
}

/// Makes inputs of the tool of the arguments of an API.
fn with_api(call: Call) -> Call {
    let Some(api) = call.subject.api() else { return call };
    let of_tool = |input: Input| Input { input_parameters: api.input(&input.input_parameters), ..input };
    let inputs = call.inputs.into_iter().map(of_tool).collect();
    Call { inputs, ..call }
}

/// An admitted call.
struct RunningCall<'a> {
    services: &'a Services,
    target: &'a Target,
    admitted: &'a Admitted,
    /// Takes calls of the runs, when the version declares any.
    calls: Option<CallTaker>,
}

impl RunningCall<'_> {
    /// Steps 9 to 12, for all inputs in parallel.
    async fn run(&self, mut call: Call, events: &EventSender) -> Result<Vec<RunResult>, Error> {
        let Self { services, target, admitted, .. } = *self;
        let principal = &call.caller.principal;
        let stored = services.store.access().user_variables(&principal.organization, &principal.account).await?;
        let redaction = self.build_redaction(&call, &stored).await?;
        let (tree, of_parent) = (call.origin.tree(), call.origin.parent().map(|parent| parent.secrets.clone()));
        let inputs = std::mem::take(&mut call.inputs);
        let inputs: Vec<_> = inputs.into_iter().map(|input| input.or_stored(&stored)).collect();
        let mut documents: Vec<_> = inputs.iter().map(InputDocuments::of).collect();
        // The calling run sent them, like a client its sensitive variables.
        documents.iter_mut().for_each(|one| one.sensitive.extend(of_parent.clone().into_iter().flatten()));
        let run = Run { services, redaction, target, call: &call, calls: self.calls.as_ref(), tree, admitted, events };
        let started = run.record_start(inputs).await?;
        let runs = started.into_iter().zip(documents).enumerate().map(|(index, ((id, cancellation), documents))| {
            let span = tracing::debug_span!("run", invocation = %id, tool = target.name());
            Box::pin(run.execute_and_record(PendingRun { index, id, documents, cancellation }).instrument(span))
        });
        join_all(runs).await.into_iter().collect()
    }

    /// The caller does not have the stored variables of the user, so they are like the secrets of the tool.
    async fn build_redaction(&self, call: &Call, stored: &UserVariables) -> Result<Redaction, Error> {
        let (principal, is_kept) = (&call.caller.principal, !matches!(call.origin, CallOrigin::Client));
        let secrets: Vec<_> = self.target.secrets().chain(stored.sensitive.values()).cloned().collect();
        // A run that made the call would store an answer with the tool's secrets, which are not its own.
        let redacts_answers = !secrets.is_empty()
            && (is_kept || self.services.store.access().redacts_answers(&principal.organization).await?);
        Ok(Redaction::of(secrets, redacts_answers))
    }
}
