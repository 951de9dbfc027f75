//! Runs of agents: one server works on a run, and another one goes on when it is gone.

use std::time::Duration;

use agents::{
    AgentRun, AgentRunCapacity, AgentRunFilter, AgentRunKind, AgentRunState, Checkpoint, NewAgentRun, NewStep,
    RunObjective, StartedAgentRun, StepFilter, Urgency,
};
use registry::{AccountId, Digest, Grants, IdempotencyKey, Once, Principal};

use crate::database;
use crate::human_requests::response;
use crate::world::World;

pub fn step(milestone: Option<&str>) -> NewStep {
    NewStep { milestone: milestone.map(str::to_owned), document: "{\"action\":\"a\"}".to_owned() }
}

pub fn checkpoint(state: AgentRunState, steps: Vec<NewStep>) -> Checkpoint {
    Checkpoint { state, iterations: 1, document: "{\"saved\":1}".to_owned(), steps, request: None }
}

/// The capacity of a server without work.
pub fn all() -> AgentRunCapacity {
    AgentRunCapacity { working: Vec::new(), busy: Vec::new(), has_model: true }
}

impl World {
    pub async fn agent_run(&self, principal: &Principal) -> AgentRun {
        let agent = self.agent(principal, &format!("agent-{}", registry::AgentRunId::new(&self.clock))).await;
        let new = NewAgentRun {
            agent,
            kind: AgentRunKind::Agent,
            objective: RunObjective::of("x"),
            document: "{}".to_owned(),
            once: None,
        };
        let StartedAgentRun::New(run) = self.agent_store.agent_runs().start_agent_run(principal, new).await.unwrap()
        else {
            panic!()
        };
        run
    }
}

#[tokio::test]
async fn a_run_is_kept_as_its_last_checkpoint() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let run = world.agent_run(&acme).await;
    assert_eq!(world.agent_store.agent_runs().get_agent_run(&acme, &run.id).await.unwrap().as_ref(), Some(&run));
    world.clock.advance(Duration::from_secs(1));
    let steps = vec![step(None), step(Some("half"))];
    let saved = world
        .agent_store
        .agent_runs()
        .save_agent_run(&run, checkpoint(AgentRunState::Running, steps))
        .await
        .unwrap()
        .unwrap();
    world.clock.advance(Duration::from_secs(1));
    let steps = vec![step(Some("half"))];
    let ended = world
        .agent_store
        .agent_runs()
        .save_agent_run(&saved, checkpoint(AgentRunState::Completed, steps))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(world.agent_store.agent_runs().get_agent_run(&acme, &run.id).await.unwrap().as_ref(), Some(&ended));
    assert_eq!((ended.revision, ended.iterations, ended.ended_at), (3, 1, Some(world.clock.now())));
    let numbers = async |filter| {
        let steps = world.agent_store.agent_runs().agent_run_steps(&run, filter).await.unwrap().0;
        steps.into_iter().map(|step| step.number).collect::<Vec<_>>()
    };
    assert_eq!(numbers(StepFilter::default()).await, [1, 2, 3]);
    let of_milestone = StepFilter { milestone: Some("half".into()), ..StepFilter::default() };
    assert_eq!(numbers(of_milestone.clone()).await, [2, 3]);
    assert_eq!(numbers(StepFilter { since: Some(world.clock.now()), ..of_milestone.clone() }).await, [3]);
    let before = world.clock.now().before(Duration::from_secs(1));
    assert_eq!(numbers(StepFilter { until: Some(before), ..of_milestone }).await, [2]);
}

#[tokio::test]
async fn a_checkpoint_of_an_earlier_revision_is_refused() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let run = world.agent_run(&acme).await;
    let save = async |run: &AgentRun| {
        world
            .agent_store
            .agent_runs()
            .save_agent_run(run, checkpoint(AgentRunState::Running, vec![step(None)]))
            .await
            .unwrap()
    };
    let saved = save(&run).await.unwrap();
    assert_eq!(save(&run).await, None);
    assert!(world.agent_store.agent_runs().cancel_agent_run(&saved).await.unwrap());
    assert_eq!(save(&saved).await, None, "a cancelled run stays so");
    assert!(!world.agent_store.agent_runs().cancel_agent_run(&saved).await.unwrap());
    assert_eq!(world.agent_store.agent_runs().agent_run_steps(&run, StepFilter::default()).await.unwrap().0.len(), 1);
}

