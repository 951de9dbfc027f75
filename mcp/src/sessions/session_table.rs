//! The owners of the sessions of a server, within bounds for each user, each organisation and the server.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use registry::{AccountId, AgentId, OrganizationId};
use tokio::time::Instant;

use super::metrics;

/// Sessions of one server. Each has its queues and tasks, up to a megabyte after some calls.
const SESSIONS_MAX: usize = 2_000;
/// Sessions of one organisation: four organisations do not fill a server.
const SESSIONS_OF_ORGANIZATION_MAX: usize = 500;
/// Sessions of one user: the machines and windows of a person, and what crashed without an end.
const SESSIONS_OF_USER_MAX: usize = 50;

/// The number of a session in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SessionNumber(u64);

/// The user and the agent of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pub organization: OrganizationId,
    pub account: AccountId,
    pub agent: AgentId,
}

struct Session {
    owner: Owner,
    /// `None` for a session that is about to begin.
    id: Option<Arc<str>>,
    used: Instant,
    /// Requests whose response has not ended.
    requests: u32,
}

impl Session {
    /// Whether the session may be evicted.
    const fn is_idle(&self) -> bool {
        self.requests == 0 && self.id.is_some()
    }
}

type OfUsers = HashMap<AccountId, HashSet<SessionNumber>>;

/// The sessions of a server.
#[derive(Default)]
pub struct SessionTable {
    sessions: HashMap<SessionNumber, Session>,
    numbers: HashMap<Arc<str>, SessionNumber>,
    organizations: HashMap<OrganizationId, OfUsers>,
    last: u64,
}

impl SessionTable {
    /// Adds a session that is about to begin, and removes another one if a bound is reached. Returns the id of the removed one. `None`
    /// when none can be removed.
    pub fn add(&mut self, owner: Owner) -> Option<(SessionNumber, Option<Arc<str>>)> {
        let evicted = match self.find_full_group(&owner) {
            Some(group) => Some(self.evict(&group)?),
            None => None,
        };
        self.last += 1;
        let number = SessionNumber(self.last);
        let users = self.organizations.entry(owner.organization.clone()).or_default();
        users.entry(owner.account.clone()).or_default().insert(number);
        self.sessions.insert(number, Session { owner, id: None, used: Instant::now(), requests: 0 });
        metrics::set_sessions(self.sessions.len());
        Some((number, evicted))
    }

    /// Names a session that has begun.
    pub fn name(&mut self, number: SessionNumber, id: &Arc<str>) {
        if let Some(session) = self.sessions.get_mut(&number) {
            session.id = Some(id.clone());
            self.numbers.insert(id.clone(), number);
        }
    }

    /// Begins a request of a session. `None` for a session of another user or agent, and for an unknown one.
    pub fn begin_use(&mut self, id: &str, owner: &Owner) -> Option<SessionNumber> {
        let number = *self.numbers.get(id)?;
        let session = self.sessions.get_mut(&number).filter(|session| session.owner == *owner)?;
        session.requests += 1;
        session.used = Instant::now();
        Some(number)
    }

    pub fn end_use(&mut self, number: SessionNumber) {
        if let Some(session) = self.sessions.get_mut(&number) {
            session.requests = session.requests.saturating_sub(1);
            session.used = Instant::now();
        }
    }

    /// Whether a session has been without a request for a time.
    pub fn is_idle(&self, number: SessionNumber, time: Duration) -> bool {
        self.sessions.get(&number).is_some_and(|session| session.is_idle() && session.used.elapsed() >= time)
    }

    pub fn remove(&mut self, number: SessionNumber) {
        let Some(session) = self.sessions.remove(&number) else { return };
        if let Some(id) = &session.id {
            self.numbers.remove(id);
        }
        let Owner { organization, account, .. } = session.owner;
        if let Some(users) = self.organizations.get_mut(&organization) {
            if let Some(numbers) = users.get_mut(&account) {
                numbers.remove(&number);
            }
            users.retain(|_, numbers| !numbers.is_empty());
            if users.is_empty() {
                self.organizations.remove(&organization);
            }
        }
        metrics::set_sessions(self.sessions.len());
    }

    /// Returns the sessions of which one has to end before another one of an owner begins: those of the user, or those of the user with
    /// most sessions in a full organisation or in the largest organisation of a full server. `None` while all bounds are kept.
    fn find_full_group(&self, owner: &Owner) -> Option<Vec<SessionNumber>> {
        let users = self.organizations.get(&owner.organization);
        let own = users.and_then(|users| users.get(&owner.account)).filter(|own| own.len() >= SESSIONS_OF_USER_MAX);
        if let Some(own) = own {
            return Some(own.iter().copied().collect());
        }
        let full = users.filter(|users| count(users) >= SESSIONS_OF_ORGANIZATION_MAX);
        let full = full.or_else(|| {
            let is_full = self.sessions.len() >= SESSIONS_MAX;
            self.organizations.values().filter(|_| is_full).max_by_key(|users| count(users))
        })?;
        let largest = full.values().max_by_key(|numbers| numbers.len())?;
        Some(largest.iter().copied().collect())
    }

