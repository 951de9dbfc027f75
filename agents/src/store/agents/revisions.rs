//! Deploying drafts, and the revisions that deployments make. A revision is inserted once and never changed.

use std::collections::{HashMap, HashSet};

use registry::statements::{
    Change, ChangeKind, Connection, Query, Row, get, parse_column, read_json, read_live_versions, read_timestamp,
    require_within, to_json,
};
use registry::{AgentId, Digest, Error, Page, Principal, Result, RevisionNumber, Slice, ToolRef, VersionId};

use super::agent::{parse_revision_number, require};
use super::edit::{AgentEdit, bind_visible, is_visible};
use super::handle::Agents;
use super::states::require_bytes;
use crate::domain::agents::{AgentDraft, AgentRevision, AgentState, Assignment, AssignmentProblem, Deployment};
use crate::error;

/// Different tools, constraints and digests of one revision. A deployment checks each of them in its transaction.
const DIFFERENT_SPECS_MAX: u64 = 1_000;

const GET: &str = concat!(
    "SELECT r.* FROM agent_revisions r JOIN agents a ON a.organization = r.organization AND a.agent = r.agent WHERE ",
    is_visible!("a"),
    " AND r.revision = $5"
);

const LIST: &str = concat!(
    "SELECT r.revision, r.deployed_by, r.deployed_at
    FROM agent_revisions r JOIN agents a ON a.organization = r.organization AND a.agent = r.agent WHERE ",
    is_visible!("a"),
    " AND r.revision < $5 ORDER BY r.revision DESC LIMIT $6"
);

