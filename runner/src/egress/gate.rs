//! What one run passes on its way out, and the account of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http_body_util::Full;
use registry::{HostPattern, HttpUse, OrganizationId};
use tokio::sync::{Notify, Semaphore};

use super::Inner;
use super::answers::{Heard, HeardAnswers, digest};
use super::exchange::exchange;
use super::head::Head;
use super::secrets::Secrets;
use super::simulation::Simulation;
use super::target::Target;
use super::traffic::Traffic;
use super::trip::{Trip, Wire};
use crate::{Depth, HttpAnswer, HttpError, HttpErrorCode, HttpRequest, HttpSender, Limits};

/// What one run may reach.
pub struct Pass {
    pub organization: OrganizationId,
    /// The version's `allowed_hosts`.
    pub declared: Vec<HostPattern>,
    pub secrets: Secrets,
    pub limits: Limits,
    pub depth: Depth,
    /// What stands in for the world, when nothing may change it.
    pub simulation: Option<Simulation>,
    /// Whether what requests are answered is kept for simulations.
    pub is_heard: bool,
}

/// The requests of one run. Clones are one gate.
#[derive(Clone)]
pub struct Gate(Arc<Run>);

pub(super) struct Run {
    pub(super) egress: Arc<Inner>,
    pub(super) pass: Pass,
    parallel: Semaphore,
    account: Mutex<Account>,
    /// Whenever bytes that were set aside are given back.
    freed: Notify,
}

pub(super) struct Account {
    requests_left: u32,
    /// Neither used nor set aside for what is under way.
    pub(super) bytes_left: u64,
    /// Of bodies in requests that have not ended, waiting ones too: what the server holds for a run.
    pub(super) held: u64,
    pub(super) under_way: u32,
    pub(super) uses: Vec<HttpUse>,
    /// What is under way, by its place among the uses.
    pub(super) open: BTreeMap<usize, Arc<Wire>>,
    pub(super) refused: u64,
    heard: HeardAnswers,
}

impl Gate {
    pub(super) fn new(egress: Arc<Inner>, pass: Pass) -> Self {
        let Limits { http_requests, http_bytes, http_parallel, .. } = pass.limits;
        let account = Account {
            requests_left: http_requests,
            bytes_left: http_bytes,
            held: 0,
            under_way: 0,
            uses: Vec::new(),
            open: BTreeMap::new(),
            refused: 0,
            heard: HeardAnswers::default(),
        };
        let parallel = Semaphore::new(http_parallel);
        Self(Arc::new(Run { egress, pass, parallel, account: Mutex::new(account), freed: Notify::new() }))
    }

    #[must_use]
    pub fn sender(&self) -> HttpSender {
        let gate = self.clone();
        Arc::new(move |request| {
            let gate = gate.clone();
            Box::pin(async move { gate.0.send(request).await })
        })
    }

    /// The requests that were counted, and how many were refused. What is still under way is given up.
    #[must_use]
    pub fn account(&self) -> (Vec<HttpUse>, u64) {
        let now = self.0.egress.clock.now();
        let account = self.0.account();
        let mut uses = account.uses.clone();
        for (entry, wire) in &account.open {
            uses.get_mut(*entry).into_iter().for_each(|one| wire.tell(one, now));
        }
        (uses, account.refused)
    }

    /// Takes the answers that simulations may have.
    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.0.account().heard.take()
    }
}

impl Run {
    async fn send(&self, request: HttpRequest) -> HttpAnswer {
        let target = Target::parse(&request.url);
        let mut trip = Trip::begin(self, &request.method, target.as_ref().ok())?;
        let answer = match target {
            Ok(target) => self.admit_and_send(request, target, &mut trip).await,
            Err(error) => Err(error),
        };
        trip.end(&answer);
        answer
    }

    /// Takes one of the run's requests.
    pub(super) fn take_request(&self) -> Result<(), HttpError> {
        let mut account = self.account();
        let Some(left) = account.requests_left.checked_sub(1) else {
            account.refused += 1;
            let message = format!("a run makes at most {} requests", self.pass.limits.http_requests);
            return Err(HttpError::new(HttpErrorCode::Budget, message));
        };
        account.requests_left = left;
        Ok(())
    }

    async fn admit_and_send(&self, request: HttpRequest, target: Target, trip: &mut Trip<'_>) -> HttpAnswer {
        self.admit(&target)?;
        let mut head = Head::of(&request, &target, &self.pass.secrets)?;
        head.deepen(self.pass.depth);
        self.fits(&request)?;
        trip.hold(request.body.len() as u64)?;
        let is_safe = head.is_safe() && request.body.is_empty();
        if let Some(simulation) = &self.pass.simulation
            && let Some((source, answer)) = simulation.answer(&request, is_safe).await
        {
            trip.answered_by(source);
            return answer;
        }
        let asked = (self.pass.is_heard && !is_safe).then(|| digest(&request));
        let _place = self.parallel.acquire().await.map_err(|_| closing())?;
        let share = self.egress.budgets.request(&self.pass.organization).await?;
        let bytes_max = self.set_aside(head.bytes + request.body.len() as u64, trip).await?;
        let connection = self.egress.connector.connect(&target, share.resolving).await?;
        let secrets = std::mem::take(&mut head.secrets);
        if !secrets.is_empty() && !target.is_secure && connection.is_public {
            let message = format!("{} goes to {} over https only", secrets.join(", "), target.authority());
            return Err(HttpError::new(HttpErrorCode::Denied, message));
        }
        let traffic = trip.sending(secrets);
        let message = head.request(&target, Full::new(Bytes::from(request.body)))?;
        let answer = exchange(Traffic::count(connection.stream, traffic, bytes_max), message, bytes_max).await?;
        if let Some(asked) = asked {
            let now = self.egress.clock.now();
            self.account().heard.hear(asked, &answer, now);
        }
        Ok(answer)
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

    fn fits(&self, request: &HttpRequest) -> Result<(), HttpError> {
        let max = self.pass.limits.http_request_bytes;
        let message = || format!("a request's body has at most {max} bytes");
        let fits = request.body.len() as u64 <= max;
        fits.then_some(()).ok_or_else(|| HttpError::new(HttpErrorCode::RequestTooLarge, message()))
    }

    /// Sets aside what the request has and its answer may have, and says how much that is for the answer's body.
    /// While others hold all that is left it waits for what they give back.
    async fn set_aside(&self, sent: u64, trip: &mut Trip<'_>) -> Result<u64, HttpError> {
        loop {
            let freed = self.freed.notified();
            {
                let mut account = self.account();
                let left = account.bytes_left.saturating_sub(sent);
                if left > 0 {
                    let answer = left.min(self.pass.limits.http_response_bytes);
                    account.bytes_left -= sent + answer;
                    account.under_way += 1;
                    trip.set_aside(sent + answer);
                    return Ok(answer);
                }
                if account.under_way == 0 {
                    return Err(self.too_much());
                }
            }
            freed.await;
        }
    }

    /// The refusal of what is beyond the bytes of a run.
    pub(super) fn too_much(&self) -> HttpError {
        let message = format!("a run sends and receives at most {} bytes", self.pass.limits.http_bytes);
        HttpError::new(HttpErrorCode::Budget, message)
    }

    pub(super) fn give_back(&self) {
        self.freed.notify_waiters();
    }

    pub(super) fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn closing() -> HttpError {
    HttpError::new(HttpErrorCode::Budget, "the run is over")
}
