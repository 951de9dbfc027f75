//! What one run passes on its way out, and the account of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http_body_util::Full;
use hyper::Method;
use registry::{HostPattern, HttpUse, OrganizationId, Timestamp};
use tokio::sync::Semaphore;

use super::Inner;
use super::exchange::exchange;
use super::head::Head;
use super::secrets::Secrets;
use super::target::Target;
use crate::{Depth, HttpAnswer, HttpError, HttpErrorCode, HttpRequest, HttpResponse, HttpSender, Limits, Mocks};

/// A method that the ledger shows; longer ones are no methods.
const METHOD_BYTES_MAX: usize = 16;

/// Who answered, as the ledger says it.
const NETWORK: &str = "network";
const MOCK: &str = "mock";

/// What one run may reach.
pub struct Pass {
    pub organization: OrganizationId,
    /// The version's `allowed_hosts`.
    pub declared: Vec<HostPattern>,
    pub secrets: Secrets,
    pub limits: Limits,
    pub depth: Depth,
    /// What stands in for the world, when nothing may change it.
    pub simulation: Option<Arc<Mocks>>,
}

/// The requests of one run. Clones are one gate.
#[derive(Clone)]
pub struct Gate(Arc<Run>);

struct Run {
    egress: Arc<Inner>,
    pass: Pass,
    parallel: Semaphore,
    account: Mutex<Account>,
}

struct Account {
    requests_left: u32,
    bytes_left: u64,
    uses: Vec<HttpUse>,
    refused: u64,
}

/// What became of one request on its way.
struct Way {
    sent_bytes: u64,
    secrets: Vec<String>,
    answered_by: &'static str,
}

impl Default for Way {
    fn default() -> Self {
        Self { sent_bytes: 0, secrets: Vec::new(), answered_by: NETWORK }
    }
}

impl Gate {
    pub(super) fn new(egress: Arc<Inner>, pass: Pass) -> Self {
        let Limits { http_requests, http_bytes, http_parallel, .. } = pass.limits;
        let account = Account { requests_left: http_requests, bytes_left: http_bytes, uses: Vec::new(), refused: 0 };
        let parallel = Semaphore::new(http_parallel);
        Self(Arc::new(Run { egress, pass, parallel, account: Mutex::new(account) }))
    }

    #[must_use]
    pub fn sender(&self) -> HttpSender {
        let gate = self.clone();
        Arc::new(move |request| {
            let gate = gate.clone();
            Box::pin(async move { gate.0.send(request).await })
        })
    }

    /// The requests that were counted, and how many were refused.
    #[must_use]
    pub fn account(&self) -> (Vec<HttpUse>, u64) {
        let account = self.0.account();
        (account.uses.clone(), account.refused)
    }
}

impl Run {
    async fn send(&self, request: HttpRequest) -> HttpAnswer {
        let entry = self.enter(&request)?;
        let started = self.egress.clock.now();
        let mut way = Way { sent_bytes: request.body.len() as u64, ..Way::default() };
        let answer = self.admit_and_send(request, &mut way).await;
        self.close(entry, started, way, &answer);
        answer
    }

    /// Counts a request, and enters it as one that was given up until it has another end.
    fn enter(&self, request: &HttpRequest) -> Result<usize, HttpError> {
        let mut account = self.account();
        let Some(left) = account.requests_left.checked_sub(1) else {
            account.refused += 1;
            let message = format!("a run makes at most {} requests", self.pass.limits.http_requests);
            return Err(HttpError::new(HttpErrorCode::Budget, message));
        };
        account.requests_left = left;
        let host = Target::parse(&request.url).map(|target| target.authority()).unwrap_or_default();
        let method = crate::outcome::cut(request.method.clone(), METHOD_BYTES_MAX);
        account.uses.push(HttpUse { host, method, error: Some("cancelled".into()), ..HttpUse::default() });
        Ok(account.uses.len() - 1)
    }