const INSERT: &str = "INSERT INTO agent_revisions
        (organization, agent, revision, system_prompt, tool_exposure, built_in_tools, assignments, states, deployed_by,
        deployed_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

const RUN: &str = "UPDATE agents SET running_revision = $3, updated_by = $4, updated_at = $5
    WHERE organization = $1 AND agent = $2";

const VERSION: &str =
    "SELECT component_digest, CAST(octet_length(input_schema) + octet_length(settings) AS BIGINT) AS bytes FROM versions
    WHERE organization = $1 AND version_id = $2";

const TOOL: &str = "SELECT name, deprecated FROM tools WHERE organization = $1 AND tool = $2";

impl Agents {
    /// Makes the draft of an agent the running revision, with the next number. An unchanged draft returns the running revision
    /// again, without a check of its assignments. [`error::Error::AssignmentUnusable`] for the first assignment without a live version,
    /// or whose version has not the pinned digest.
    pub async fn deploy_agent(&self, principal: &Principal, agent: &AgentId) -> Result<AgentRevision, error::Error> {
        let edit = self.build_edit(principal, agent);
        self.store.write_or_refuse(move |connection| Box::pin(async move { deploy(connection, &edit).await })).await
    }

    /// Lists the revisions of an agent, newest first. [`Error::PageTokenUnknown`] for a token of another list.
    pub async fn list_agent_revisions(
        &self,
        principal: &Principal,
        agent: &AgentId,
        page: Page,
    ) -> Result<Slice<Deployment>> {
        if self.get_agent(principal, agent).await?.is_none() {
            return Err(Error::NotFound { what: "agent" });
        }
        let list = ["agent revisions", principal.organization.as_str(), agent.as_str()];
        let before = match page.is_first() {
            true => i64::MAX,
            false => {
                let number = find_revision_shown(self.store.registry().open_position(&list, page)?)?;
                // A number of another list is most likely not that of a revision.
                self.get_agent_revision(principal, agent, number).await?.ok_or(Error::PageTokenUnknown)?;
                number.get().into()
            }
        };
        let query = bind_visible(LIST, principal, agent).bind(before).bind(i64::from(page.limit) + 1);
        let rows = self.store.open_listing(&principal.organization).await?.rows(query).await?;
        let deployments = rows.iter().map(parse_deployment).collect::<Result<_>>()?;
        Ok(Slice::cut(deployments, page, |last: &Deployment| {
            self.store.registry().seal_position(&list, last.number.get().into())
        }))
    }

    /// Finds a revision of an agent that the user sees.
    pub async fn get_agent_revision(
        &self,
        principal: &Principal,
        agent: &AgentId,
        number: RevisionNumber,
    ) -> Result<Option<AgentRevision>> {
        let query = bind_visible(GET, principal, agent).bind(number.get());
        query.fetch_optional(self.store.readers()).await?.as_ref().map(read).transpose()
    }
}

/// Returns the revision after which a page begins.
fn find_revision_shown(position: u64) -> Result<RevisionNumber> {
    let number = u32::try_from(position).map_err(|_| Error::PageTokenUnknown)?;
    RevisionNumber::try_from(number).map_err(|_| Error::PageTokenUnknown)
}

async fn deploy(connection: &mut Connection, edit: &AgentEdit) -> Result<AgentRevision, error::Error> {
    let (agent, content) = require(connection, edit).await?;
    if let Some(running) = agent.running_revision {
        let query = bind_visible(GET, &edit.principal, &edit.agent).bind(running.get());
        let running = read(&query.fetch_one(&mut *connection).await?)?;
        if running.content == content {
            return Ok(running);
        }
    }
    require_all_usable(connection, edit, &content).await?;
    let next = agent.running_revision.map_or(Some(RevisionNumber::FIRST), RevisionNumber::next);
    let limit = RevisionNumber::MAX.into();
    let number = next.ok_or(Error::TooMany { what: "revisions of an agent", limit })?;
    let deployment = Deployment { number, deployed_by: edit.principal.user(), deployed_at: edit.now };
    let revision = AgentRevision { deployment, content };
    insert(connection, edit, &revision).await?;
    Ok(revision)
}

/// Checks each tool with its constraint and its digest once, however many states have it, and the schemas of all versions together.
async fn require_all_usable(
    connection: &mut Connection,
    edit: &AgentEdit,
    content: &AgentDraft,
) -> Result<(), error::Error> {
    let specs = content.states.iter().flat_map(AgentState::specs);
    let key = |of: &Assignment| (of.tool_id.clone(), of.version_constraint.to_string(), of.component_digest);
    let (mut seen, mut different) = (HashSet::new(), Vec::new());
    for assignment in content.assignments.iter().chain(specs) {
        if seen.insert(key(assignment)) {
            different.push(assignment);
        }
    }
    let count = i64::try_from(different.len()).unwrap_or(i64::MAX);
    require_within(DIFFERENT_SPECS_MAX, count, "different tools and constraints of an agent and its states")?;
    let mut versions = HashMap::new();
    for assignment in different {
        let UsedVersion { id, bytes } = require_usable(connection, edit, assignment).await?;
        versions.insert(id, bytes);
    }
    let bytes: i64 = versions.values().sum();
    Ok(require_bytes(AgentDraft::SCHEMAS_BYTES_MAX, bytes.unsigned_abs(), "bytes of the schemas of an agent's tools")?)
}

/// The version that an assignment accepts, with the bytes of its schemas and settings.
struct UsedVersion {
    id: VersionId,
    bytes: i64,
}

/// Fails with the problem of an assignment whose tool has no live version that matches and has the pinned digest.
async fn require_usable(
    connection: &mut Connection,
    edit: &AgentEdit,
    assignment: &Assignment,
) -> Result<UsedVersion, error::Error> {
    find_used_version(connection, edit, assignment).await?.map_err(|problem| error::Error::AssignmentUnusable {
        tool: assignment.tool_id.clone(),
        problem: Box::new(problem),
    })
}

async fn find_used_version(
    connection: &mut Connection,
    edit: &AgentEdit,
    assignment: &Assignment,
) -> Result<std::result::Result<UsedVersion, AssignmentProblem>> {
    let of = ToolRef { organization: &edit.principal.organization, tool: &assignment.tool_id };
    let query = Query::new(TOOL).bind(of.organization.as_str()).bind(of.tool.as_str());
    let Some(row) = query.fetch_optional(&mut *connection).await? else {
        return Ok(Err(AssignmentProblem::ToolUnknown));
    };
    let (name, constraint) = (parse_column(&row, "name")?, &assignment.version_constraint);
    if get(&row, "deprecated")? {
        return Ok(Err(AssignmentProblem::ToolDeprecated { name }));
    }
    let matched =
        read_live_versions(connection, of).await?.into_iter().find(|(_, version)| constraint.matches(version));
    let Some((id, version)) = matched else {
        return Ok(Err(AssignmentProblem::VersionMissing { name, constraint: constraint.clone() }));
    };
    let query = Query::new(VERSION).bind(of.organization.as_str()).bind(id.as_str());
    let row = query.fetch_one(connection).await?;
    let present: Digest = parse_column(&row, "component_digest")?;
    match assignment.component_digest {
        Some(pinned) if pinned != present => {
            Ok(Err(AssignmentProblem::DigestDiffers { name, version, pinned, present }))
        }
        _ => Ok(Ok(UsedVersion { id, bytes: get(&row, "bytes")? })),
    }
}

async fn insert(connection: &mut Connection, edit: &AgentEdit, revision: &AgentRevision) -> Result<()> {
    let AgentRevision { deployment, content } = revision;
    let (number, user) = (deployment.number.get(), deployment.deployed_by.as_str());
    let query = edit.of(INSERT).bind(number).bind(content.system_prompt.as_str());
    let query = query.bind(content.tool_exposure.as_str()).bind(to_json(&content.built_in_tools)?);
    let query = query.bind(to_json(&content.assignments)?).bind(to_json(&content.states)?);
    let query = query.bind(user).bind(deployment.deployed_at.as_milliseconds());
    query.execute(&mut *connection).await?;
    let query = edit.of(RUN).bind(number).bind(user).bind(edit.now.as_milliseconds());
    query.execute(&mut *connection).await?;
    connection.announce(Change::of_organization(ChangeKind::Agents, &edit.principal.organization));
    Ok(())
}

pub(super) fn read(row: &Row) -> Result<AgentRevision> {
    let content = AgentDraft {
        system_prompt: parse_column(row, "system_prompt")?,
        tool_exposure: parse_column(row, "tool_exposure")?,
        built_in_tools: read_json(row, "built_in_tools")?,
        assignments: read_json(row, "assignments")?,
        states: read_json(row, "states")?,
    };
    Ok(AgentRevision { deployment: parse_deployment(row)?, content })
}

fn parse_deployment(row: &Row) -> Result<Deployment> {
    Ok(Deployment {
        number: parse_revision_number(get(row, "revision")?)?,
        deployed_by: parse_column(row, "deployed_by")?,
        deployed_at: read_timestamp(row, "deployed_at")?,
    })
}
