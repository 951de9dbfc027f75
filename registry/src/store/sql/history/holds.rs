//! Legal holds. A hold and its release are inserted once and never changed.

use super::handle::History;
use crate::access::Principal;
use crate::error::{Error, Result};
use crate::history::{HeldRuns, Hold, HoldReason, HoldRelease};
use crate::kit::account::OrganizationId;
use crate::kit::clock::Timestamp;
use crate::kit::ids::{HoldId, ToolId};
use crate::kit::page::{Page, Slice};
use crate::store::database::{Connection, Query, Row};
use crate::store::sql::kit::counts::require_within;
use crate::store::sql::kit::row::{
    get, parse_column, parse_optional_column, read_optional_timestamp, read_timestamp, read_unsigned, to_signed,
};

/// The condition that a run, the alias of a row of `inv_started`, is under a hold that is in force.
macro_rules! is_held {
    ($run:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM history_holds h WHERE h.organization = ",
            $run,
            ".organization AND (h.tool IS NULL OR h.tool = ",
            $run,
            ".tool) AND (h.started_from IS NULL OR h.started_from <= ",
            $run,
            ".started_at) AND (h.started_before IS NULL OR h.started_before > ",
            $run,
            ".started_at) AND NOT EXISTS (SELECT 1 FROM history_hold_releases r
                WHERE r.organization = h.organization AND r.hold = h.hold))"
        )
    };
}
pub(super) use is_held;

const PLACE: &str = "INSERT INTO history_holds
        (organization, hold, reason, tool, started_from, started_before, placed_by, placed_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

const TOOL: &str = "SELECT tool FROM tools WHERE organization = $1 AND tool = $2";

const MOST: &str = "SELECT count(*) AS most FROM history_holds WHERE organization = $1";

const COUNT: &str = "SELECT count(*) AS holds FROM history_holds WHERE organization = $1";

/// Holds are never deleted, so that each keeps its place among those of its organisation.
const LIST: &str =
    "SELECT h.hold, h.reason, h.tool, h.started_from, h.started_before, h.placed_by, h.placed_at, h.place,
        r.released_by, r.released_at
    FROM (SELECT *, row_number() OVER (ORDER BY hold) AS place FROM history_holds WHERE organization = $1) h
    LEFT JOIN history_hold_releases r ON r.organization = h.organization AND r.hold = h.hold
    WHERE h.place < $2 ORDER BY h.place DESC LIMIT $3";

/// The first release counts.
const RELEASE: &str = "INSERT INTO history_hold_releases (organization, hold, released_by, released_at)
    SELECT organization, hold, $3, $4 FROM history_holds WHERE organization = $1 AND hold = $2
    ON CONFLICT (organization, hold) DO NOTHING";

const FIND: &str = "SELECT hold FROM history_holds WHERE organization = $1 AND hold = $2";

impl History {
    /// Places a hold. From then on, no sweep deletes its runs. [`Error::NotFound`] for a tool that the organisation never had.
    pub async fn place_hold(&self, by: &Principal, reason: HoldReason, runs: HeldRuns) -> Result<Hold> {
        let (id, placed_at) = (HoldId::new(&self.store.0.clock), self.store.0.clock.now());
        let hold = Hold { id, reason, runs, placed_by: by.user(), placed_at, release: None };
        let (organization, holds_max) = (by.organization.clone(), self.store.0.config.holds_max);
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    require_tool(connection, &organization, hold.runs.tool.as_ref()).await?;
                    insert(connection, &organization, &hold).await?;
                    let query = Query::new(COUNT).bind(organization.as_str());
                    let holds = query.fetch_column("holds", connection).await?;
                    require_within(holds_max.into(), holds, "holds of an organization")?;
                    Ok(hold)
                })
            })
            .await
    }

    /// Lists the holds, newest first, also those that are released. [`Error::PageTokenUnknown`] for a token of another list.
    pub async fn list_holds(&self, organization: &OrganizationId, page: Page) -> Result<Slice<Hold>> {
        let list = ["holds", organization.as_str()];
        let before = self.store.find_last_shown(organization, &list, page, MOST).await?.map_or(i64::MAX, to_signed);
        let query = Query::new(LIST).bind(organization.as_str()).bind(before).bind(i64::from(page.limit) + 1);
        let rows = self.store.open_listing(organization).await?.rows(query).await?;
        let holds = rows.iter().map(|row| Ok((read(row)?, read_unsigned(row, "place")?))).collect::<Result<_>>()?;
        let token = |(_, place): &(Hold, u64)| self.store.page_tokens().seal(&list, *place);
        Ok(Slice::cut(holds, page, token).map(|(hold, _)| hold))
    }

    /// Releases a hold. The next sweep deletes what no other hold keeps. A second release changes nothing.
    pub async fn release_hold(&self, by: &Principal, hold: &HoldId) -> Result<()> {
        let (principal, hold, now) = (by.clone(), hold.clone(), self.store.0.clock.now());
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    let organization = principal.organization.as_str();
                    let found = Query::new(FIND).bind(organization).bind(hold.as_str());
                    if found.fetch_optional(&mut *connection).await?.is_none() {
                        return Err(Error::NotFound { what: "hold" });
                    }
                    let release = Query::new(RELEASE).bind(organization).bind(hold.as_str());
                    let release = release.bind(principal.user().as_str()).bind(now.as_milliseconds());
                    release.execute(connection).await?;
                    Ok(())
                })
            })
            .await
    }
}

async fn require_tool(connection: &mut Connection, organization: &OrganizationId, tool: Option<&ToolId>) -> Result<()> {
    let Some(tool) = tool else { return Ok(()) };
    let query = Query::new(TOOL).bind(organization.as_str()).bind(tool.as_str());
    let found = query.fetch_optional(connection).await?;
    found.map(|_| ()).ok_or(Error::NotFound { what: "tool" })
}

async fn insert(connection: &mut Connection, organization: &OrganizationId, hold: &Hold) -> Result<()> {
    let HeldRuns { tool, started_from, started_before } = &hold.runs;
    let query = Query::new(PLACE).bind(organization.as_str()).bind(hold.id.as_str()).bind(hold.reason.as_str());
    let query = query.bind(tool.as_ref().map(ToolId::as_str));
    let query = query.bind(started_from.map(Timestamp::as_milliseconds));
    let query = query.bind(started_before.map(Timestamp::as_milliseconds));
    query.bind(hold.placed_by.as_str()).bind(hold.placed_at.as_milliseconds()).execute(connection).await?;
    Ok(())
}

fn read(row: &Row) -> Result<Hold> {
    let runs = HeldRuns {
        tool: parse_optional_column(row, "tool")?,
        started_from: read_optional_timestamp(row, "started_from")?,
        started_before: read_optional_timestamp(row, "started_before")?,
    };
    let release = match get::<Option<&str>>(row, "released_by")? {
        Some(_) => Some(HoldRelease { by: parse_column(row, "released_by")?, at: read_timestamp(row, "released_at")? }),
        None => None,
    };
    Ok(Hold {
        id: parse_column(row, "hold")?,
        reason: parse_column(row, "reason")?,
        runs,
        placed_by: parse_column(row, "placed_by")?,
        placed_at: read_timestamp(row, "placed_at")?,
        release,
    })
}
