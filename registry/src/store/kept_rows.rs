//! Rows that a server keeps in memory, and what changes of them do.

use std::sync::Arc;

use tokio::sync::Notify;

use super::call_caches::CallCaches;
use super::changes::{Change, ChangeKind, Notice, read_notice};
use super::other_tables::OtherTables;
use super::subscribers::Subscribers;
use super::token_cache::TokenCache;
use crate::kit::ids::BootId;

/// What a server has in memory of rows, and those who wait for changes of them.
pub(super) struct KeptRows {
    pub boot: BootId,
    pub caches: CallCaches,
    pub tokens: TokenCache,
    pub subscribers: Subscribers,
    /// Tables of another crate, with what it keeps of them in memory.
    pub other_tables: Option<Arc<dyn OtherTables>>,
    /// Wakes the task that cancels runs.
    pub cancellations: Notify,
}

impl KeptRows {
    pub fn new(boot: BootId, other_tables: Option<Arc<dyn OtherTables>>) -> Self {
        Self {
            boot,
            caches: CallCaches::default(),
            tokens: TokenCache::default(),
            subscribers: Subscribers::default(),
            other_tables,
            cancellations: Notify::new(),
        }
    }

    /// Drops the rows that a change names, and tells those who wait for such changes.
    pub fn apply(&self, change: &Change) {
        self.drop_changed(change);
        self.subscribers.tell(change);
    }

    /// Drops the rows that a change names.
    pub fn drop_changed(&self, change: &Change) {
        let Change { kind, organization, account } = change;
        match kind {
            ChangeKind::Tools => self.caches.drop_tools(organization),
            ChangeKind::Rights => self.tokens.drop_tokens(organization, account.as_ref()),
            ChangeKind::UserVariables => self.caches.drop_user_variables(organization, account.as_ref()),
            // Kept for the task, if it is busy now.
            ChangeKind::Cancellations => self.cancellations.notify_one(),
            ChangeKind::Agents | ChangeKind::Library | ChangeKind::Rules => {}
        }
        if let Some(others) = &self.other_tables {
            others.drop_changed(change);
        }
    }

    /// Drops everything, after notices may have been missed.
    pub fn apply_everything(&self) {
        self.caches.clear();
        self.tokens.checked.clear();
        if let Some(others) = &self.other_tables {
            others.drop_everything();
        }
        self.subscribers.tell_all();
        self.cancellations.notify_one();
    }

    /// Applies the notice of another server; `None` when notices may have been missed.
    pub fn apply_notice(&self, notice: Option<&str>) {
        match notice.map(|text| read_notice(&self.boot, text)) {
            Some(Notice::Own) => {}
            Some(Notice::Of(change)) => self.apply(&change),
            Some(Notice::Unknown) | None => self.apply_everything(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Grants, Principal};
    use crate::kit::account::{AccountId, OrganizationId};
    use crate::kit::clock::Clock;
    use crate::store::changes::write_notice;
    use crate::store::token_cache::Checked;

    fn ids(organization: &str, user: &str) -> (OrganizationId, AccountId) {
        let account = AccountId::parse(&format!("{user}#1")).unwrap();
        (OrganizationId::parse(organization).unwrap(), account)
    }

    /// Rows of three users in memory, of whom two are of one organisation.
    struct Filled {
        kept: KeptRows,
        users: [(OrganizationId, AccountId); 3],
    }

    impl Filled {
        fn new() -> Self {
            let kept = KeptRows::new(BootId::new(&Clock::system()), None);
            let users = [ids("acme", "ann"), ids("acme", "bob"), ids("globex", "ann")];
            for (number, (organization, account)) in (0..).zip(users.clone()) {
                let principal = Principal {
                    organization: organization.clone(),
                    account: account.clone(),
                    grants: Grants::default(),
                    key: None,
                    agent: None,
                    address: None,
                };
                let (tokens, variables) = (&kept.tokens.checked, &kept.caches.user_variables);
                let checked = Checked { principal, expires_at: None, resource: None };
                tokens.insert_read(&tokens.read_start(), [number; 32], checked);
                variables.insert_read(&variables.read_start(), (organization, account), Arc::from([]));
            }
            Self { kept, users }
        }

        /// The numbers of the users whose tokens and whose variables are in memory.
        fn left(&self) -> (Vec<u8>, Vec<u8>) {
            let tokens = (0..3).filter(|number| self.kept.tokens.checked.get(&[*number; 32]).is_some()).collect();
            let has_variables = |user| self.kept.caches.user_variables.get(user).is_some();
            let users = (0..).zip(&self.users).filter(|(_, user)| has_variables(user));
            (tokens, users.map(|(number, _)| number).collect())
        }
    }

    #[test]
    fn a_change_drops_what_it_names_and_nothing_of_others() {
        let (acme, ann) = ids("acme", "ann");
        for (change, expected) in [
            (Change::of_user(ChangeKind::Rights, &acme, &ann), (vec![1, 2], vec![0, 1, 2])),
            (Change::of_organization(ChangeKind::Rights, &acme), (vec![2], vec![0, 1, 2])),
            (Change::of_user(ChangeKind::UserVariables, &acme, &ann), (vec![0, 1, 2], vec![1, 2])),
            (Change::of_organization(ChangeKind::UserVariables, &acme), (vec![0, 1, 2], vec![2])),
            (Change::of_organization(ChangeKind::Tools, &acme), (vec![0, 1, 2], vec![0, 1, 2])),
            (Change::of_user(ChangeKind::Library, &acme, &ann), (vec![0, 1, 2], vec![0, 1, 2])),
        ] {
            let filled = Filled::new();
            let other = BootId::new(&Clock::system());
            filled.kept.apply_notice(Some(&write_notice(&other, &change)));
            assert_eq!(filled.left(), expected, "{change:?}");
            filled.kept.apply_notice(None);
            assert_eq!(filled.left(), (vec![], vec![]));
        }
    }

    #[test]
    fn an_own_notice_drops_nothing_and_an_unknown_one_everything() {
        let (acme, _) = ids("acme", "ann");
        let filled = Filled::new();
        let own = write_notice(&filled.kept.boot, &Change::of_organization(ChangeKind::Rights, &acme));
        filled.kept.apply_notice(Some(&own));
        assert_eq!(filled.left(), (vec![0, 1, 2], vec![0, 1, 2]));
        filled.kept.apply_notice(Some("another weather acme"));
        assert_eq!(filled.left(), (vec![], vec![]));
    }
}
