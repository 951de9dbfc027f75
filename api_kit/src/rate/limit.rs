//! The rate limit of one route, applied after its guard and before its handler.

use std::num::NonZeroU32;
use std::time::Duration;

use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::Quota;
use governor::clock::Clock;
use governor::nanos::Nanos;
use registry::{CountedRequest, Store};

use super::clock::MonotonicClock;
use super::limits::RateLimits;
use super::sign_in::{SIGN_IN, SignIn, SignInNames};
use super::usage::{Key, Limiter, Usage};
use crate::caller::Caller;
use crate::error::Error;
use crate::extract;
use crate::metrics;
use crate::server::Peer;

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

const MILLISECONDS_PER_SECOND: u64 = 1_000;

/// Makes the limits of all routes, which share their tables.
pub struct LimitFactory {
    limits: RateLimits,
    system: registry::Clock,
    /// Counts together with other servers.
    store: Option<Store>,
    clock: MonotonicClock,
    callers: Usage,
    sign_ins: Usage,
    keys: Usage,
}

/// The limit of one operation.
pub struct Limit {
    operation: &'static str,
    quota: Quota,
    system: registry::Clock,
    store: Option<Store>,
    callers: Counter,
    sign_ins: Counter,
}

/// A limiter with its table.
pub(super) struct Counter {
    limiter: Limiter,
    usage: Usage,
    /// The moment from which the table counts.
    start: Nanos,
}

/// Whether a request is admitted, and the numbers that its response tells the client.
struct Verdict {
    remaining: u32,
    /// Time until the quota is full again.
    restored_in: Duration,
    /// Time until a refused request could succeed; `None` for an admitted request.
    retry_after: Option<Duration>,
}

impl LimitFactory {
    pub fn new(limits: RateLimits, system: registry::Clock, store: Option<Store>) -> Self {
        let clock = MonotonicClock::new(system.clone());
        let [callers, sign_ins, keys] = [(); 3].map(|()| Usage::new(clock.clone()));
        Self { limits, system, store, clock, callers, sign_ins, keys }
    }

    /// Returns a counter of the API keys that were right in the last minute. All share one table.
    pub(super) fn count_right_keys(&self) -> Counter {
        Counter::new(&self.keys, Quota::per_minute(NonZeroU32::MIN), self.clock.clone())
    }

    /// Returns the limit of an operation, if it has one.
    pub fn find_limit(&self, operation: &'static str) -> Option<Limit> {
        let per_minute = self.limits.of(operation)?.min(RateLimits::PER_MINUTE_MAX);
        let quota = Quota::per_minute(NonZeroU32::new(per_minute).unwrap_or(NonZeroU32::MIN));
        let counter = |usage: &Usage| Counter::new(usage, quota, self.clock.clone());
        let (callers, sign_ins) = (counter(&self.callers), counter(&self.sign_ins));
        let (system, store) = (self.system.clone(), self.store.clone());
        Some(Limit { operation, quota, system, store, callers, sign_ins })
    }
}

impl Limit {
    /// Passes a request on to its handler, or refuses it.
    pub async fn admit(&self, request: Request, next: Next) -> Response {
        let (mut parts, body) = request.into_parts();
        if self.operation == SIGN_IN {
            return self.admit_sign_in(Request::from_parts(parts, body), next).await;
        }
        let verdict = self.decide(&mut parts).await;
        let response = match verdict.retry_after {
            None => next.run(Request::from_parts(parts, body)).await,
            Some(retry_after) => self.refuse(retry_after).into_response(),
        };
        self.with_numbers(response, &verdict)
    }

    /// Passes a sign-in on, and counts it by its outcome. A key that has used up its own sign-ins is refused before.
    async fn admit_sign_in(&self, request: Request, next: Next) -> Response {
        let (mut parts, body) = request.into_parts();
        let names = SignInNames::read(&mut parts).await;
        let before = self.peek(&self.callers, &names.succeed().key());
        if let Some(retry_after) = before.retry_after {
            return self.with_numbers(self.refuse(retry_after).into_response(), &before);
        }
        let response = next.run(Request::from_parts(parts, body)).await;
        let outcome = if response.status().is_success() { names.succeed() } else { names.fail() };
        let verdict = match response.status().is_server_error() {
            true => self.peek(self.choose_counter(&outcome), &outcome.key()),
            false => self.count_everywhere(self.choose_counter(&outcome), &outcome.key()).await,
        };
        match verdict.retry_after {
            None => self.with_numbers(response, &verdict),
            Some(retry_after) => self.with_numbers(self.refuse(retry_after).into_response(), &verdict),
        }
    }

    fn refuse(&self, retry_after: Duration) -> Error {
        metrics::count_rate_limited(self.operation);
        Error::RateLimited { per_minute: self.per_minute(), retry_after }
    }

    fn with_numbers(&self, mut response: Response, verdict: &Verdict) -> Response {
        let numbers = [
            (LIMIT, self.per_minute().into()),
            (REMAINING, verdict.remaining.into()),
            (RESET, self.compute_unix_seconds(verdict.restored_in)),
        ];
        response.headers_mut().extend(numbers.map(|(name, number)| (name, HeaderValue::from(number))));
        response
    }

    async fn decide(&self, parts: &mut Parts) -> Verdict {
        if let Some(Caller(principal)) = parts.extensions.get() {
            return self.count_everywhere(&self.callers, &Key::of(self.operation, principal)).await;
        }
        let organization = extract::read_parameter(parts, &(), "organization").await.unwrap_or_default();
        let key = Key::from_names(self.operation, [&organization, ""], Peer::of(&parts.extensions));
        self.count_everywhere(&self.sign_ins, &key).await
    }