#[tokio::test]
async fn the_first_answer_resumes_a_run() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let run = world.agent_run(&acme).await;
    assert_eq!(
        world.agent_store.agent_runs().resume_agent_run(&run, "{}".into(), response(), step(None)).await.unwrap(),
        None,
        "it is not paused"
    );
    let paused = world
        .agent_store
        .agent_runs()
        .save_agent_run(&run, checkpoint(AgentRunState::Paused, vec![]))
        .await
        .unwrap()
        .unwrap();
    let answer = "{\"answer\":1}".to_owned();
    let resumed = world
        .agent_store
        .agent_runs()
        .resume_agent_run(&paused, answer, response(), step(None))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(world.agent_store.agent_runs().get_agent_run(&acme, &run.id).await.unwrap().as_ref(), Some(&resumed));
    assert_eq!((resumed.state, resumed.document.as_str()), (AgentRunState::Running, "{\"answer\":1}"));
    assert_eq!(
        world.agent_store.agent_runs().resume_agent_run(&paused, "{}".into(), response(), step(None)).await.unwrap(),
        None
    );
}

#[tokio::test]
async fn runs_are_listed_newest_first() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        world.clock.advance(Duration::from_secs(1));
        ids.insert(0, world.agent_run(&acme).await);
    }
    world.agent_store.agent_runs().cancel_agent_run(&ids[1]).await.unwrap();
    let list = async |principal: &Principal, filter: AgentRunFilter| {
        let found = world.agent_store.agent_runs().list_agent_runs(principal, filter).await.unwrap();
        found.into_iter().map(|run| run.id).collect::<Vec<_>>()
    };
    let any = || AgentRunFilter { limit: 9, ..AgentRunFilter::default() };
    let [third, second, first] = [0, 1, 2].map(|index: usize| ids[index].id.clone());
    assert_eq!(list(&acme, any()).await, [third.clone(), second.clone(), first.clone()]);
    assert_eq!(list(&acme, AgentRunFilter { limit: 1, ..any() }).await, std::slice::from_ref(&third));
    let older = AgentRunFilter { before: Some(third.clone()), ..any() };
    assert_eq!(list(&acme, older).await, [second.clone(), first.clone()]);
    let cancelled = AgentRunFilter { state: Some(AgentRunState::Cancelled), ..any() };
    assert_eq!(list(&acme, cancelled).await, [second]);
    assert_eq!(list(&acme, AgentRunFilter { agent: Some(ids[2].agent.clone()), ..any() }).await, [first]);
    let bob = Principal { account: AccountId::parse("bob#2").unwrap(), grants: Grants::default(), ..acme.clone() };
    let chief = Principal { grants: Grants::everything(), ..bob.clone() };
    let other = world.organization("other").await;
    for (principal, seen) in [(&bob, 0), (&chief, 3), (&other, 0)] {
        assert_eq!(list(principal, any()).await.len(), seen, "{principal:?}");
    }
}

#[tokio::test]
async fn a_run_is_seen_by_its_user_and_by_administrators() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let other = world.organization("other").await;
    let run = world.agent_run(&acme).await;
    let bob = Principal { account: AccountId::parse("bob#2").unwrap(), grants: Grants::default(), ..acme.clone() };
    let chief = Principal { grants: Grants::everything(), ..bob.clone() };
    for (principal, is_seen) in [(&acme, true), (&bob, false), (&chief, true), (&other, false)] {
        assert_eq!(
            world.agent_store.agent_runs().get_agent_run(principal, &run.id).await.unwrap().is_some(),
            is_seen,
            "{principal:?}"
        );
    }
}

