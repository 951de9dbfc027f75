//! Changes of rows that servers keep in memory. A write names the rows that it changes, and servers drop what they have in memory of
//! these rows, and of no others. A write of other rows names nothing, so that heartbeats, leases, counts and records reach nobody.

use crate::kit::account::{AccountId, OrganizationId};
use crate::kit::ids::BootId;

/// Rows of one organisation that servers keep in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// Tools, their versions and their variables.
    Tools,
    /// Agents and their revisions.
    Agents,
    /// Keys, tokens, members and roles.
    Rights,
    /// Variables of users.
    UserVariables,
    /// Prompts, artifacts and skills, which MCP clients list.
    Library,
    /// Rules, which calls obey.
    Rules,
    /// Requests to cancel runs.
    Cancellations,
}

impl ChangeKind {
    const ALL: [Self; 7] =
        [Self::Tools, Self::Agents, Self::Rights, Self::UserVariables, Self::Library, Self::Rules, Self::Cancellations];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Agents => "agents",
            Self::Rights => "rights",
            Self::UserVariables => "user_variables",
            Self::Library => "library",
            Self::Rules => "rules",
            Self::Cancellations => "cancellations",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// A change of rows that servers keep in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub kind: ChangeKind,
    pub organization: OrganizationId,
    /// The account of the only user whom the change concerns; `None` when it may concern all of the organisation.
    pub account: Option<AccountId>,
}

impl Change {
    pub fn of_organization(kind: ChangeKind, organization: &OrganizationId) -> Self {
        Self { kind, organization: organization.clone(), account: None }
    }

    pub fn of_user(kind: ChangeKind, organization: &OrganizationId, account: &AccountId) -> Self {
        Self { kind, organization: organization.clone(), account: Some(account.clone()) }
    }
}

/// Writes the notice of a change for other servers, with the start of the process that made it: some 300 bytes at most, of the 8,000
/// that the database takes.
pub(super) fn write_notice(boot: &BootId, change: &Change) -> String {
    let Change { kind, organization, account } = change;
    // Ids have no spaces.
    let account = account.as_ref().map(|account| format!(" {}", account.as_str())).unwrap_or_default();
    format!("{boot} {} {organization}{account}", kind.as_str())
}

/// A notice as another server reads it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Notice {
    /// This server made the change, and has applied it before it was announced.
    Own,
    Of(Change),
    /// A notice of a server of another release.
    Unknown,
}

pub(super) fn read_notice(own: &BootId, text: &str) -> Notice {
    let mut words = text.split(' ');
    if words.next() == Some(own.as_str()) {
        return Notice::Own;
    }
    let read = |words: &mut std::str::Split<'_, char>| {
        let kind = ChangeKind::parse(words.next()?)?;
        let organization = OrganizationId::parse(words.next()?).ok()?;
        let account = words.next().map(AccountId::parse).transpose().ok()?;
        words.next().is_none().then_some(Change { kind, organization, account })
    };
    read(&mut words).map_or(Notice::Unknown, Notice::Of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::clock::Clock;

    fn organization(id: &str) -> OrganizationId {
        OrganizationId::parse(id).unwrap()
    }

    fn account(id: &str) -> AccountId {
        AccountId::parse(id).unwrap()
    }

    #[test]
    fn another_server_reads_the_change_that_a_notice_names() {
        let (own, other) = (BootId::new(&Clock::system()), BootId::new(&Clock::system()));
        for kind in ChangeKind::ALL {
            for change in [
                Change::of_organization(kind, &organization(&"o".repeat(128))),
                Change::of_user(kind, &organization("acme"), &account("-#1")),
            ] {
                let notice = write_notice(&other, &change);
                assert!(notice.len() < 400, "{notice}");
                assert_eq!(read_notice(&own, &notice), Notice::Of(change));
                assert_eq!(read_notice(&other, &notice), Notice::Own);
            }
        }
        for unknown in [
            "",
            "other",
            "other everything",
            "other tools",
            "other tools acme bob",
            "other tools acme bob#1 x",
            "other tools acme ",
        ] {
            assert_eq!(read_notice(&own, unknown), Notice::Unknown, "{unknown}");
        }
    }
}
