//! The requests of one run.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use registry::HttpUse;

use super::counted_stream::CountedStream;
use super::exchange::exchange;
use super::head::Head;
use super::outbound_call::OutboundCall;
use super::recorded_responses::{RecordedResponse, compute_digest};
use super::request_effect::RequestEffect;
use super::shared::{EgressRules, EgressShared};
use super::target::Target;
use super::usage::SessionState;
use crate::sandbox::ports::{HttpAnswer, HttpError, HttpErrorCode, HttpRequest, HttpSender};
use crate::sandbox::tool_call::ToolCall;

/// The refusal of a call of a tool by a run that calls none: that of a version without such calls, and that of a test.
const NO_CALLS: &str = "this run may call no tools: `calls` of the version lists none, or the run is a test of a branch or of a directory; in a \
     check, `tool_mocks` answers the calls";

/// Sends and counts the requests of one run. Clones share one state.
#[derive(Clone)]
pub struct EgressSession(Arc<SessionState>);

impl EgressSession {
    pub(super) fn new(shared: Arc<EgressShared>, rules: EgressRules) -> Self {
        Self(Arc::new(SessionState::new(shared, rules)))
    }

    #[must_use]
    pub fn build_sender(&self) -> HttpSender {
        let session = self.clone();
        Arc::new(move |request| {
            let session = session.clone();
            Box::pin(async move { session.send(request).await })
        })
    }

    /// Ledger entries of all requests, and the number of refused requests. Requests in flight count as cancelled.
    #[must_use]
    pub fn build_ledger(&self) -> (Vec<HttpUse>, u64) {
        let now = self.0.shared.clock.now();
        let usage = self.0.lock_usage();
        let mut entries = usage.entries.clone();
        for (entry, bytes) in &usage.open {
            entries.get_mut(*entry).into_iter().for_each(|one| bytes.write_to(one, now));
        }
        (entries, usage.refused)
    }

    /// Removes and returns the responses that were recorded for simulations.
    pub fn take_recorded_responses(&self) -> Vec<RecordedResponse> {
        self.0.lock_usage().responses.take()
    }

    async fn send(&self, request: HttpRequest) -> HttpAnswer {
        if ToolCall::is(&request) {
            return Err(HttpError::new(HttpErrorCode::Denied, NO_CALLS));
        }
        let target = Target::parse(&request.url);
        let mut call = OutboundCall::begin(&self.0, &request.method, target.as_ref().ok())?;
        let answer = match target {
            Ok(target) => self.admit_and_send(request, target, &mut call).await,
            Err(error) => {
                let message = error.message + &self.0.rules.policy.unfit.explain(&request.url);
                Err(HttpError::new(error.code, message))
            }
        };
        call.end(&answer);
        answer
    }

    async fn admit_and_send(&self, request: HttpRequest, target: Target, call: &mut OutboundCall<'_>) -> HttpAnswer {
        let SessionState { shared, rules, .. } = &*self.0;
        self.admit(&target)?;
        let mut head = Head::of(&request, &target, &rules.policy)?;
        head.set_depth(rules.depth);
        self.check_body(&request)?;
        call.hold(request.body.len() as u64)?;
        let effect = head.find_effect(&request, &target);
        if let Some(simulation) = &rules.simulation
            && let Some((source, answer)) = simulation.answer(&request, &effect).await
        {
            call.note_source(source);
            return answer;
        }
        let recorded_as =
            (rules.records_responses && effect != RequestEffect::Nothing).then(|| compute_digest(&request));
        let _slot = self.0.parallel.acquire().await.map_err(|_| report_closing())?;
        let permit = shared.budgets.request(&rules.organization).await?;
        let bytes_max = call.reserve(head.bytes + request.body.len() as u64).await?;
        let connection = shared.connector.connect(&target, permit.resolving).await?;
        let secrets = std::mem::take(&mut head.secrets);
        if !secrets.is_empty() && !target.is_secure && connection.is_public {
            let message =
                format!("the secrets {} may be sent to {} over https only", secrets.join(", "), target.authority());
            return Err(HttpError::new(HttpErrorCode::Denied, message));
        }
        let bytes = call.begin_sending(secrets);
        let message = head.request(&target, Full::new(Bytes::from(request.body)))?;
        let answer = exchange(CountedStream::new(connection.stream, bytes, bytes_max), message, bytes_max).await?;
        if let Some(digest) = recorded_as {
            let now = shared.clock.now();
            self.0.lock_usage().responses.add(digest, &answer, now);
        }
        Ok(answer)
    }

    fn admit(&self, target: &Target) -> Result<(), HttpError> {
        let SessionState { shared, rules, .. } = &*self.0;
        let denied = |message: String| Err(HttpError::new(HttpErrorCode::Denied, message));
        let authority = target.authority();
        if shared.hosts.is_empty() {
            return denied(
                "outbound HTTP is switched off on this server: its operator set `--egress-hosts` to none".into(),
            );
        }
        if !rules.policy.allowed_hosts.iter().any(|pattern| target.is_declared(pattern)) {
            let scheme = if target.is_secure { "https" } else { "http" };
            let entry = target.entry();
            let mut message = format!(
                "`allowed_hosts` of the version does not list {scheme}://{authority}; add {entry:?} to it and publish again"
            );
            if !shared.connector.may_reach_host(&target.host) {
                // The author would list the host only to be refused again.
                message.push_str(
                    ". It is in a private network, which the operator has to list in `--egress-networks`, too",
                );
            }
            return denied(message);
        }
        if !shared.hosts.iter().any(|pattern| target.is_permitted(pattern)) {
            return denied(format!(
                "the operator of this server does not permit {authority}: `--egress-hosts` does not list it with this port"
            ));
        }
        Ok(())
    }

    fn check_body(&self, request: &HttpRequest) -> Result<(), HttpError> {
        let max = self.0.rules.limits.http_request_bytes;
        let message = || format!("a request body may have at most {max} bytes");
        let fits = request.body.len() as u64 <= max;
        fits.then_some(()).ok_or_else(|| HttpError::new(HttpErrorCode::RequestTooLarge, message()))
    }
}

fn report_closing() -> HttpError {
    HttpError::new(HttpErrorCode::Budget, "the run has ended")
}