/// A run whose server is gone is taken over, and its old server cannot write to it any more.
#[tokio::test]
async fn a_run_is_taken_over_once_its_server_is_gone() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let run = world.agent_run(&acme).await;
    world.store.nodes().heartbeat().await.unwrap();
    assert_eq!(world.agent_store.agent_runs().take_over_agent_run(&all()).await.unwrap(), None, "its server is there");
    database::execute(&world, "UPDATE agent_runs SET boot = 'gone'").await.unwrap();
    assert_eq!(
        world.agent_store.agent_runs().save_agent_run(&run, checkpoint(AgentRunState::Running, vec![])).await.unwrap(),
        None
    );
    let taken = world.agent_store.agent_runs().take_over_agent_run(&all()).await.unwrap().unwrap();
    assert_eq!((&taken.id, taken.revision), (&run.id, 2));
    assert_eq!(world.agent_store.agent_runs().take_over_agent_run(&all()).await.unwrap(), None);
    assert!(
        world
            .agent_store
            .agent_runs()
            .save_agent_run(&taken, checkpoint(AgentRunState::Paused, vec![]))
            .await
            .unwrap()
            .is_some()
    );
    database::execute(&world, "UPDATE agent_runs SET boot = 'gone'").await.unwrap();
    assert_eq!(
        world.agent_store.agent_runs().take_over_agent_run(&all()).await.unwrap(),
        None,
        "a paused run waits for a person"
    );
}

#[tokio::test]
async fn each_run_is_taken_over_by_one_store() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    for _ in 0..20 {
        world.agent_run(&acme).await;
    }
    // The other store goes by the clock of the machine, which is ahead.
    let gone = "UPDATE agent_runs SET boot = 'gone', updated_at = 9000000000000000";
    database::execute(&world, gone).await.unwrap();
    let mut stores = vec![world.agent_store.clone(), world.agent_store.clone()];
    if database::is_server() {
        stores.push(world.beside().await);
    }
    for store in &stores {
        store.registry().nodes().heartbeat().await.unwrap();
    }
    let mut taking = tokio::task::JoinSet::new();
    for store in stores {
        taking.spawn(async move {
            let mut taken = Vec::new();
            while let Some(run) = store.agent_runs().take_over_agent_run(&all()).await.unwrap() {
                taken.push(run.id);
            }
            taken
        });
    }
    let mut taken: Vec<_> = taking.join_all().await.into_iter().flatten().collect();
    let times = taken.len();
    taken.sort();
    taken.dedup();
    assert_eq!((taken.len(), times), (20, 20));
}

#[tokio::test]
async fn a_key_belongs_to_one_request_of_one_user() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let agent = world.agent(&acme, "clerk").await;
    let start = async |principal: &Principal, request: &[u8]| {
        let once = Some(Once { key: IdempotencyKey::parse("k").unwrap(), request: Digest::of(request) });
        let new = NewAgentRun {
            agent: agent.clone(),
            kind: AgentRunKind::Agent,
            objective: RunObjective::of("x"),
            document: "{}".to_owned(),
            once,
        };
        world.agent_store.agent_runs().start_agent_run(principal, new).await.unwrap()
    };
    let StartedAgentRun::New(run) = start(&acme, b"1").await else { panic!() };
    assert!(matches!(start(&acme, b"1").await, StartedAgentRun::Repeated(again) if again.id == run.id));
    assert!(matches!(start(&acme, b"2").await, StartedAgentRun::OtherRequest));
    let bob = Principal { account: AccountId::parse("bob#2").unwrap(), ..acme.clone() };
    assert!(matches!(start(&bob, b"2").await, StartedAgentRun::New(_)));
}

/// A run that ends each server that works on it, and one that nobody expects any more.
#[tokio::test]
async fn a_run_is_not_taken_over_for_ever() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    world.store.nodes().heartbeat().await.unwrap();
    let (deadly, old) = (world.agent_run(&acme).await, world.agent_run(&acme).await);
    let died = "UPDATE agent_runs SET boot = 'gone' WHERE state = 'running'";
    world.agent_store.agent_runs().release_agent_run(&old).await.unwrap();
    database::execute(&world, "UPDATE agent_runs SET updated_at = 0 WHERE boot = ''").await.unwrap();
    for _ in 0..3 {
        database::execute(&world, died).await.unwrap();
        assert_eq!(world.agent_store.agent_runs().take_over_agent_run(&all()).await.unwrap().unwrap().id, deadly.id);
    }
    database::execute(&world, died).await.unwrap();
    assert_eq!(world.agent_store.agent_runs().take_over_agent_run(&all()).await.unwrap(), None);
    for run in [deadly, old] {
        let failed = world.agent_store.agent_runs().reread_agent_run(&run).await.unwrap().unwrap();
        assert_eq!((failed.state, failed.ended_at), (AgentRunState::Failed, Some(world.clock.now())));
    }
}

