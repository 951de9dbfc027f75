//! Requests of runs of agents to people: one is open for a run at a time, and it is closed once.

use std::time::Duration;

use agents::{
    AgentRun, AgentRunState, Checkpoint, HumanRequest, HumanRequestFilter, HumanRequestKind, HumanRequestState,
    NewHumanRequest, NewHumanResponse, Urgency,
};
use registry::{AccountId, Grants, HumanRequestId, NewUser, Principal, RoleName, UserId};

use crate::agent_runs::{all, checkpoint, step};
use crate::world::World;

/// An answer of a person.
pub fn response() -> NewHumanResponse {
    NewHumanResponse { by: UserId::parse("ada").unwrap(), document: "{\"approved\":true}".to_owned() }
}

/// Any requests.
fn any() -> HumanRequestFilter {
    HumanRequestFilter { limit: 100, ..HumanRequestFilter::default() }
}

impl World {
    pub async fn paused_run(&self, principal: &Principal, urgency: Urgency) -> (AgentRun, HumanRequestId) {
        self.pause_run_with(principal, urgency, "{\"question\":\"Go on?\"}".to_owned()).await
    }

    async fn pause_run_with(
        &self,
        principal: &Principal,
        urgency: Urgency,
        document: String,
    ) -> (AgentRun, HumanRequestId) {
        let run = self.agent_run(principal).await;
        let request = NewHumanRequest {
            id: HumanRequestId::new(&self.clock),
            kind: HumanRequestKind::Question,
            urgency,
            document,
            expires_at: self.clock.now().after(Duration::from_hours(1)),
        };
        let id = request.id.clone();
        let pausing = Checkpoint { request: Some(request), ..checkpoint(AgentRunState::Paused, vec![]) };
        (self.agent_store.agent_runs().save_agent_run(&run, pausing).await.unwrap().unwrap(), id)
    }

    async fn request(&self, principal: &Principal, id: &HumanRequestId) -> HumanRequest {
        self.agent_store.agent_runs().get_human_request(principal, id).await.unwrap().unwrap()
    }
}

#[tokio::test]
async fn a_request_is_closed_by_its_answer() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (paused, id) = world.paused_run(&acme, Urgency::High).await;
    let open = world.request(&acme, &id).await;
    assert_eq!((open.state, open.urgency, &open.agent_run), (HumanRequestState::Open, Urgency::High, &paused.id));
    assert_eq!((&open.account, &open.agent, open.closed_at), (&acme.account, &paused.agent, None));
    world
        .agent_store
        .agent_runs()
        .resume_agent_run(&paused, "{}".into(), response(), step(None))
        .await
        .unwrap()
        .unwrap();
    let answered = world.request(&acme, &id).await;
    assert_eq!(
        (answered.state, answered.response.as_deref()),
        (HumanRequestState::Answered, Some("{\"approved\":true}"))
    );
    assert_eq!((answered.answered_by, answered.closed_at), (Some(response().by), Some(world.clock.now())));
    assert_eq!(
        world.agent_store.agent_runs().resume_agent_run(&paused, "{}".into(), response(), step(None)).await.unwrap(),
        None
    );
}

#[tokio::test]
async fn the_request_of_a_cancelled_run_is_closed() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (paused, id) = world.paused_run(&acme, Urgency::Low).await;
    assert!(world.agent_store.agent_runs().cancel_agent_run(&paused).await.unwrap());
    let closed = world.request(&acme, &id).await;
    assert_eq!((closed.state, closed.response, closed.answered_by), (HumanRequestState::Cancelled, None, None));
}

/// A later user may have the same id.
#[tokio::test]
async fn the_runs_of_a_user_who_is_removed_are_deleted_and_those_of_an_agent_cancelled() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let bob = UserId::parse("bob").unwrap();
    let new = NewUser { id: bob.clone(), role: RoleName::parse("admin").unwrap() };
    world.store.access().create_user(&acme.organization, new).await.unwrap();
    let of_bob = Principal { account: world.account(&acme.organization, "bob").await, ..acme.clone() };
    let ((of_removed, _), (kept, of_kept)) =
        (world.paused_run(&of_bob, Urgency::Low).await, world.paused_run(&acme, Urgency::Low).await);
    world.store.access().remove_user(&acme.organization, &bob).await.unwrap();
    assert_eq!(world.agent_store.agent_runs().reread_agent_run(&of_removed).await.unwrap(), None);
    assert_eq!(world.request(&acme, &of_kept).await.state, HumanRequestState::Open);
    world.agent_store.agents().delete_agent(&acme, &kept.agent).await.unwrap();
    assert_eq!(world.request(&acme, &of_kept).await.state, HumanRequestState::Cancelled);
    assert_eq!(
        world.agent_store.agent_runs().reread_agent_run(&kept).await.unwrap().unwrap().state,
        AgentRunState::Cancelled
    );
}

