//! Requests of paused runs of agents to people.

use registry::statements::{
    Query, Row, count_fitting, get, parse_column, parse_optional_column, read_optional_timestamp, read_timestamp,
    read_unsigned, to_json,
};
use registry::{HumanRequestId, Permission, Principal, Result, Timestamp};

use super::handle::AgentRuns;
use crate::domain::agent_runs::{
    AgentRun, HumanRequest, HumanRequestFilter, HumanRequestState, NewHumanRequest, NewHumanResponse, Urgency,
};

/// Requests that expire in one look.
const EXPIRED_MAX: i64 = 100;

const ASK: &str = "INSERT INTO human_requests
        (organization, agent_run, human_request, kind, urgency, state, document, created_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, 'open', $6, $7, $8)";

/// `$3` is 1 for an administrator, who sees the requests of all runs.
macro_rules! select_seen {
    ($columns:literal, $condition:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM human_requests h
            JOIN agent_runs q ON q.organization = h.organization AND q.agent_run = h.agent_run
            WHERE h.organization = $1 AND (q.account = $2 OR $3 = 1)",
            $condition
        )
    };
}

macro_rules! rank {
    ($request:literal) => {
        concat!(
            "CASE ",
            $request,
            ".urgency WHEN 'high' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END, ",
            $request,
            ".created_at, ",
            $request,
            ".human_request"
        )
    };
}

/// The order of lists, with the page after the request `$8`. The order of a request never changes.
macro_rules! in_order {
    () => {
        concat!(
            " AND (CAST($8 AS TEXT) IS NULL OR (",
            rank!("h"),
            ") > (SELECT ",
            rank!("l"),
            " FROM human_requests l WHERE l.organization = $1 AND l.human_request = $8)) ORDER BY ",
            rank!("h"),
            " LIMIT $7"
        )
    };
}

/// Selects the keys and the bytes of the requests of a list, so that a page of large ones is cut before they are read.
macro_rules! select_keys {
    ($condition:literal) => {
        select_seen!(
            "h.human_request, octet_length(h.document) + coalesce(octet_length(h.response), 0) AS bytes",
            $condition
        )
    };
}

const FIND_REQUEST: &str = select_seen!("h.*, q.agent, q.account", " AND h.human_request = $4");

const FIND_REQUESTS: &str = select_seen!("h.*, q.agent, q.account", " AND h.human_request IN {members $4}");

/// The state is a literal here, so that the database uses the index of open requests, which has few rows.
const LIST_OPEN: &str = concat!(
    select_keys!(
        " AND h.state = 'open' AND h.state = $4 AND (h.urgency = $5 OR $5 IS NULL) AND (h.agent_run = $6 OR $6 IS NULL)"
    ),
    in_order!()
);

const LIST_REQUESTS: &str = concat!(
    select_keys!(
        " AND (h.state = $4 OR $4 IS NULL) AND (h.urgency = $5 OR $5 IS NULL) AND (h.agent_run = $6 OR $6 IS NULL)"
    ),
    in_order!()
);

/// Closes the open request of a run.
const CLOSE: &str = "UPDATE human_requests SET state = $3, closed_at = $4, response = $5, answered_by = $6
    WHERE organization = $1 AND agent_run = $2 AND state = 'open'";

const AMEND: &str = "UPDATE human_requests SET document = $3
    WHERE organization = $1 AND agent_run = $2 AND state = 'open'";

const EXPIRED: &str = "SELECT organization, agent_run FROM human_requests WHERE state = 'open' AND expires_at <= $1
    ORDER BY expires_at LIMIT $2";

const EXPIRE: &str = "UPDATE human_requests SET state = 'expired', closed_at = $3
    WHERE organization = $1 AND agent_run = $2 AND state = 'open' AND expires_at <= $3";

/// Lets any server go on with the run whose request has expired.
const GO_ON: &str = "UPDATE agent_runs SET state = 'running', boot = '', attempts = 0, updated_at = $3,
        revision = revision + 1
    WHERE organization = $1 AND agent_run = $2 AND state = 'paused'";

impl AgentRuns {
    /// Finds a request of a run of the user; an administrator finds those of all runs.
    pub async fn get_human_request(
        &self,
        principal: &Principal,
        request: &HumanRequestId,
    ) -> Result<Option<HumanRequest>> {
        let query = bind_visible(FIND_REQUEST, principal).bind(request.as_str());
        query.fetch_optional(self.store.readers()).await?.as_ref().map(read).transpose()
    }