#[tokio::test]
async fn a_released_run_is_taken_over_but_not_for_a_busy_organization() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    world.store.nodes().heartbeat().await.unwrap();
    let run = world.agent_run(&acme).await;
    world.agent_store.agent_runs().release_agent_run(&run).await.unwrap();
    let not_of_acme = AgentRunCapacity { busy: vec![acme.organization.clone()], ..all() };
    assert_eq!(world.agent_store.agent_runs().take_over_agent_run(&not_of_acme).await.unwrap(), None);
    let taken = world.agent_store.agent_runs().take_over_agent_run(&all()).await.unwrap().unwrap();
    world.store.nodes().leave().await.unwrap();
    database::execute(&world, "UPDATE agent_runs SET boot = 'gone'").await.unwrap();
    assert_eq!(
        world.agent_store.agent_runs().take_over_agent_run(&all()).await.unwrap(),
        None,
        "the others believe this server dead"
    );
    assert_eq!(taken.id, run.id);
}

#[tokio::test]
async fn ended_runs_are_deleted_with_the_history() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (ended, going_on) = (world.agent_run(&acme).await, world.agent_run(&acme).await);
    let steps = || vec![step(None)];
    world
        .agent_store
        .agent_runs()
        .save_agent_run(&ended, checkpoint(AgentRunState::Completed, steps()))
        .await
        .unwrap()
        .unwrap();
    world
        .agent_store
        .agent_runs()
        .save_agent_run(&going_on, checkpoint(AgentRunState::Paused, steps()))
        .await
        .unwrap()
        .unwrap();
    let (cancelled, _) = world.paused_run(&acme, Urgency::Low).await;
    assert!(world.agent_store.agent_runs().cancel_agent_run(&cancelled).await.unwrap());
    assert_eq!(world.agent_store.agent_runs().delete_expired_agent_runs().await.unwrap(), 0);
    world.clock.advance(Duration::from_hours(25));
    assert_eq!(world.agent_store.agent_runs().delete_expired_agent_runs().await.unwrap(), 2);
    assert_eq!(world.agent_store.agent_runs().reread_agent_run(&ended).await.unwrap(), None);
    let paused = world.agent_store.agent_runs().reread_agent_run(&going_on).await.unwrap().unwrap();
    assert_eq!(paused.state, AgentRunState::Paused, "its request expires by itself");
    assert_eq!(database::number(&world, "SELECT count(*) FROM agent_run_steps").await, 1);
}

/// The answer to a commit was lost: the server of the run does not know that it should work on it.
#[tokio::test]
async fn a_run_on_which_its_server_does_not_work_is_taken_over() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    world.store.nodes().heartbeat().await.unwrap();
    let run = world.agent_run(&acme).await;
    assert_eq!(
        world.agent_store.agent_runs().take_over_agent_run(&all()).await.unwrap(),
        None,
        "the work may begin in a moment"
    );
    world.clock.advance(Duration::from_secs(61));
    let working = AgentRunCapacity { working: vec![run.id.clone()], ..all() };
    assert_eq!(world.agent_store.agent_runs().take_over_agent_run(&working).await.unwrap(), None);
    let idle = AgentRunCapacity { has_model: false, ..all() };
    assert_eq!(world.agent_store.agent_runs().take_over_agent_run(&idle).await.unwrap(), None, "it has no model");
    database::execute(&world, "UPDATE agent_runs SET kind = 'call'").await.unwrap();
    assert_eq!(
        world.agent_store.agent_runs().take_over_agent_run(&idle).await.unwrap().unwrap().id,
        run.id,
        "a call takes no model"
    );
    world.agent_store.agent_runs().release_agent_run(&run).await.unwrap();
    let present = world.agent_store.agent_runs().reread_agent_run(&run).await.unwrap().unwrap();
    assert_eq!(present.revision, 3, "a late release takes nothing from the new work");
}