    async fn admit_and_send(&self, request: HttpRequest, way: &mut Way) -> HttpAnswer {
        let target = Target::parse(&request.url)?;
        self.admit(&target)?;
        let mut head = Head::of(&request, &target, &self.pass.secrets)?;
        head.deepen(self.pass.depth);
        let bytes_max = self.bytes_max(request.body.len() as u64)?;
        if let Some(answer) = self.simulated(&request, &head.method) {
            way.answered_by = MOCK;
            return answer;
        }
        way.secrets.clone_from(&head.secrets);
        let _place = self.parallel.acquire().await.map_err(|_| closing())?;
        let _share = self.egress.budgets.request(&self.pass.organization).await?;
        let stream = self.egress.connector.connect(&target).await?;
        let message = head.request(&target, Full::new(Bytes::from(request.body)))?;
        exchange(stream, message, bytes_max).await
    }

    /// In a simulation a mock answers, and without one only what changes nothing goes out.
    fn simulated(&self, request: &HttpRequest, method: &Method) -> Option<HttpAnswer> {
        let mocks = self.pass.simulation.as_ref()?;
        if let Some(answer) = mocks.answer(request) {
            return Some(Ok(answer));
        }
        let message = || format!("this is a simulation, and no mock stands for {method} {}", request.url);
        let is_safe = method == Method::GET || method == Method::HEAD;
        (!is_safe).then(|| Err(HttpError::new(HttpErrorCode::Simulated, message())))
    }

    fn admit(&self, target: &Target) -> Result<(), HttpError> {
        let denied = |message: String| Err(HttpError::new(HttpErrorCode::Denied, message));
        let authority = target.authority();
        if self.egress.hosts.is_empty() {
            return denied("outbound HTTP is switched off on this server".into());
        }
        if !self.pass.declared.iter().any(|pattern| target.is_declared(pattern)) {
            let scheme = if target.is_secure { "https" } else { "http" };
            return denied(format!("the version's `allowed_hosts` does not have {scheme}://{authority}"));
        }
        if !self.egress.hosts.iter().any(|pattern| target.is_permitted(pattern)) {
            return denied(format!("the operator of this server does not permit {authority}"));
        }
        Ok(())
    }

    /// What the answer's body may have, when the request's fits.
    fn bytes_max(&self, sent: u64) -> Result<u64, HttpError> {
        let limits = &self.pass.limits;
        if sent > limits.http_request_bytes {
            let message = format!("a request's body has at most {} bytes", limits.http_request_bytes);
            return Err(HttpError::new(HttpErrorCode::RequestTooLarge, message));
        }
        let left = self.account().bytes_left.saturating_sub(sent);
        if left == 0 {
            let message = format!("a run sends and receives at most {} bytes", limits.http_bytes);
            return Err(HttpError::new(HttpErrorCode::Budget, message));
        }
        Ok(left.min(limits.http_response_bytes))
    }

    fn close(&self, entry: usize, started: Timestamp, way: Way, answer: &HttpAnswer) {
        let taken = self.egress.clock.now().as_milliseconds().saturating_sub(started.as_milliseconds());
        let code = answer.as_ref().err().map(|error| error.code);
        let received_bytes = answer.as_ref().map_or(0, |found: &HttpResponse| found.body.len() as u64);
        let is_refused = code.is_some_and(HttpErrorCode::is_refusal);
        let sent_bytes = if is_refused { 0 } else { way.sent_bytes };
        if way.answered_by == NETWORK {
            self.egress.budgets.transferred(&self.pass.organization, sent_bytes + received_bytes);
        }
        let mut account = self.account();
        account.refused += u64::from(is_refused);
        account.bytes_left = account.bytes_left.saturating_sub(sent_bytes + received_bytes);
        if let Some(entry) = account.uses.get_mut(entry) {
            entry.status = answer.as_ref().ok().map(|found| found.status);
            entry.answered_by = entry.status.map(|_| way.answered_by.into());
            entry.is_refused = is_refused;
            entry.error = code.map(|code| code.as_str().into());
            entry.duration_ms = u64::try_from(taken).unwrap_or(0);
            (entry.sent_bytes, entry.received_bytes) = (sent_bytes, received_bytes);
            entry.secrets = if is_refused { Vec::new() } else { way.secrets };
        }
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn closing() -> HttpError {
    HttpError::new(HttpErrorCode::Budget, "the run is over")
}