#[tokio::test]
async fn requests_are_listed_by_urgency_then_age() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let mut ids = Vec::new();
    for urgency in [Urgency::Low, Urgency::High, Urgency::Medium, Urgency::High] {
        ids.push(world.paused_run(&acme, urgency).await.1);
        world.clock.advance(Duration::from_secs(1));
    }
    let list = async |principal: &Principal, filter: HumanRequestFilter| {
        let (found, _) = world.agent_store.agent_runs().list_human_requests(principal, filter).await.unwrap();
        found.into_iter().map(|request| request.id).collect::<Vec<_>>()
    };
    let sorted = [1, 3, 2, 0].map(|index: usize| ids[index].clone());
    assert_eq!(list(&acme, any()).await, sorted);
    assert_eq!(list(&acme, HumanRequestFilter { limit: 2, ..any() }).await, sorted[..2]);
    assert_eq!(list(&acme, HumanRequestFilter { urgency: Some(Urgency::Medium), ..any() }).await, sorted[2..3]);
    for (index, id) in sorted.iter().enumerate() {
        assert_eq!(list(&acme, HumanRequestFilter { after: Some(id.clone()), ..any() }).await, sorted[index + 1..]);
    }
    let closed = HumanRequestFilter { state: Some(HumanRequestState::Answered), ..any() };
    assert_eq!(list(&acme, closed).await, []);
    let run = world.request(&acme, &ids[0]).await.agent_run;
    assert_eq!(list(&acme, HumanRequestFilter { agent_run: Some(run), ..any() }).await, ids[..1]);
    let bob = Principal { account: AccountId::parse("bob#2").unwrap(), grants: Grants::default(), ..acme.clone() };
    let chief = Principal { grants: Grants::everything(), ..bob.clone() };
    let other = world.organization("other").await;
    for (principal, seen) in [(&bob, 0), (&chief, 4), (&other, 0)] {
        assert_eq!(list(principal, any()).await.len(), seen, "{principal:?}");
        let found = world.agent_store.agent_runs().get_human_request(principal, &ids[0]).await.unwrap();
        assert_eq!(found.is_some(), seen > 0, "{principal:?}");
    }
}

#[tokio::test]
async fn a_page_of_large_requests_has_fewer_of_them() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let document = format!("{{\"question\":\"{}\"}}", "q".repeat(3 << 20));
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(world.pause_run_with(&acme, Urgency::Low, document.clone()).await.1);
        world.clock.advance(Duration::from_secs(1));
    }
    let page = async |after: Option<HumanRequestId>, limit: u32| {
        let filter = HumanRequestFilter { after, limit, ..any() };
        let (found, has_more) = world.agent_store.agent_runs().list_human_requests(&acme, filter).await.unwrap();
        (found.into_iter().map(|request| request.id).collect::<Vec<_>>(), has_more)
    };
    assert_eq!(page(None, 100).await, (ids[..3].to_vec(), true));
    assert_eq!(page(Some(ids[2].clone()), 100).await, (ids[3..].to_vec(), false));
    assert_eq!(page(None, 1).await, (ids[..1].to_vec(), true));
}

/// The run goes on, and an answer comes too late.
#[tokio::test]
async fn a_request_expires_once_nobody_has_answered_in_time() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    world.store.nodes().heartbeat().await.unwrap();
    let (paused, id) = world.paused_run(&acme, Urgency::Medium).await;
    let (answered, of_answered) = world.paused_run(&acme, Urgency::Medium).await;
    world
        .agent_store
        .agent_runs()
        .resume_agent_run(&answered, "{}".into(), response(), step(None))
        .await
        .unwrap()
        .unwrap();
    world.clock.advance(Duration::from_mins(59));
    world.agent_store.agent_runs().expire_human_requests().await.unwrap();
    assert_eq!(world.request(&acme, &id).await.state, HumanRequestState::Open);
    world.clock.advance(Duration::from_mins(1));
    world.agent_store.agent_runs().expire_human_requests().await.unwrap();
    assert_eq!(world.request(&acme, &id).await.state, HumanRequestState::Expired);
    assert_eq!(world.request(&acme, &of_answered).await.state, HumanRequestState::Answered);
    assert_eq!(
        world.agent_store.agent_runs().resume_agent_run(&paused, "{}".into(), response(), step(None)).await.unwrap(),
        None,
        "too late"
    );
    let taken = world.agent_store.agent_runs().take_over_agent_run(&all()).await.unwrap().unwrap();
    assert_eq!((taken.id, taken.state), (paused.id, AgentRunState::Running));
}