    /// Removes the session of a group that was used the longest time ago, and returns its id.
    fn evict(&mut self, group: &[SessionNumber]) -> Option<Arc<str>> {
        let sessions = group.iter().filter_map(|number| Some((*number, self.sessions.get(number)?)));
        let idle = sessions.filter(|(_, session)| session.is_idle());
        let (number, session) = idle.min_by_key(|(number, session)| (session.used, number.0))?;
        let id = session.id.clone();
        self.remove(number);
        id
    }
}

fn count(users: &OfUsers) -> usize {
    users.values().map(HashSet::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGENT: &str = "0123456789abcdef01234567";

    fn owner(organization: usize, user: usize) -> Owner {
        Owner {
            organization: OrganizationId::parse(&format!("org{organization}")).unwrap(),
            account: AccountId::parse(&format!("user#{user}")).unwrap(),
            agent: AgentId::parse(AGENT).unwrap(),
        }
    }

    /// Begins a session, and returns its id and that of the evicted one.
    fn begin(table: &mut SessionTable, of: &Owner) -> Option<(Arc<str>, Option<Arc<str>>)> {
        let (number, evicted) = table.add(of.clone())?;
        let id: Arc<str> = format!("{number:?}").into();
        table.name(number, &id);
        Some((id, evicted))
    }

    fn count_of(table: &SessionTable, of: &Owner) -> usize {
        table.organizations.get(&of.organization).and_then(|users| users.get(&of.account)).map_or(0, HashSet::len)
    }

    #[test]
    fn a_user_loses_the_own_session_that_was_used_the_longest_time_ago() {
        let mut table = SessionTable::default();
        let (ann, bob) = (owner(0, 0), owner(0, 1));
        let (of_bob, _) = begin(&mut table, &bob).unwrap();
        let own: Vec<_> = (0..SESSIONS_OF_USER_MAX).map(|_| begin(&mut table, &ann).unwrap().0).collect();
        // The first one is used again.
        let number = table.begin_use(&own[0], &ann).unwrap();
        table.end_use(number);
        let (_, evicted) = begin(&mut table, &ann).unwrap();
        assert_eq!(evicted, Some(own[1].clone()));
        assert_eq!(table.begin_use(&own[1], &ann), None);
        assert!(table.begin_use(&of_bob, &bob).is_some());
        assert_eq!(count_of(&table, &ann), SESSIONS_OF_USER_MAX);
    }

    #[test]
    fn a_session_with_a_request_is_not_evicted() {
        let mut table = SessionTable::default();
        let ann = owner(0, 0);
        for _ in 0..SESSIONS_OF_USER_MAX {
            let (id, _) = begin(&mut table, &ann).unwrap();
            table.begin_use(&id, &ann).unwrap();
        }
        assert!(begin(&mut table, &ann).is_none());
        assert!(begin(&mut table, &owner(0, 1)).is_some());
    }

    #[test]
    fn a_session_of_another_user_or_agent_is_unknown() {
        let mut table = SessionTable::default();
        let ann = owner(0, 0);
        let (id, _) = begin(&mut table, &ann).unwrap();
        assert_eq!(table.begin_use(&id, &owner(1, 0)), None);
        assert_eq!(table.begin_use(&id, &owner(0, 1)), None);
        let other = Owner { agent: AgentId::new(&registry::Clock::system()), ..ann.clone() };
        assert_eq!(table.begin_use(&id, &other), None);
        let number = table.begin_use(&id, &ann).unwrap();
        table.remove(number);
        assert_eq!(table.begin_use(&id, &ann), None);
        assert!(table.numbers.is_empty() && table.organizations.is_empty() && table.sessions.is_empty());
    }

    /// The users of one organisation take places from each other, and none of another organisation.
    #[test]
    fn the_largest_share_gives_a_place() {
        let mut table = SessionTable::default();
        let small = owner(1, 0);
        let (of_small, _) = begin(&mut table, &small).unwrap();
        let users = SESSIONS_OF_ORGANIZATION_MAX / SESSIONS_OF_USER_MAX;
        for user in 0..users {
            (0..SESSIONS_OF_USER_MAX).for_each(|_| drop(begin(&mut table, &owner(0, user)).unwrap()));
        }
        let newcomer = owner(0, users);
        for _ in 0..3 {
            assert!(begin(&mut table, &newcomer).unwrap().1.is_some());
        }
        assert_eq!(count_of(&table, &newcomer), 3);
        assert_eq!(table.sessions.len(), SESSIONS_OF_ORGANIZATION_MAX + 1);
        for organization in 2..=SESSIONS_MAX / SESSIONS_OF_ORGANIZATION_MAX {
            for user in 0..users {
                (0..SESSIONS_OF_USER_MAX).for_each(|_| drop(begin(&mut table, &owner(organization, user)).unwrap()));
            }
        }
        assert_eq!(table.sessions.len(), SESSIONS_MAX);
        assert!(begin(&mut table, &small).unwrap().1.is_some());
        assert_eq!((table.sessions.len(), count_of(&table, &small)), (SESSIONS_MAX, 2));
        assert!(table.begin_use(&of_small, &small).is_some());
    }
}