    /// Lists requests of runs of the user, the most urgent ones first, then the oldest ones. An administrator sees those of all runs. A page
    /// ends where its texts have as many bytes as a page may have. Returns whether there are more.
    pub async fn list_human_requests(
        &self,
        principal: &Principal,
        filter: HumanRequestFilter,
    ) -> Result<(Vec<HumanRequest>, bool)> {
        let HumanRequestFilter { state, urgency, agent_run, after, limit } = filter;
        let list = if state == Some(HumanRequestState::Open) { LIST_OPEN } else { LIST_REQUESTS };
        let query = bind_visible(list, principal).bind(state.map(HumanRequestState::as_str));
        let query = query.bind(urgency.map(Urgency::as_str));
        let query = query.bind(agent_run.map(|run| run.to_string())).bind(limit.saturating_add(1));
        let query = query.bind(after.map(|request| request.to_string()));
        let mut listing = self.store.open_listing(&principal.organization).await?;
        let keys = listing.rows(query).await?;
        let sizes = keys.iter().map(|row| read_unsigned(row, "bytes")).collect::<Result<Vec<_>>>()?;
        let count = count_fitting(sizes.into_iter()).min(usize::try_from(limit).unwrap_or(usize::MAX));
        let ids: Vec<String> = keys.iter().take(count).map(|row| get(row, "human_request")).collect::<Result<_>>()?;
        let query = bind_visible(FIND_REQUESTS, principal).bind(to_json(&ids)?);
        let mut requests: Vec<_> = listing.rows(query).await?.iter().map(read).collect::<Result<_>>()?;
        requests.sort_by_cached_key(|request| ids.iter().position(|id| *id == request.id.as_str()));
        Ok((requests, keys.len() > count))
    }

    /// Closes requests that nobody has answered in time. Their runs go on.
    pub async fn expire_human_requests(&self) -> Result<()> {
        let now = self.store.clock().now().as_milliseconds();
        for row in Query::new(EXPIRED).bind(now).bind(EXPIRED_MAX).fetch_all(self.store.readers()).await? {
            let of = |statement| {
                let query = Query::new(statement).bind(get::<&str>(&row, "organization")?);
                Ok::<_, registry::Error>(query.bind(get::<&str>(&row, "agent_run")?).bind(now))
            };
            let (expire, go_on) = (of(EXPIRE)?, of(GO_ON)?);
            self.store
                .write(move |connection| {
                    Box::pin(async move {
                        if expire.execute(&mut *connection).await? == 1 {
                            go_on.execute(connection).await?;
                        }
                        Ok(())
                    })
                })
                .await?;
        }
        Ok(())
    }
}

/// Adds the request of a run that pauses.
pub(super) fn ask(run: &AgentRun, request: NewHumanRequest, now: Timestamp) -> Query {
    let NewHumanRequest { id, kind, urgency, document, expires_at } = request;
    let query = Query::new(ASK).bind(run.organization.as_str()).bind(run.id.as_str()).bind(id.as_str());
    let query = query.bind(kind.as_str()).bind(urgency.as_str()).bind(document);
    query.bind(now.as_milliseconds()).bind(expires_at.as_milliseconds())
}

/// Changes the texts of the open request of a run.
pub(super) fn amend(run: &AgentRun, document: String) -> Query {
    Query::new(AMEND).bind(run.organization.as_str()).bind(run.id.as_str()).bind(document)
}

/// Closes the open request of a run with its answer.
pub(super) fn answer(run: &AgentRun, response: NewHumanResponse, now: Timestamp) -> Query {
    let NewHumanResponse { by, document } = response;
    close(run, HumanRequestState::Answered, now).bind(document).bind(by.as_str())
}

/// Closes the open request of a run that was cancelled, if there is one.
pub(super) fn cancel(run: &AgentRun, now: Timestamp) -> Query {
    close(run, HumanRequestState::Cancelled, now).bind(None::<String>).bind(None::<String>)
}

fn close(run: &AgentRun, state: HumanRequestState, now: Timestamp) -> Query {
    let query = Query::new(CLOSE).bind(run.organization.as_str()).bind(run.id.as_str());
    query.bind(state.as_str()).bind(now.as_milliseconds())
}

fn bind_visible(statement: &'static str, principal: &Principal) -> Query {
    let query = Query::new(statement).bind(principal.organization.as_str()).bind(principal.account.as_str());
    query.bind(principal.may(Permission::Administer))
}

fn read(row: &Row) -> Result<HumanRequest> {
    Ok(HumanRequest {
        id: parse_column(row, "human_request")?,
        organization: parse_column(row, "organization")?,
        agent_run: parse_column(row, "agent_run")?,
        agent: parse_column(row, "agent")?,
        account: parse_column(row, "account")?,
        kind: parse_column(row, "kind")?,
        urgency: parse_column(row, "urgency")?,
        state: parse_column(row, "state")?,
        document: get(row, "document")?,
        response: get(row, "response")?,
        answered_by: parse_optional_column(row, "answered_by")?,
        created_at: read_timestamp(row, "created_at")?,
        expires_at: read_timestamp(row, "expires_at")?,
        closed_at: read_optional_timestamp(row, "closed_at")?,
    })
}
