//! Bounds of the bytes of request bodies: of one body, by its route, and of all bodies that are being read.
//!
//! A body counts from its first byte until its reader has all of it or gives up. So neither an organisation nor an address can fill
//! the memory with bodies that never end. Git's bodies are passed on while they arrive and do not count.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_LENGTH;
use futures_util::stream::try_unfold;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use parking_lot::Mutex;
use registry::OrganizationId;

use crate::error::Error;

/// Bytes of all bodies that are being read.
const ALL_BYTES_MAX: usize = 128 << 20;
/// Bytes of the bodies of one organisation: a quarter, and the largest body of each of 32 requests.
const ORGANIZATION_BYTES_MAX: usize = 32 << 20;
/// Bytes of the bodies without credentials of one address, which have some kilobytes each.
const ADDRESS_BYTES_MAX: usize = 1 << 20;

/// The bytes of a body that a route reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyBound {
    /// A form or a document of a route without credentials: as long as a URL with the same parameters may be, twice.
    Form,
    /// The fields of a resource. The longest texts have some kilobytes.
    Fields,
    /// The contents of a resource, or the inputs of ten runs: 100 KiB each.
    Content,
    /// A stream with bounds of its own, for git.
    Streamed,
}

impl BodyBound {
    pub const fn bytes_max(self) -> usize {
        match self {
            Self::Form => 16 << 10,
            Self::Fields => 256 << 10,
            Self::Content => 1 << 20,
            Self::Streamed => usize::MAX,
        }
    }
}

/// The owner of a body: bodies of one owner are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BodyOwner {
    Organization(OrganizationId),
    Address(Option<IpAddr>),
}

impl BodyOwner {
    const fn bytes_max(&self) -> usize {
        match self {
            Self::Organization(_) => ORGANIZATION_BYTES_MAX,
            Self::Address(_) => ADDRESS_BYTES_MAX,
        }
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Organization(_) => "organization",
            Self::Address(_) => "address",
        }
    }
}

/// The bytes of the bodies that are being read. Clones share the counts.
#[derive(Clone, Default)]
pub struct BodyBudget(Arc<Mutex<Counts>>);

#[derive(Default)]
struct Counts {
    all: usize,
    /// Only of those with a body, so that the connections bound the table.
    of_owner: HashMap<BodyOwner, usize>,
}

/// Why a body is not read further.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BodyRefused(pub Error);

impl BodyBudget {
    /// Wraps a body so that it fails with [`BodyRefused`] beyond its bound, and when too many bytes are being read.
    pub fn bound_body(&self, headers: &HeaderMap, body: Body, bound: BodyBound, owner: BodyOwner) -> Body {
        if bound == BodyBound::Streamed || body.is_end_stream() {
            return body;
        }
        let share = BodyShare { budget: self.clone(), owner, bytes: 0 };
        let bounded =
            BoundedBody { inner: body, declared: read_declared_length(headers), bytes_max: bound.bytes_max(), share };
        Body::new(StreamBody::new(try_unfold(bounded, |mut bounded| async move {
            Ok::<_, BoxError>(bounded.read_frame().await?.map(|frame| (frame, bounded)))
        })))
    }
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

fn read_declared_length(headers: &HeaderMap) -> usize {
    headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok()).unwrap_or_default()
}

struct BoundedBody {
    inner: Body,
    declared: usize,
    bytes_max: usize,
    share: BodyShare,
}

impl BoundedBody {
    async fn read_frame(&mut self) -> Result<Option<Frame<Bytes>>, BoxError> {
        // A body that says that it is too large is refused before the client sends it.
        self.check(self.declared).map_err(BodyRefused)?;
        let frame = self.inner.frame().await.transpose().map_err(axum::Error::into_inner)?;
        let bytes = frame.as_ref().and_then(Frame::data_ref).map_or(0, Bytes::len);
        self.check(self.share.bytes + bytes).map_err(BodyRefused)?;
        self.share.add(bytes).map_err(BodyRefused)?;
        Ok(frame)
    }

