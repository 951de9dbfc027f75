//! Creating, finding, changing and deleting agents.

use registry::statements::{
    Connection, Failure, Query, Row, damaged, get, parse_column, read_json, read_timestamp, require_within,
    revoke_grants_of_agent, to_json,
};
use registry::{AgentId, Error, Principal, Result, RevisionNumber};

use super::edit::{AgentEdit, bind_visible, is_visible};
use super::handle::Agents;
use super::{assignments, states};
use crate::domain::agents::{Agent, AgentChanges, AgentDraft, NewAgent};
use crate::store::agent_runs::run::cancel_runs_of_agent;

const GET: &str = concat!("SELECT * FROM agents WHERE ", is_visible!("agents"));

const INSERT: &str =
    "INSERT INTO agents (organization, agent, agent_type, name, slug, description, scope, system_prompt,
        tool_exposure, built_in_tools, author, updated_by, created_at, updated_at, sequence)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13, coalesce(max(sequence), 0) + 1
    FROM agents WHERE organization = $1";

const COUNT: &str = "SELECT count(*) AS agents FROM agents WHERE organization = $1 AND deleted_at IS NULL";

const MODIFY: &str = "UPDATE agents SET name = coalesce($3, name), slug = coalesce($4, slug),
        description = coalesce($5, description), scope = coalesce($6, scope), system_prompt = coalesce($7, system_prompt),
        tool_exposure = coalesce($8, tool_exposure), built_in_tools = coalesce($9, built_in_tools)
    WHERE organization = $1 AND agent = $2";

const DELETE: &str = "UPDATE agents SET deleted_by = $3, deleted_at = $4 WHERE organization = $1 AND agent = $2";

const SLUG: &str = "SELECT slug FROM agents WHERE organization = $1 AND agent = $2";

impl Agents {
    /// Creates an agent. [`Error::Exists`] when an agent of the same scope has the slug: another one of the organisation, or another personal
    /// one of the author.
    pub async fn create_agent(&self, principal: &Principal, new: NewAgent) -> Result<AgentId> {
        let created = AgentId::new(self.store.clock());
        let (edit, agents_max) = (self.build_edit(principal, &created), self.store.config().agents_max);
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    insert(connection, &edit, &new).await?;
                    let query = Query::new(COUNT).bind(edit.principal.organization.as_str());
                    let agents = query.fetch_column("agents", connection).await?;
                    require_within(agents_max.into(), agents, "agents of an organization")
                })
            })
            .await?;
        Ok(created)
    }

    /// Finds an agent that the user sees, with its draft.
    pub async fn get_agent(&self, principal: &Principal, agent: &AgentId) -> Result<Option<(Agent, AgentDraft)>> {
        let mut connection = self.store.readers().acquire().await?;
        let row = bind_visible(GET, principal, agent).fetch_optional(&mut connection).await?;
        let Some(row) = row else { return Ok(None) };
        let edit = self.build_edit(principal, agent);
        Ok(Some((read(&row)?, read_draft(&mut connection, &edit, &row).await?)))
    }

    /// Changes an agent. [`Error::Exists`] when another agent of its scope has the slug.
    pub async fn modify_agent(&self, principal: &Principal, agent: &AgentId, changes: AgentChanges) -> Result<()> {
        let edit = self.build_edit(principal, agent);
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    edit.touch(connection).await?;
                    modify(connection, &edit, &changes).await
                })
            })
            .await
    }

    /// Deletes an agent and frees its slug. Its revisions stay stored. The authorisations of clients for it end.
    pub async fn delete_agent(&self, principal: &Principal, agent: &AgentId) -> Result<()> {
        let edit = self.build_edit(principal, agent);
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    edit.touch(connection).await?;
                    revoke_grants_of_agent(connection, &edit.principal.organization, &edit.agent).await?;
                    let query = edit.of(DELETE).bind(edit.principal.user().as_str()).bind(edit.now.as_milliseconds());
                    query.execute(&mut *connection).await?;
                    cancel_runs_of_agent(connection, &edit.principal.organization, &edit.agent, edit.now).await
                })
            })
            .await
    }
}

