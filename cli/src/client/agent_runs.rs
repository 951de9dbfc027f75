//! Runs of agents: start, list, show, follow, cancel.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use api::wire::{Agent, AgentList, AgentRun, AgentRunStep, AgentTools};
use reqwest::Method;
use serde_json::Value;

use super::decoded_response::{DecodedResponse, read, read_all};
use super::request::{Call, Client};

/// Time between two requests for the status of a run. A model takes seconds for an answer.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
const RUNNING: &str = "running";
/// Maximum runs per page.
const PAGE_RUNS_MAX: usize = 200;
/// Maximum agents per page.
const PAGE_AGENTS_MAX: usize = 20;
/// Maximum definitions of tools per page.
const PAGE_TOOLS_MAX: usize = 500;

/// A filter on runs, with the names of the API.
#[derive(Debug, Default)]
pub struct AgentRunFilter {
    pub status: Option<String>,
    pub agent_id: Option<String>,
    /// A run, for runs that started before it.
    pub before: Option<String>,
}

/// A filter on steps, with the names of the API.
#[derive(Debug, Default)]
pub struct StepFilter {
    pub milestone: Option<String>,
    pub since: Option<String>,
    pub until: Option<String>,
}

impl Client {
    /// Starts a run, and returns it while it goes on.
    pub async fn start_agent_run(&self, request: &Value) -> anyhow::Result<DecodedResponse<AgentRun>> {
        let call = Call::to_server(Method::POST, &["agents", "execute"]).query("async", true);
        self.get(call.body(request.clone())).await
    }

    /// Lists at most `runs_max` runs, newest first, and returns whether there are more.
    pub async fn list_agent_runs(
        &self,
        filter: &AgentRunFilter,
        runs_max: usize,
    ) -> anyhow::Result<(Vec<Value>, bool)> {
        let (mut runs, mut before) = (Vec::new(), filter.before.clone());
        loop {
            let call = Call::new(Method::GET, &["agent_run"])
                .query_all("status", &filter.status)
                .query_all("agent_id", &filter.agent_id)
                .query_all("before", &before)
                .query("limit", PAGE_RUNS_MAX.min(runs_max - runs.len()));
            let page: Value = self.get(call).await?.body;
            let found: Vec<Value> = read(&page["agent_runs"])?;
            let has_more = page["has_more"] == true && !found.is_empty();
            runs.extend(found);
            if !has_more || runs.len() >= runs_max {
                return Ok((runs, has_more));
            }
            before = runs.last().and_then(|run| run["agent_run_id"].as_str()).map(str::to_owned);
        }
    }

    pub async fn get_agent_run(&self, id: &str) -> anyhow::Result<DecodedResponse<AgentRun>> {
        self.get(Call::to_server(Method::GET, &["agents", id, "status"])).await
    }

    /// Returns all steps of a run. A response has the first ones, and the next one begins at the time of its last step.
    pub async fn list_agent_run_steps(&self, id: &str, filter: &StepFilter) -> anyhow::Result<Vec<Value>> {
        let path = ["agents", id, "trace"];
        let (mut steps, mut since) = (Vec::<Value>::new(), filter.since.clone());
        loop {
            let call = Call::to_server(Method::GET, &path)
                .query_all("milestone", &filter.milestone)
                .query_all("since", &since)
                .query_all("until", &filter.until);
            let page: Value = self.get(call).await?.body;
            let last = steps.last().and_then(|step| step["number"].as_u64()).unwrap_or_default();
            let known = steps.len();
            let found: Vec<Value> = read(&page["trace"])?;
            steps.extend(found.into_iter().filter(|step| step["number"].as_u64() > Some(last)));
            if page["has_more"] != true || steps.len() == known {
                return Ok(steps);
            }
            since = steps.last().and_then(|step| step["timestamp"].as_str()).map(str::to_owned);
        }
    }

    pub async fn cancel_agent_run(&self, id: &str) -> anyhow::Result<()> {
        self.execute(Call::to_server(Method::POST, &["agents", id, "cancel"])).await
    }

    /// Waits until a run has ended or waits for a person.
    pub async fn wait_for_agent_run(&self, id: &str) -> anyhow::Result<DecodedResponse<AgentRun>> {
        self.follow_agent_run(id, None).await
    }

    /// Waits until a run has ended or waits for a person, and passes its steps to `show`.
    pub async fn follow_agent_run(
        &self,
        id: &str,
        mut show: Option<&mut dyn FnMut(&AgentRunStep)>,
    ) -> anyhow::Result<DecodedResponse<AgentRun>> {
        let (mut shown, mut filter) = (0, StepFilter::default());
        loop {
            // The steps are read after the status, so that those before the end are among them.
            let run = self.get_agent_run(id).await?;
            if let Some(show) = &mut show {
                let steps: Vec<AgentRunStep> = read_all(&self.list_agent_run_steps(id, &filter).await?)?;
                for step in steps {
                    if step.number > shown {
                        show(&step);
                        shown = step.number;
                        filter.since = Some(step.timestamp);
                    }
                }
            }
            if run.body.status != RUNNING {
                return Ok(run);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Returns the tools of an agent's running revision, as MCP clients or a model API take them.
    pub async fn list_agent_tools(&self, agent: &str, format: Option<&str>) -> anyhow::Result<Vec<Value>> {
        let path = ["agent", agent, "tools"];
        let call = Call::new(Method::GET, &path).query_all("format", format).query("limit", PAGE_TOOLS_MAX);
        self.read_all_pages::<AgentTools>(call).await
    }

    /// Returns the slugs of agents by id. Ids without an agent are left out.
    pub async fn find_agent_slugs<'id>(
        &self,
        ids: impl Iterator<Item = &'id str>,
    ) -> anyhow::Result<BTreeMap<String, String>> {
        let ids: Vec<&str> = ids.collect::<BTreeSet<_>>().into_iter().collect();
        let mut slugs = BTreeMap::new();
        for page_ids in ids.chunks(PAGE_AGENTS_MAX) {
            let call = Call::new(Method::GET, &["agent"]).query_all("id", page_ids).query("limit", PAGE_AGENTS_MAX);
            let agents: Vec<Agent> = read_all(&self.read_all_pages::<AgentList>(call).await?)?;
            slugs.extend(agents.into_iter().map(|agent| (agent.id.into(), agent.slug)));
        }
        Ok(slugs)
    }
}