    fn check(&self, bytes: usize) -> Result<(), Error> {
        let bytes_max = self.bytes_max;
        if bytes > bytes_max { Err(Error::TooLarge { bytes_max }) } else { Ok(()) }
    }
}

/// The bytes of one body. Dropping it releases them.
struct BodyShare {
    budget: BodyBudget,
    owner: BodyOwner,
    bytes: usize,
}

impl BodyShare {
    fn add(&mut self, bytes: usize) -> Result<(), Error> {
        let mut counts = self.budget.0.lock();
        let of_owner = counts.of_owner.get(&self.owner).copied().unwrap_or_default();
        if of_owner + bytes > self.owner.bytes_max() {
            return Err(Error::BodiesFull { owner: Some(self.owner.name()) });
        }
        if counts.all + bytes > ALL_BYTES_MAX {
            return Err(Error::BodiesFull { owner: None });
        }
        if bytes > 0 {
            counts.all += bytes;
            counts.of_owner.insert(self.owner.clone(), of_owner + bytes);
            self.bytes += bytes;
        }
        Ok(())
    }
}

impl Drop for BodyShare {
    fn drop(&mut self) {
        let mut counts = self.budget.0.lock();
        counts.all = counts.all.saturating_sub(self.bytes);
        match counts.of_owner.get_mut(&self.owner) {
            Some(bytes) if *bytes > self.bytes => *bytes -= self.bytes,
            _ => drop(counts.of_owner.remove(&self.owner)),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    fn address(number: u8) -> BodyOwner {
        BodyOwner::Address(Some(IpAddr::from([192, 0, 2, number])))
    }

    fn share(budget: &BodyBudget, owner: BodyOwner) -> BodyShare {
        BodyShare { budget: budget.clone(), owner, bytes: 0 }
    }

    #[test]
    fn bodies_are_bounded_for_an_owner_and_for_the_server() {
        let budget = BodyBudget::default();
        let mut first = share(&budget, address(1));
        first.add(ADDRESS_BYTES_MAX).unwrap();
        let mut second = share(&budget, address(1));
        let refused = second.add(1).unwrap_err();
        assert_eq!((refused.code(), refused.kind()), ("too_many_body_bytes", crate::error::Kind::TooManyRequests));
        share(&budget, address(2)).add(1).unwrap();
        drop(first);
        second.add(1).unwrap();

        let organizations = (0..).map(|number| OrganizationId::parse(&format!("org{number}")).unwrap());
        let full = |organization| {
            let mut share = share(&budget, BodyOwner::Organization(organization));
            share.add(ORGANIZATION_BYTES_MAX).map(|()| share)
        };
        let (count, mut held) = (ALL_BYTES_MAX / ORGANIZATION_BYTES_MAX, Vec::new());
        let refused = organizations.take(count).filter_map(|organization| match full(organization) {
            Ok(share) => {
                held.push(share);
                None
            }
            Err(refused) => Some(refused.code()),
        });
        assert_eq!(refused.collect::<Vec<_>>(), ["overloaded"], "one byte is another's");
        drop((second, held));
        assert!(budget.0.lock().all == 0 && budget.0.lock().of_owner.is_empty());
    }

    #[tokio::test]
    async fn a_body_beyond_the_bound_of_its_route_is_refused() {
        let budget = BodyBudget::default();
        let read = async |headers: &HeaderMap, parts: usize| {
            let parts = stream::iter((0..parts).map(|_| Ok::<_, std::io::Error>(vec![0; 8 << 10])));
            let body = budget.bound_body(headers, Body::from_stream(parts), BodyBound::Form, address(1));
            crate::extract::read(body).await.map(|bytes| bytes.len()).map_err(|error| error.code())
        };
        assert_eq!(read(&HeaderMap::new(), 2).await, Ok(16 << 10));
        assert_eq!(read(&HeaderMap::new(), 3).await, Err("body_too_large"));
        let declared = HeaderMap::from_iter([(CONTENT_LENGTH, "16385".parse().unwrap())]);
        assert_eq!(read(&declared, 0).await, Err("body_too_large"), "before the first byte");
        assert!(budget.0.lock().of_owner.is_empty());
    }
}
