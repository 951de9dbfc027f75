//! Counts the requests in progress, and admits further ones below the bounds.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use registry::{AccountId, OrganizationId, Principal};

use super::bounds::{Bound, Bounds, RequestBounds};
use crate::body_end::OnBodyEnd;
use crate::error::Error;
use crate::server::{StreamOwner, find_client};

/// Admits requests. Clones share the counts.
#[derive(Clone)]
pub struct RequestAdmission(Arc<RequestCounts>);

struct RequestCounts {
    bounds: Bounds,
    /// Only of those with a request in progress, so that the connections bound the table.
    counts: Mutex<HashMap<RequestOwner, Counts>>,
}

/// The user, the organisation or the address that a request counts for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum RequestOwner {
    Organization(OrganizationId),
    User(OrganizationId, AccountId),
    Address(IpAddr),
}

#[derive(Clone, Copy, Default)]
struct Counts {
    requests: usize,
    streams: usize,
}

/// A request in progress. Dropping the permit ends it.
pub struct RequestPermit {
    shared: Arc<RequestCounts>,
    owners: Vec<RequestOwner>,
    is_stream: Mutex<bool>,
}

/// Handle with which a handler turns its request into a listening stream. It does not keep the permit.
#[derive(Clone)]
pub struct StreamAdmission(Weak<RequestPermit>);

impl RequestAdmission {
    pub fn new(bounds: RequestBounds, connections: usize) -> Self {
        Self(Arc::new(RequestCounts { bounds: bounds.of(connections), counts: Mutex::default() }))
    }

    /// Admits a request without credentials, or one whose credentials are not checked yet.
    pub fn admit_address(&self, address: IpAddr) -> Result<Arc<RequestPermit>, Error> {
        self.admit(vec![RequestOwner::Address(find_client(address))])
    }

    /// Admits a request of a user.
    pub fn admit_user(&self, principal: &Principal) -> Result<Arc<RequestPermit>, Error> {
        let (organization, account) = (&principal.organization, &principal.account);
        let of_user = RequestOwner::User(organization.clone(), account.clone());
        self.admit(vec![of_user, RequestOwner::Organization(organization.clone())])
    }

    fn admit(&self, owners: Vec<RequestOwner>) -> Result<Arc<RequestPermit>, Error> {
        let RequestCounts { bounds, counts } = &*self.0;
        let mut counts = counts.lock();
        for owner in &owners {
            let limit = owner.bound(bounds).requests;
            if counts.get(owner).is_some_and(|counts| counts.requests >= limit) {
                return Err(Error::TooManyRequests { owner: owner.name(), limit });
            }
        }
        for owner in &owners {
            counts.entry(owner.clone()).or_default().requests += 1;
        }
        drop(counts);
        Ok(Arc::new(RequestPermit { shared: Arc::clone(&self.0), owners, is_stream: Mutex::new(false) }))
    }
}

impl RequestOwner {
    const fn bound(&self, bounds: &Bounds) -> Bound {
        match self {
            Self::Organization(_) => bounds.organization,
            Self::User(..) => bounds.user,
            Self::Address(_) => bounds.address,
        }
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Organization(_) => "organization",
            Self::User(..) => "user",
            Self::Address(_) => "address",
        }
    }
}

impl RequestPermit {
    pub fn admit_streams(self: &Arc<Self>) -> StreamAdmission {
        StreamAdmission(Arc::downgrade(self))
    }

    /// Counts the request as a listening stream from now on, and returns the owner that its connection is evicted with.
    fn become_stream(&self) -> Result<StreamOwner, Error> {
        let RequestCounts { bounds, counts } = &*self.shared;
        let (mut is_stream, mut counts) = (self.is_stream.lock(), counts.lock());
        if !*is_stream {
            for owner in &self.owners {
                let limit = owner.bound(bounds).streams;
                if counts.get(owner).is_some_and(|counts| counts.streams >= limit) {
                    return Err(refuse_stream(owner.name(), limit));
                }
            }
            for owner in &self.owners {
                counts.entry(owner.clone()).or_default().streams += 1;
            }
            *is_stream = true;
        }
        drop((is_stream, counts));
        Ok(StreamOwner::of(&self.owners.last()))
    }
}

