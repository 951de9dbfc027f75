//! Looks at the lists that clients are told of. All clients of a user at an agent share one look after a change, and are woken only if
//! it finds another list.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use agents::{AgentReference, AgentStore, Catalogue, Catalogues, LibraryFamily, LibraryScope, ListedTool};
use api_kit::error::Error;
use parking_lot::Mutex;
use registry::{AgentId, Digest, Grants, Principal, SeenChanges};
use rmcp::ErrorData;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::calls::Viewpoint;
use crate::lists::{LibraryItems, digest_tools, tool_forms};
use crate::sessions::metrics;

/// Time in which changes are announced together.
const TOGETHER: Duration = Duration::from_millis(50);
/// Time between two looks, so that many changes one after the other cost two looks a second.
const NEXT_LOOK_AFTER: Duration = Duration::from_millis(500);
/// Time after an error before the next look.
const TRIED_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// Time after which rights are checked although nothing was announced: tokens expire.
const CHECK_EVERY: Duration = Duration::from_secs(30);

/// The lists that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lists {
    pub prompts: bool,
    pub resources: bool,
}

/// Clients that see the same.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Viewer {
    library: LibraryScope,
    agent: AgentId,
    /// Other credentials of the user may end before.
    rights: Digest,
    lists: Lists,
}

/// The lists that the clients of a viewer see. `None` for a list that no client watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub tools: Digest,
    pub prompts: Option<Digest>,
    pub resources: Option<Digest>,
    /// The number of changes of the Library, which may be changes of single resources.
    pub library: u64,
}

/// The result of the last look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Nobody has looked yet.
    Awaited,
    Seen(Seen),
    /// The user has no rights any more, or the agent is gone.
    Ended,
}

/// The looks of a server, by those who see the same. Clones share them.
#[derive(Clone)]
pub struct Looks {
    pub store: AgentStore,
    pub catalogues: Catalogues,
    viewers: Arc<Mutex<HashMap<Viewer, watch::Sender<Look>>>>,
}

impl Looks {
    pub fn new(store: AgentStore, catalogues: Catalogues) -> Self {
        Self { store, catalogues, viewers: Arc::default() }
    }

    /// Returns the looks for one client. A viewer is looked for until its last client is gone.
    pub fn subscribe(&self, viewpoint: &Viewpoint, lists: Lists) -> watch::Receiver<Look> {
        let Viewpoint { library, agent, rights } = viewpoint.clone();
        let viewer = Viewer { library, agent, rights: rights.digest(), lists };
        let mut viewers = self.viewers.lock();
        if let Some(shared) = viewers.get(&viewer) {
            return shared.subscribe();
        }
        let (shared, receiver) = watch::channel(Look::Awaited);
        viewers.insert(viewer.clone(), shared.clone());
        let looker = Looker { looks: self.clone(), viewpoint: viewpoint.clone(), lists, principal: None, last: None };
        tokio::spawn(self.clone().keep(viewer, shared, looker));
        receiver
    }

    /// Looks after every change until no client is left, or until the rights end.
    async fn keep(self, viewer: Viewer, shared: watch::Sender<Look>, mut looker: Looker) {
        let LibraryScope { organization, account, .. } = &viewer.library;
        let mut changes = self.store.registry().seen_changes(organization, account);
        loop {
            let counted = *changes.borrow_and_update();
            let began = Instant::now();
            match looker.look(counted).await {
                Ok(look) => {
                    let is_new = |last: &mut Look| std::mem::replace(last, look) != look;
                    shared.send_if_modified(is_new);
                    if look == Look::Ended {
                        self.viewers.lock().remove(&viewer);
                        return;
                    }
                }
                Err(_) => {
                    looker.principal = None;
                    sleep(TRIED_AGAIN_AFTER).await;
                    if self.has_ended(&viewer, &shared) {
                        return;
                    }
                    continue;
                }
            }
            tokio::select! {
                // An error of `changed` means that the server ends.
                changed = timeout(CHECK_EVERY, changes.changed()) => match changed {
                    Ok(_) => sleep(TOGETHER).await,
                    Err(_) => looker.principal = None,
                },
                () = shared.closed() => if self.has_ended(&viewer, &shared) { return },
            }
            sleep_until(began + NEXT_LOOK_AFTER).await;
        }
    }

    /// Forgets a viewer without clients.
    fn has_ended(&self, viewer: &Viewer, shared: &watch::Sender<Look>) -> bool {
        let mut viewers = self.viewers.lock();
        let has_ended = shared.receiver_count() == 0;
        if has_ended {
            viewers.remove(viewer);
        }
        has_ended
    }
}

