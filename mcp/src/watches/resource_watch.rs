//! The resources of which one client is told: when another version reads it, when an artifact is deleted, or when a skill changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use agents::{AgentStore, Catalogue, LibraryFamily};
use parking_lot::Mutex;
use registry::Digest;
use rmcp::ErrorData;
use rmcp::model::{ResourceUpdatedNotification, ResourceUpdatedNotificationParam, ServerNotification};

use crate::calls::Viewpoint;
use crate::lists::tool_resources;
use crate::lists::{LibraryItems, build_skill_uri, digest_tools, parse_artifact_id, parse_skill_id, refuse_uri};

/// Resources of one client. Each is looked at after every change of what the user sees.
const WATCHED_MAX: usize = 100;
/// Bytes of a URI that is watched.
const URI_BYTES_MAX: usize = 2_048;
/// Bytes of all URIs of one client: 2,000 clients of a server have 32 MiB.
const URIS_BYTES_MAX: usize = 16 << 10;

/// Returns the first URIs of a list that one client may watch.
pub fn take_within_bounds(uris: &[String]) -> Vec<String> {
    let mut left = URIS_BYTES_MAX;
    let fits = |uri: &&String| left.checked_sub(uri.len()).inspect(|rest| left = *rest).is_some();
    let short = uris.iter().filter(|uri| uri.len() <= URI_BYTES_MAX);
    short.take(WATCHED_MAX).take_while(fits).cloned().collect()
}

/// What a client saw last of each resource; `None` for one that was not there.
#[derive(Clone, Default)]
pub struct WatchedResources(Arc<Mutex<BTreeMap<String, Option<Digest>>>>);

/// The resources that a user sees now.
pub struct VisibleResources<'a> {
    pub store: &'a AgentStore,
    pub viewpoint: &'a Viewpoint,
    pub catalogue: &'a Catalogue,
}

impl VisibleResources<'_> {
    /// Returns a digest that changes with a resource; `None` for one that is not there.
    async fn read_state(&self, uri: &str) -> Result<Option<Digest>, ErrorData> {
        if let Some(found) = tool_resources::find(self.catalogue, uri) {
            return Ok(Some(digest_tools(&[found.listed])));
        }
        let items = |family| LibraryItems::of(self.store, self.viewpoint, family);
        let has = |family| self.catalogue.running.has_family(family);
        let revision = match (parse_artifact_id(uri), parse_skill_id(uri)) {
            (Some(id), _) if has(LibraryFamily::Artifacts) => {
                items(LibraryFamily::Artifacts).find_artifact_revision(&id).await?
            }
            (_, Some(id)) if has(LibraryFamily::Skills) => {
                let found = items(LibraryFamily::Skills).find_revision(&id).await?;
                found.filter(|(_, name)| build_skill_uri(&id, name) == uri).map(|(revision, _)| revision)
            }
            _ => None,
        };
        Ok(revision.map(|revision| Digest::of(revision.to_string().as_bytes())))
    }
}

impl WatchedResources {
    /// Begins to watch a resource.
    ///
    /// # Errors
    /// When there is no such resource, or the client watches too many.
    pub async fn add(&self, uri: String, visible: &VisibleResources<'_>) -> Result<(), ErrorData> {
        if uri.len() > URI_BYTES_MAX {
            return Err(ErrorData::invalid_params(format!("A URI has at most {URI_BYTES_MAX} bytes."), None));
        }
        let state = visible.read_state(&uri).await?.ok_or_else(|| refuse_uri(&uri))?;
        let mut watched = self.0.lock();
        if watched.len() >= WATCHED_MAX && !watched.contains_key(&uri) {
            let text = format!("A session has at most {WATCHED_MAX} subscriptions to resources.");
            return Err(ErrorData::invalid_params(text, None));
        }
        let others: usize = watched.keys().filter(|other| **other != uri).map(String::len).sum();
        if others + uri.len() > URIS_BYTES_MAX {
            let text = format!("The URIs of a session's subscriptions have at most {URIS_BYTES_MAX} bytes together.");
            return Err(ErrorData::invalid_params(text, None));
        }
        watched.insert(uri, Some(state));
        Ok(())
    }

    /// Begins to watch resources of which some may not be there yet.
    pub async fn add_all(&self, uris: &[String], visible: &VisibleResources<'_>) -> Result<(), ErrorData> {
        for uri in take_within_bounds(uris) {
            let state = visible.read_state(&uri).await?;
            self.0.lock().insert(uri, state);
        }
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    pub fn remove(&self, uri: &str) {
        self.0.lock().remove(uri);
    }

    /// Returns a notification for each resource that has changed since it was looked at.
    pub async fn find_changes(&self, visible: &VisibleResources<'_>) -> Result<Vec<ServerNotification>, ErrorData> {
        let before: Vec<_> = self.0.lock().iter().map(|(uri, state)| (uri.clone(), *state)).collect();
        let mut changed = Vec::new();
        for (uri, last) in before {
            let now = visible.read_state(&uri).await?;
            changed.extend((now != last).then_some((uri, now)));
        }
        // After all of them: an error loses no change.
        let mut watched = self.0.lock();
        let mut notifications = Vec::new();
        for (uri, now) in changed {
            // A subscription may have ended meanwhile.
            let Some(state) = watched.get_mut(&uri) else { continue };
            *state = now;
            let updated = ResourceUpdatedNotification::new(ResourceUpdatedNotificationParam::new(uri));
            notifications.push(ServerNotification::ResourceUpdatedNotification(updated));
        }
        Ok(notifications)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_watched_uris_of_a_client_are_bounded_in_number_and_in_bytes() {
        let uris = |count: usize, bytes: usize| vec!["x".repeat(bytes); count];
        assert_eq!(take_within_bounds(&uris(2 * WATCHED_MAX, 10)).len(), WATCHED_MAX);
        assert_eq!(take_within_bounds(&uris(100, URI_BYTES_MAX)).len(), URIS_BYTES_MAX / URI_BYTES_MAX);
        assert!(take_within_bounds(&uris(1, URI_BYTES_MAX + 1)).is_empty());
    }
}