impl Drop for RequestPermit {
    fn drop(&mut self) {
        let streams = usize::from(*self.is_stream.get_mut());
        let mut counts = self.shared.counts.lock();
        for owner in self.owners.drain(..) {
            let Entry::Occupied(mut entry) = counts.entry(owner) else { continue };
            let left = entry.get_mut();
            left.requests = left.requests.saturating_sub(1);
            left.streams = left.streams.saturating_sub(streams);
            if left.requests == 0 {
                entry.remove();
            }
        }
    }
}

/// The permit is dropped with the body of the response.
impl OnBodyEnd for Arc<RequestPermit> {
    fn on_body_end(self, _: bool) {}
}

fn refuse_stream(owner: &str, limit: usize) -> Error {
    let streams = if limit == 1 { "stream" } else { "streams" };
    let detail = format!(
        "This {owner} has {limit} listening {streams}, which is the most it may have; end one of them, or listen with one stream \
        to all lists of an agent."
    );
    Error::TooMany { code: "too_many_streams", detail }
}

impl StreamAdmission {
    /// Admits the request as a listening stream.
    ///
    /// # Errors
    /// [`Error::TooMany`] when its user or organisation has as many as it may have.
    pub fn begin(&self) -> Result<StreamOwner, Error> {
        let ended = || Error::Internal { detail: "a stream begins after the end of its request".into() };
        self.0.upgrade().ok_or_else(ended)?.become_stream()
    }
}

#[cfg(test)]
mod tests {
    use registry::Grants;

    use super::*;

    fn start_admission() -> RequestAdmission {
        let bounds = RequestBounds {
            per_organization: Some(3),
            per_user: Some(2),
            streams_per_organization: Some(2),
            streams_per_user: Some(1),
        };
        RequestAdmission::new(bounds, 3)
    }

    fn principal(organization: &str, user: &str) -> Principal {
        Principal {
            organization: OrganizationId::parse(organization).unwrap(),
            account: AccountId::parse(&format!("{user}#1")).unwrap(),
            grants: Grants::default(),
            key: None,
            agent: None,
            address: None,
        }
    }

    fn find_refusal_code<T>(admitted: Result<T, Error>) -> Option<String> {
        admitted.err().map(|error| error.to_string())
    }

    #[test]
    fn users_and_organizations_have_bounds_and_others_do_not_notice() {
        let admission = start_admission();
        let admit = |organization, user| admission.admit_user(&principal(organization, user));
        let mut first = vec![admit("acme", "ada").unwrap(), admit("acme", "ada").unwrap()];
        assert!(find_refusal_code(admit("acme", "ada")).unwrap().contains("user has 2 requests in progress"));
        first.push(admit("acme", "bob").unwrap());
        assert!(find_refusal_code(admit("acme", "eve")).unwrap().contains("organization has 3 requests in progress"));
        let _other = admit("other", "ada").unwrap();
        drop(first.pop());
        assert!(find_refusal_code(admit("acme", "eve")).is_none(), "a request has ended");
    }

    #[test]
    fn streams_have_bounds_of_their_own() {
        let admission = start_admission();
        let admit = |user| admission.admit_user(&principal("acme", user)).unwrap();
        let first = admit("ada");
        assert_eq!(first.admit_streams().begin().unwrap(), first.admit_streams().begin().unwrap(), "it is one stream");
        let second = admit("ada");
        assert!(find_refusal_code(second.admit_streams().begin()).unwrap().contains("user has 1 listening stream"));
        drop(first);
        second.admit_streams().begin().unwrap();
        let other = admit("bob");
        other.admit_streams().begin().unwrap();
        drop((second, other));
        assert!(admission.0.counts.lock().is_empty(), "nothing is left of what has ended");
    }

    #[test]
    fn a_network_is_one_address() {
        let admission = start_admission();
        let admit = |address: &str| admission.admit_address(address.parse().unwrap());
        let first = admit("2001:db8::1").unwrap();
        assert!(find_refusal_code(admit("2001:db8::2")).unwrap().contains("address has 1 request in progress"));
        assert!(find_refusal_code(admit("192.0.2.1")).is_none());
        drop(first);
        assert!(find_refusal_code(admit("2001:db8::2")).is_none());
    }
}
