//! The numbers of requests in progress, as shares of the server's connections.

/// Requests of one organisation: half of the connections, so that no organisation holds the other half. More than its runs
/// that are executed or wait.
const ORGANIZATION_SHARE: usize = 2;
/// Requests of one user: a third of the connections, so that two users of an organisation do not fill its share.
const USER_SHARE: usize = 3;
/// Requests of one address whose credentials are not checked, such as sign-ins. They take milliseconds, and all clients behind a
/// proxy that is not named share them.
const ADDRESS_SHARE: usize = 3;
/// Listening streams of one organisation.
const ORGANIZATION_STREAM_SHARE: usize = 4;
/// Listening streams of one user: more than the machines and windows of a person.
const USER_STREAM_SHARE: usize = 12;

/// Bounds of requests in progress that an operator sets. `None` stands for a share of the connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestBounds {
    pub per_organization: Option<usize>,
    pub per_user: Option<usize>,
    pub streams_per_organization: Option<usize>,
    pub streams_per_user: Option<usize>,
}

/// The bounds of a server. Each is at least 1, so that a server with few connections serves everyone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub organization: Bound,
    pub user: Bound,
    pub address: Bound,
}

/// The bounds of one user, organisation or address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub requests: usize,
    /// Listening streams, each of which is a request, too.
    pub streams: usize,
}

impl RequestBounds {
    /// The requests and the listening streams of an organisation, with this many connections.
    pub fn of_organization(self, connections: usize) -> [usize; 2] {
        let Bound { requests, streams } = self.of(connections).organization;
        [requests, streams]
    }

    /// The requests and the listening streams of a user, with this many connections.
    pub fn of_user(self, connections: usize) -> [usize; 2] {
        let Bound { requests, streams } = self.of(connections).user;
        [requests, streams]
    }

    pub(super) fn of(self, connections: usize) -> Bounds {
        let share = |own: Option<usize>, parts: usize| own.unwrap_or(connections / parts).max(1);
        let bound = |requests, streams| Bound { requests, streams };
        Bounds {
            organization: bound(
                share(self.per_organization, ORGANIZATION_SHARE),
                share(self.streams_per_organization, ORGANIZATION_STREAM_SHARE),
            ),
            user: bound(share(self.per_user, USER_SHARE), share(self.streams_per_user, USER_STREAM_SHARE)),
            address: bound(share(None, ADDRESS_SHARE), 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_shares_of_the_connections_or_settings() {
        let numbers = |bounds: Bounds| {
            let Bounds { organization, user, address } = bounds;
            [organization.requests, organization.streams, user.requests, user.streams, address.requests]
        };
        assert_eq!(numbers(RequestBounds::default().of(768)), [384, 192, 256, 64, 256]);
        assert_eq!(numbers(RequestBounds::default().of(1)), [1; 5]);
        let own = RequestBounds { per_user: Some(5), streams_per_user: Some(2), ..RequestBounds::default() };
        assert_eq!(numbers(own.of(768)), [384, 192, 5, 2, 256]);
    }
}
