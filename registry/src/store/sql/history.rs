//! Reading the history of runs: one record, lists, and the rollback of a conversation.

use super::filters::filtered;
use super::records::{read, select_invocations};
use super::row::signed;
use crate::account::OrganizationId;
use crate::error::Result;
use crate::history::{InvocationFilter, InvocationSort};
use crate::ids::InvocationId;
use crate::invocation::Invocation;
use crate::page::{Direction, Page, Slice};
use crate::principal::Principal;
use crate::store::Store;

/// One list for every pair of a leading condition, which decides the index that is walked, and an order.
macro_rules! list {
    ($leading:expr, $order:expr) => {
        select_invocations!(
            "WHERE s.organization = $1 ",
            $leading,
            filtered!(),
            "ORDER BY ",
            $order,
            "s.started_at DESC, s.invocation DESC LIMIT $9 OFFSET $10"
        )
    };
}

/// The orders asked for, as a column's name and 1 or -1 each.
macro_rules! sorted {
    () => {
        "CASE $11 WHEN 'created_at' THEN s.started_at WHEN 'duration_ms' THEN f.duration_ms
            WHEN 'succeeded' THEN f.succeeded END * $12,
        CASE $13 WHEN 'created_at' THEN s.started_at WHEN 'duration_ms' THEN f.duration_ms
            WHEN 'succeeded' THEN f.succeeded END * $14, "
    };
}

macro_rules! of_conversations {
    ($order:expr) => {
        list!(concat!("AND s.conversation_id IN ", members_of!("$4")), $order)
    };
}

macro_rules! of_tools {
    ($order:expr) => {
        list!(concat!("AND s.tool IN (SELECT value ->> 0 FROM ", rows_of!("$2"), ")"), $order)
    };
}

const ONE: &str = select_invocations!("WHERE s.organization = $1 AND s.invocation = $2");

const UNLINK: &str = "INSERT INTO inv_unlinked (invocation, organization, unlinked_at, unlinked_by)
    SELECT invocation, organization, $4, $5 FROM inv_started
    WHERE organization = $1 AND conversation_id = $2 AND ($3 IS NULL OR interaction_id = $3)
    ON CONFLICT (invocation) DO NOTHING";

impl Store {
    pub async fn get_invocation(
        &self,
        organization: &OrganizationId,
        invocation: &InvocationId,
    ) -> Result<Option<Invocation>> {
        let query = sqlx::query(ONE).bind(organization.as_str()).bind(invocation.as_str());
        query.fetch_optional(self.readers()).await?.as_ref().map(read).transpose()
    }

    /// Lists records, newest first unless sorted otherwise.
    pub async fn list_invocations(
        &self,
        organization: &OrganizationId,
        filter: &InvocationFilter,
        page: Page,
    ) -> Result<Slice<Invocation>> {
        let filters = self.bind_filters(organization, filter).await?;
        let orders = orders(&filter.sort);
        let query = filters.bound_to(statement(filter), organization.as_str().to_owned());
        let query = query.bind(i64::from(page.limit) + 1).bind(signed(page.offset));
        let query = query.bind(orders[0].0).bind(orders[0].1).bind(orders[1].0).bind(orders[1].1);
        let rows = query.fetch_all(self.readers()).await?;
        let records = rows.iter().map(read).collect::<Result<_>>()?;
        Ok(Slice::cut(records, page))
    }

    /// Takes the records of a conversation, or of one interaction in it, out of it: they stay in the history and lose
    /// the conversation's ids. Says how many records that were.
    pub async fn unlink_invocations(
        &self,
        principal: &Principal,
        conversation_id: &str,
        interaction_id: Option<&str>,
    ) -> Result<u64> {
        let (principal, now) = (principal.clone(), self.0.clock.now());
        let (conversation_id, interaction_id) = (conversation_id.to_owned(), interaction_id.map(str::to_owned));
        self.write(move |connection| {
            Box::pin(async move {
                let query = sqlx::query(UNLINK).bind(principal.organization.as_str()).bind(conversation_id);
                let query = query.bind(interaction_id).bind(now.as_milliseconds()).bind(principal.user.as_str());
                Ok(query.execute(connection).await?.rows_affected())
            })
        })
        .await
    }
}

fn statement(filter: &InvocationFilter) -> &'static str {
    let (conversations, tools) = (!filter.conversation_ids.is_empty(), !filter.tools.is_empty());
    match (conversations, tools, filter.sort.is_empty()) {
        (true, _, true) => of_conversations!(""),
        (true, _, false) => of_conversations!(sorted!()),
        (false, true, true) => of_tools!(""),
        (false, true, false) => of_tools!(sorted!()),
        (false, false, true) => list!("", ""),
        (false, false, false) => list!("", sorted!()),
    }
}

/// The first two different columns; a record's age decides what they leave equal.
fn orders(sort: &[(InvocationSort, Direction)]) -> [(Option<&'static str>, i64); 2] {
    let first = sort.first();
    let second = sort.iter().find(|(column, _)| first.is_some_and(|(first, _)| first != column));
    [first, second].map(|order| order.map_or((None, 1), |order| (Some(column(order.0)), sign(order.1))))
}

const fn column(sort: InvocationSort) -> &'static str {
    match sort {
        InvocationSort::CreatedAt => "created_at",
        InvocationSort::DurationMs => "duration_ms",
        InvocationSort::Succeeded => "succeeded",
    }
}

const fn sign(direction: Direction) -> i64 {
    match direction {
        Direction::Ascending => 1,
        Direction::Descending => -1,
    }
}
