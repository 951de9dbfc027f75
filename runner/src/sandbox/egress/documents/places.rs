//! The documents that are read at the same time: few in all, and fewer for one client and from one host.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::refused::DocumentRefused;

/// Documents that are read at the same time. Anyone can ask for one.
const PARALLEL_MAX: usize = 8;
/// Those that one address asks for: a quarter, so that no client keeps the documents of others waiting.
const PARALLEL_PER_CLIENT_MAX: usize = 2;
/// Those of one host, which may be one that says nothing.
const PARALLEL_PER_HOST_MAX: usize = 2;

/// Clones share the counts.
#[derive(Clone, Default)]
pub(super) struct Places(Arc<Mutex<Counts>>);

#[derive(Default)]
struct Counts {
    all: usize,
    of_client: HashMap<IpAddr, usize>,
    of_host: HashMap<String, usize>,
}

/// A document that is read. Dropping the place ends it, as soon as the name of its host is resolved: the resolver of the
/// system blocks a thread for longer than a document may take.
pub(super) struct Place {
    owner: Option<PlaceOwner>,
    pub(super) resolving: Arc<Semaphore>,
}

struct PlaceOwner {
    places: Places,
    client: Option<IpAddr>,
    host: String,
}

impl Places {
    pub(super) fn take(&self, client: Option<IpAddr>, host: String) -> Result<Place, DocumentRefused> {
        let mut counts = self.0.lock();
        let of_client = client.and_then(|client| counts.of_client.get(&client)).copied().unwrap_or_default();
        if of_client >= PARALLEL_PER_CLIENT_MAX {
            return Err(DocumentRefused::TooManyOfClient { limit: PARALLEL_PER_CLIENT_MAX });
        }
        let of_host = counts.of_host.get(&host).copied().unwrap_or_default();
        if counts.all >= PARALLEL_MAX || of_host >= PARALLEL_PER_HOST_MAX {
            return Err(DocumentRefused::Busy);
        }
        counts.all += 1;
        *counts.of_host.entry(host.clone()).or_default() += 1;
        if let Some(client) = client {
            *counts.of_client.entry(client).or_default() += 1;
        }
        drop(counts);
        let owner = PlaceOwner { places: self.clone(), client, host };
        Ok(Place { owner: Some(owner), resolving: Arc::new(Semaphore::new(1)) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(owner) = self.owner.take() else { return };
        let resolving = Arc::clone(&self.resolving);
        match Handle::try_current() {
            Ok(runtime) if resolving.available_permits() == 0 => {
                runtime.spawn(async move {
                    // However it ends: the resolver has returned.
                    drop(resolving.acquire().await);
                    drop(owner);
                });
            }
            _ => drop(owner),
        }
    }
}

impl Drop for PlaceOwner {
    fn drop(&mut self) {
        let mut counts = self.places.0.lock();
        counts.all = counts.all.saturating_sub(1);
        subtract(&mut counts.of_host, &self.host);
        if let Some(client) = self.client {
            subtract(&mut counts.of_client, &client);
        }
    }
}

/// Removes one, and the key with the last one.
fn subtract<K: Hash + Eq>(counts: &mut HashMap<K, usize>, key: &K) {
    match counts.get_mut(key) {
        Some(count) if *count > 1 => *count -= 1,
        _ => drop(counts.remove(key)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(number: u8) -> Option<IpAddr> {
        Some(IpAddr::from([192, 0, 2, number]))
    }

    #[test]
    fn places_are_bounded_in_all_for_a_client_and_for_a_host() {
        let places = Places::default();
        let take = |number: u8, host: &str| places.take(client(number), host.to_owned());
        let mut taken = vec![take(1, "a").unwrap(), take(1, "b").unwrap()];
        assert!(matches!(take(1, "c"), Err(DocumentRefused::TooManyOfClient { limit: 2 })));
        taken.push(take(2, "a").unwrap());
        assert!(matches!(take(3, "a"), Err(DocumentRefused::Busy)), "a host");
        for number in 4..9 {
            taken.push(take(number, &number.to_string()).unwrap());
        }
        assert!(matches!(take(9, "z"), Err(DocumentRefused::Busy)), "all");
        taken.remove(0);
        taken.push(take(1, "a").unwrap());
        taken.clear();
        let counts = places.0.lock();
        assert!(counts.all == 0 && counts.of_client.is_empty() && counts.of_host.is_empty());
    }

    #[tokio::test]
    async fn a_place_is_taken_until_the_resolver_has_returned() {
        let places = Places::default();
        let place = places.take(client(1), "a".to_owned()).unwrap();
        let resolving = Arc::clone(&place.resolving).acquire_owned().await.unwrap();
        drop(place);
        assert_eq!(places.0.lock().all, 1);
        drop(resolving);
        while places.0.lock().all > 0 {
            tokio::task::yield_now().await;
        }
    }
}