/// Looks for one viewer, and remembers what need not be read again.
struct Looker {
    looks: Looks,
    viewpoint: Viewpoint,
    lists: Lists,
    /// The user with checked rights; `None` when they have to be checked.
    principal: Option<Principal>,
    last: Option<LastLook>,
}

struct LastLook {
    counted: SeenChanges,
    grants: Grants,
    seen: Seen,
    items: ItemDigests,
}

/// Digests of the items of the Library in both lists; `None` for a list without items.
#[derive(Clone, Copy, Default)]
struct ItemDigests {
    prompts: Option<Digest>,
    resources: Option<Digest>,
}

impl Looker {
    /// Returns what the clients see. An error passes: the database does not answer, for example.
    async fn look(&mut self, counted: SeenChanges) -> Result<Look, ErrorData> {
        let Some(principal) = self.check_rights(counted).await? else { return Ok(Look::Ended) };
        let is_as_last = |last: &&LastLook| {
            let SeenChanges { tools, library, .. } = last.counted;
            (tools, library) == (counted.tools, counted.library) && last.grants == principal.grants
        };
        if let Some(last) = self.last.as_ref().filter(is_as_last) {
            return Ok(Look::Seen(last.seen));
        }
        metrics::count_look();
        let reference = AgentReference::from(&self.viewpoint.agent);
        let Looks { store, catalogues, .. } = &self.looks;
        let Some(running) = store.agents().running_agent(&principal, &reference).await.map_err(log_retry)? else {
            return Ok(Look::Ended);
        };
        let catalogue = catalogues.catalogue(&principal, running).await.map_err(log_retry)?;
        let items = self.read_items(&catalogue, counted).await.map_err(log_retry)?;
        let Lists { prompts, resources } = self.lists;
        let seen = Seen {
            tools: catalogue.digest(),
            prompts: prompts.then(|| digest_list(&tool_forms::list_prompts(&catalogue), items.prompts)),
            resources: resources.then(|| digest_list(&tool_forms::list_resources(&catalogue), items.resources)),
            library: counted.library,
        };
        self.last = Some(LastLook { counted, grants: principal.grants, seen, items });
        Ok(Look::Seen(seen))
    }

    /// Returns the user with the present grants; `None` when the rights have ended.
    async fn check_rights(&mut self, counted: SeenChanges) -> Result<Option<Principal>, ErrorData> {
        let is_checked = self.last.as_ref().is_some_and(|last| last.counted.rights == counted.rights);
        if let Some(principal) = self.principal.as_ref().filter(|_| is_checked) {
            return Ok(Some(principal.clone()));
        }
        match self.viewpoint.rights.check().await {
            Ok(principal) => {
                self.principal = Some(principal.clone());
                self.last.iter_mut().for_each(|last| last.counted.rights = counted.rights);
                Ok(Some(principal))
            }
            Err(Error::Unauthenticated | Error::KeyEnded(_) | Error::Forbidden { .. } | Error::NotFound) => Ok(None),
            Err(error) => Err(log_retry(error)),
        }
    }

    /// Returns the digests of the items, of which those without a change are not read again.
    async fn read_items(&self, catalogue: &Catalogue, counted: SeenChanges) -> Result<ItemDigests, registry::Error> {
        let last = self.last.as_ref().filter(|last| last.counted.library == counted.library);
        let last = last.map(|last| last.items).unwrap_or_default();
        let digest = async |family, is_listed: bool, last: Option<Digest>| match last {
            _ if !is_listed || !catalogue.running.has_family(family) => Ok(None),
            Some(last) => Ok(Some(last)),
            None => LibraryItems::of(&self.looks.store, &self.viewpoint, family).read_digest().await.map(Some),
        };
        Ok(ItemDigests {
            prompts: digest(LibraryFamily::Prompts, self.lists.prompts, last.prompts).await?,
            resources: digest(LibraryFamily::Artifacts, self.lists.resources, last.resources).await?,
        })
    }
}

/// Returns a digest of a list: of its tools, then of its items.
fn digest_list(tools: &[&ListedTool], items: Option<Digest>) -> Digest {
    let items = items.map(|items| items.to_hex()).unwrap_or_default();
    Digest::of(format!("{} {items}", digest_tools(tools).to_hex()).as_bytes())
}

fn log_retry(error: impl std::fmt::Display) -> ErrorData {
    tracing::warn!(%error, "changes for an MCP client are looked for again");
    ErrorData::internal_error("The server failed.", None)
}
