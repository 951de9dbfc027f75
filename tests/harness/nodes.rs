//! Several servers on one Postgres database and one bucket.

use std::sync::Arc;

use super::cluster::Cluster;
use super::{Bucket, Options, Request, Server, Team};

pub struct Nodes {
    /// The servers end before the database.
    pub servers: Vec<Arc<Server>>,
    pub database: Cluster,
    _bucket: Bucket,
}

impl Nodes {
    /// Starts servers. `None` without Postgres or an S3 server.
    #[track_caller]
    pub fn start(count: usize) -> Option<Self> {
        Self::start_with(count, &Options::default())
    }

    #[track_caller]
    pub fn start_with(count: usize, options: &Options) -> Option<Self> {
        let (database, bucket) = (Cluster::start()?, Bucket::create()?);
        let mut options = options.clone();
        options.arguments.extend(["--storage".to_owned(), bucket.url()]);
        options.database = Some(database.url("postgres"));
        options.environment.extend(bucket.variables());
        let servers = (0..count).map(|_| Server::private(&options)).collect();
        Some(Self { servers, database, _bucket: bucket })
    }

    /// A team with its repository at the first server.
    pub fn team(&self) -> Team {
        Team::on(&self.servers[0])
    }

    /// A request of a team to a path below its organisation, at another server.
    pub fn request<'s>(&'s self, server: usize, team: &Team, (method, path): (&str, &str)) -> Request<'s> {
        self.servers[server].request(method, &format!("/v1/{}{path}", team.organization)).bearer(&team.token)
    }
}
