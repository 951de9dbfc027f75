//! Those who wait for changes of what one user sees.

use std::collections::HashMap;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::changes::{Change, ChangeKind};
use crate::kit::account::{AccountId, OrganizationId};

/// Counters of the changes of what one user sees, by this server or by another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeenChanges {
    /// Changes of the user's rights.
    pub rights: u64,
    /// Changes of tools and agents of the organisation.
    pub tools: u64,
    /// Changes of prompts, artifacts and skills that the user may see.
    pub library: u64,
}

impl SeenChanges {
    /// Counts a change. Returns whether there is a counter for it.
    const fn count(&mut self, kind: ChangeKind) -> bool {
        let counter = match kind {
            ChangeKind::Rights => &mut self.rights,
            ChangeKind::Tools | ChangeKind::Agents => &mut self.tools,
            ChangeKind::Library => &mut self.library,
            ChangeKind::UserVariables | ChangeKind::Rules | ChangeKind::Cancellations => return false,
        };
        *counter += 1;
        true
    }

    const fn count_all(&mut self) {
        self.rights += 1;
        self.tools += 1;
        self.library += 1;
    }
}

type OfUsers = HashMap<AccountId, watch::Sender<SeenChanges>>;

/// The counters of users for whom somebody waits. Those of others are forgotten.
#[derive(Default)]
pub(super) struct Subscribers(Mutex<HashMap<OrganizationId, OfUsers>>);

impl Subscribers {
    pub fn subscribe(&self, organization: &OrganizationId, account: &AccountId) -> watch::Receiver<SeenChanges> {
        let mut all = self.0.lock();
        forget_unused(&mut all);
        let users = all.entry(organization.clone()).or_default();
        users.entry(account.clone()).or_default().subscribe()
    }

    pub fn tell(&self, change: &Change) {
        let all = self.0.lock();
        let Some(users) = all.get(&change.organization) else { return };
        let count = |sender: &watch::Sender<SeenChanges>| {
            sender.send_if_modified(|seen| seen.count(change.kind));
        };
        match &change.account {
            Some(account) => users.get(account).into_iter().for_each(count),
            None => users.values().for_each(count),
        }
    }

    pub fn tell_all(&self) {
        let all = self.0.lock();
        all.values().flat_map(HashMap::values).for_each(|sender| sender.send_modify(SeenChanges::count_all));
    }
}

fn forget_unused(all: &mut HashMap<OrganizationId, OfUsers>) {
    all.retain(|_, users| {
        users.retain(|_, sender| sender.receiver_count() > 0);
        !users.is_empty()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_whom_a_change_concerns_are_woken() {
        let subscribers = Subscribers::default();
        let id = |text: &str| (OrganizationId::parse(text).unwrap(), AccountId::parse(&format!("{text}#1")).unwrap());
        let ((acme, ann), (globex, bob)) = (id("acme"), id("globex"));
        let mut own = subscribers.subscribe(&acme, &ann);
        let mut colleague = subscribers.subscribe(&acme, &bob);
        let mut other = subscribers.subscribe(&globex, &ann);
        subscribers.tell(&Change::of_user(ChangeKind::Library, &acme, &ann));
        subscribers.tell(&Change::of_organization(ChangeKind::Cancellations, &globex));
        assert!(own.has_changed().unwrap() && !colleague.has_changed().unwrap() && !other.has_changed().unwrap());
        assert_eq!(*own.borrow_and_update(), SeenChanges { library: 1, ..SeenChanges::default() });
        subscribers.tell(&Change::of_organization(ChangeKind::Tools, &acme));
        assert_eq!(*colleague.borrow_and_update(), SeenChanges { tools: 1, ..SeenChanges::default() });
        assert!(own.has_changed().unwrap() && !other.has_changed().unwrap());
        subscribers.tell_all();
        assert_eq!(*other.borrow_and_update(), SeenChanges { rights: 1, tools: 1, library: 1 });
        drop((own, colleague));
        subscribers.subscribe(&globex, &ann);
        assert_eq!(subscribers.0.lock().len(), 1);
    }
}
