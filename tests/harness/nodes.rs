//! Several servers on one Postgres database and one bucket.

use std::sync::Arc;

use super::relay::Relay;
use super::{Options, Request, Server, SharedPlace, Team};

pub struct Nodes {
    /// The servers end before the database.
    pub servers: Vec<Arc<Server>>,
    pub place: SharedPlace,
}

impl Nodes {
    /// Starts servers. `None` without Postgres or an S3 server.
    #[track_caller]
    pub fn start(count: usize) -> Option<Self> {
        Self::start_with(count, &Options::default())
    }

    /// Starts servers whose database is behind a relay.
    #[track_caller]
    pub fn start_behind_relay(count: usize) -> Option<(Self, Relay)> {
        let place = SharedPlace::new()?;
        let url = place.cluster.url("postgres");
        let relay = Relay::before(&url);
        let options = Options { database: Some(relay.url(&url)), ..Options::default() };
        let servers = (0..count).map(|_| place.start_as(&options)).collect();
        Some((Self { servers, place }, relay))
    }

    #[track_caller]
    pub fn start_with(count: usize, options: &Options) -> Option<Self> {
        let place = SharedPlace::new()?;
        let servers = (0..count).map(|_| place.start_as(options)).collect();
        Some(Self { servers, place })
    }

    /// A team with its repository at the first server.
    pub fn team(&self) -> Team {
        Team::on(&self.servers[0])
    }

    /// A request of a team to a path below its organisation, at another server.
    pub fn request<'s>(&'s self, server: usize, team: &Team, method: &str, path: &str) -> Request<'s> {
        self.servers[server].request(method, &format!("/v1/{}{path}", team.organization)).bearer(&team.token)
    }
}