    /// Counts the outcome of a sign-in. Refuses it beyond the limit.
    pub(super) async fn count_sign_in(&self, outcome: SignIn<'_>) -> Result<(), Error> {
        let verdict = self.count_everywhere(self.choose_counter(&outcome), &outcome.key()).await;
        verdict.retry_after.map_or(Ok(()), |retry_after| Err(self.refuse(retry_after)))
    }

    /// Sign-ins that succeed are counted beside the requests of users, where names that are made up have no entries.
    const fn choose_counter(&self, outcome: &SignIn<'_>) -> &Counter {
        match outcome {
            SignIn::Succeeded(_) => &self.callers,
            SignIn::Failed(..) => &self.sign_ins,
        }
    }

    /// Returns the present numbers of this server, without counting a request.
    fn peek(&self, counter: &Counter, key: &Key) -> Verdict {
        let restored_in = counter.find_restoration(key).unwrap_or_default();
        let minute = self.quota.replenish_interval().saturating_mul(self.per_minute());
        let is_admitted = restored_in + self.quota.replenish_interval() <= minute;
        self.decide_on(CountedRequest { is_admitted, restored_in })
    }

    /// Counts a request here, and with the other servers of the database unless it is refused here.
    async fn count_everywhere(&self, counter: &Counter, key: &Key) -> Verdict {
        let verdict = self.count(counter, key);
        let Some(store) = self.store.as_ref().filter(|_| verdict.retry_after.is_none()) else { return verdict };
        match store.access().count_request(&key.name(), self.per_minute()).await {
            Ok(Some(counted)) => self.decide_on(counted),
            Ok(None) => verdict,
            Err(error) => {
                tracing::warn!(operation = self.operation, %error, "a request is counted by this server alone");
                verdict
            }
        }
    }

    fn decide_on(&self, CountedRequest { is_admitted, restored_in }: CountedRequest) -> Verdict {
        let (interval, minute) = (self.quota.replenish_interval(), Duration::from_mins(1));
        let used = restored_in.as_nanos().div_ceil(interval.as_nanos().max(1));
        let remaining = self.per_minute().saturating_sub(u32::try_from(used).unwrap_or(u32::MAX));
        let wait = (restored_in + interval).saturating_sub(minute);
        Verdict { remaining, restored_in, retry_after: (!is_admitted).then_some(wait) }
    }

    fn count(&self, counter: &Counter, key: &Key) -> Verdict {
        let interval = self.quota.replenish_interval();
        match counter.limiter.check_key(key) {
            Ok(state) => {
                let remaining = state.remaining_burst_capacity();
                let used = interval.saturating_mul(self.per_minute().saturating_sub(remaining));
                Verdict { remaining, restored_in: counter.find_restoration(key).unwrap_or(used), retry_after: None }
            }
            Err(refused) => {
                let wait = refused.wait_time_from(counter.limiter.clock().now());
                let restored_in = wait + interval.saturating_mul(self.per_minute() - 1);
                Verdict { remaining: 0, restored_in, retry_after: Some(wait) }
            }
        }
    }

    const fn per_minute(&self) -> u32 {
        self.quota.burst_size().get()
    }

    fn compute_unix_seconds(&self, from_now: Duration) -> u64 {
        let moment = self.system.now().after(from_now).as_milliseconds();
        u64::try_from(moment).unwrap_or_default().div_ceil(MILLISECONDS_PER_SECOND)
    }
}

impl Counter {
    fn new(usage: &Usage, quota: Quota, clock: MonotonicClock) -> Self {
        let start = clock.now();
        Self { limiter: Limiter::new(quota, usage.clone(), clock), usage: usage.clone(), start }
    }

    /// Whether the last minute has an entry of the key, without adding one.
    pub(super) fn has(&self, key: &Key) -> bool {
        self.find_restoration(key).is_some_and(|left| !left.is_zero())
    }

    pub(super) fn add(&self, key: &Key) {
        // A key that is refused has an entry already.
        let _ = self.limiter.check_key(key);
    }

    fn find_restoration(&self, key: &Key) -> Option<Duration> {
        let elapsed = self.limiter.clock().now().saturating_sub(self.start);
        Some(self.usage.find_restoration(key)?.saturating_sub(elapsed).into())
    }
}

#[cfg(test)]
mod tests {
    use registry::Timestamp;

    use super::*;

    /// Two requests per minute: one is replenished in 30 seconds.
    #[test]
    fn the_reset_is_exact_in_a_partly_used_interval() {
        const OPERATION: &str = "invoke-tool-version";
        let system = registry::Clock::fixed(Timestamp::from_milliseconds(1_000_000));
        let limits = RateLimits::off().with(OPERATION, 2);
        let limit = LimitFactory::new(limits, system.clone(), None).find_limit(OPERATION).unwrap();
        let key = Key::from_names(OPERATION, ["acme", "ada"], None);
        let check = |after_ms, is_admitted, remaining, reset| {
            system.advance(Duration::from_millis(after_ms));
            let verdict = limit.count(&limit.callers, &key);
            assert_eq!((verdict.retry_after.is_none(), verdict.remaining), (is_admitted, remaining), "{reset}");
            assert_eq!(limit.compute_unix_seconds(verdict.restored_in), reset);
        };
        check(0, true, 1, 1_030);
        check(10_500, true, 0, 1_060);
        check(10_000, false, 0, 1_060);
        check(9_500, true, 0, 1_090);
        // All requests were restored 0.3 seconds before. The header rounds up.
        check(60_300, true, 1, 1_121);
    }
}