/// Finds an agent that the user sees, within a transaction.
pub(super) async fn require(connection: &mut Connection, edit: &AgentEdit) -> Result<(Agent, AgentDraft)> {
    let row = bind_visible(GET, &edit.principal, &edit.agent).fetch_optional(&mut *connection).await?;
    let row = row.ok_or(Error::NotFound { what: "agent" })?;
    Ok((read(&row)?, read_draft(connection, edit, &row).await?))
}

/// Returns the draft of the agent in a row.
async fn read_draft(connection: &mut Connection, edit: &AgentEdit, row: &Row) -> Result<AgentDraft> {
    let assignments = assignments::of(&mut *connection, edit).await?;
    let states = states::of(connection, edit).await?;
    let (system_prompt, tool_exposure) = (parse_column(row, "system_prompt")?, parse_column(row, "tool_exposure")?);
    Ok(AgentDraft {
        system_prompt,
        tool_exposure,
        built_in_tools: read_json(row, "built_in_tools")?,
        assignments,
        states,
    })
}

pub(super) fn read(row: &Row) -> Result<Agent> {
    let running: Option<i64> = get(row, "running_revision")?;
    Ok(Agent {
        id: parse_column(row, "agent")?,
        organization: parse_column(row, "organization")?,
        agent_type: parse_column(row, "agent_type")?,
        name: parse_column(row, "name")?,
        slug: parse_column(row, "slug")?,
        description: parse_column(row, "description")?,
        scope: parse_column(row, "scope")?,
        author: parse_column(row, "author")?,
        updated_by: parse_column(row, "updated_by")?,
        created_at: read_timestamp(row, "created_at")?,
        updated_at: read_timestamp(row, "updated_at")?,
        running_revision: running.map(parse_revision_number).transpose()?,
    })
}

/// Reads the number of a revision.
pub(in crate::store) fn parse_revision_number(number: i64) -> Result<RevisionNumber> {
    let number = u32::try_from(number).ok().and_then(|number| RevisionNumber::try_from(number).ok());
    number.ok_or_else(|| damaged("revision", &"the number is out of range"))
}

async fn insert(connection: &mut Connection, edit: &AgentEdit, new: &NewAgent) -> Result<()> {
    let query = edit.of(INSERT).bind(new.agent_type.as_str()).bind(new.name.as_str()).bind(new.slug.as_str());
    let query = query.bind(new.description.as_str()).bind(new.scope.as_str()).bind(new.system_prompt.as_str());
    let query = query.bind(new.tool_exposure.as_str()).bind(to_json(&new.built_in_tools)?);
    let query = query.bind(edit.principal.account.as_str()).bind(edit.principal.user().as_str());
    let query = query.bind(edit.now.as_milliseconds());
    check_conflict(query.execute(connection).await, new.slug.as_str())
}

async fn modify(connection: &mut Connection, edit: &AgentEdit, changes: &AgentChanges) -> Result<()> {
    let slug = changes.slug.as_ref().map(|slug| slug.as_str());
    // A change of the scope can meet another agent with the same slug.
    let present: String = edit.of(SLUG).fetch_column("slug", &mut *connection).await?;
    let query = edit.of(MODIFY).bind(changes.name.as_ref().map(|name| name.as_str())).bind(slug);
    let query = query.bind(changes.description.as_ref().map(|text| text.as_str()));
    let query = query.bind(changes.scope.map(|scope| scope.as_str()));
    let query = query.bind(changes.system_prompt.as_ref().map(|text| text.as_str()));
    let query = query.bind(changes.tool_exposure.map(|exposure| exposure.as_str()));
    let query = query.bind(changes.built_in_tools.as_ref().map(to_json).transpose()?);
    check_conflict(query.execute(connection).await, slug.unwrap_or(&present))
}

/// Names the slug that another agent has.
fn check_conflict(written: Result<u64, Failure>, slug: &str) -> Result<()> {
    match written {
        Err(failure) if failure.is_conflict() => Err(Error::Exists { what: "agent", name: slug.to_owned() }),
        written => written.map(|_| ()).map_err(Error::from),
    }
}
