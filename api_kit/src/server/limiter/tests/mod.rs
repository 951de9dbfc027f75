//! Eviction, and the time of each phase of a connection.

use futures_util::FutureExt;

use super::*;
use crate::server::stalled_share::STALLED_WITH_WHOLE_TIME_MAX;

fn start_limiter(connections_max: usize, connections_per_address_max: usize) -> Arc<Limiter> {
    let limits = ConnectionLimits { connections_max, connections_per_address_max, ..ConnectionLimits::default() };
    Arc::new(Limiter { limits, table: Mutex::default() })
}

fn try_admit(limiter: &Arc<Limiter>, from: &str) -> Option<ConnectionPermit> {
    limiter.admit(Peer(from.parse().unwrap()))
}

fn admit(limiter: &Arc<Limiter>, from: &str) -> ConnectionPermit {
    try_admit(limiter, from).unwrap()
}

/// Admits a connection whose request is being answered, and reports `events` of it.
fn admit_answering(limiter: &Arc<Limiter>, from: &str, events: &[Event]) -> ConnectionPermit {
    let permit = admit(limiter, from);
    report(&permit, &[&[Event::RequestBegan][..], events].concat());
    permit
}

fn report(permit: &ConnectionPermit, events: &[Event]) {
    events.iter().for_each(|event| permit.activity.report(*event));
}

fn is_evicted(permit: &mut ConnectionPermit) -> bool {
    matches!(permit.wait_for_end().now_or_never(), Some(EndReason::Evicted { .. }))
}

fn sweep_after(limiter: &Limiter, permit: &mut ConnectionPermit, seconds: u64) -> Option<EndReason> {
    limiter.sweep(Instant::now() + Duration::from_secs(seconds));
    permit.wait_for_end().now_or_never()
}

const ANSWERED: [Event; 3] = [Event::RequestBegan, Event::ResponseEnded, Event::Flushed];

#[test]
fn the_connection_that_has_waited_longest_is_evicted() {
    let limiter = start_limiter(2, 2);
    let mut first = admit(&limiter, "10.0.0.1");
    let mut second = admit(&limiter, "10.0.0.2");
    report(&first, &ANSWERED);
    let _third = admit(&limiter, "10.0.0.3");
    assert!(is_evicted(&mut second) && !is_evicted(&mut first));
    // Its last reports change nothing.
    report(&second, &ANSWERED);
    drop(second);
    assert_eq!(limiter.table.lock().connections.len(), 2);
}

#[test]
fn a_connection_that_was_ended_gives_up_its_place() {
    let limiter = start_limiter(1, 1);
    let mut only = admit(&limiter, "10.0.0.1");
    report(&only, &[Event::Received]);
    assert_eq!(sweep_after(&limiter, &mut only, 11), Some(EndReason::SlowHeaders));
    assert!(try_admit(&limiter, "10.0.0.2").is_some(), "while its refusal is being sent");
}

#[test]
fn a_crowd_is_counted_at_once() {
    let limiter = start_limiter(12, 12);
    let stalled: Vec<_> = (0..12).map(|_| admit_answering(&limiter, "10.0.0.1", &[Event::BodyAwaited(true)])).collect();
    assert_eq!(stalled[0].activity.sharing(), 12);
}

#[test]
fn a_connection_that_is_being_answered_is_not_evicted() {
    let limiter = start_limiter(1, 1);
    let mut only = admit_answering(&limiter, "10.0.0.1", &[Event::Flushed, Event::Written(5)]);
    assert!(try_admit(&limiter, "10.0.0.2").is_none());
    report(&only, &[Event::ResponseEnded, Event::Flushed]);
    assert!(try_admit(&limiter, "10.0.0.2").is_some());
    assert!(is_evicted(&mut only));
}

#[test]
fn stalled_connections_are_evicted_before_all_others_when_an_address_has_many() {
    let many = STALLED_WITH_WHOLE_TIME_MAX + 1;
    let limiter = start_limiter(many + 3, many + 3);
    let mut few = admit_answering(&limiter, "10.0.0.1", &[Event::WriteBlocked]);
    let mut busy = admit_answering(&limiter, "10.0.0.2", &[]);
    let mut idle = admit(&limiter, "10.0.0.3");
    let stall = |number| if number % 2 == 0 { Event::WriteBlocked } else { Event::BodyAwaited(true) };
    let mut stalled: Vec<_> = (0..many).map(|number| admit_answering(&limiter, "10.0.0.4", &[stall(number)])).collect();
    // This connection has moved since, so that the next one has waited longer.
    report(&stalled[0], &[Event::Written(1), Event::WriteBlocked]);
    let mut kept = vec![admit(&limiter, "10.0.0.5")];
    assert!(is_evicted(&mut stalled[1]) && !is_evicted(&mut idle) && !is_evicted(&mut few));
    // Few are left, so that idle ones are evicted first.
    kept.push(admit(&limiter, "10.0.0.5"));
    assert!(is_evicted(&mut idle) && !is_evicted(&mut few) && !is_evicted(&mut busy));
}

#[test]
fn a_few_stalled_connections_are_evicted_when_no_connection_is_idle() {
    let limiter = start_limiter(3, 3);
    let mut busy = admit_answering(&limiter, "10.0.0.1", &[]);
    let mut slow = [(); 2].map(|()| admit_answering(&limiter, "10.0.0.2", &[Event::BodyAwaited(true)]));
    let new = admit(&limiter, "10.0.0.3");
    assert!(is_evicted(&mut slow[0]) && !is_evicted(&mut slow[1]) && !is_evicted(&mut busy));
    report(&new, &[Event::RequestBegan]);
    report(&slow[1], &[Event::BodyAwaited(false)]);
    assert!(try_admit(&limiter, "10.0.0.4").is_none(), "the server waits for no client");
}

#[test]
fn a_listening_stream_is_evicted_of_the_owner_with_most() {
    let limiter = start_limiter(4, 4);
    let [few, many] = ["acme", "other"].map(|name| Event::Listens(StreamOwner::of(&name)));
    let mut lonely = admit_answering(&limiter, "10.0.0.1", &[few]);
    let mut streams = ["10.0.0.2", "10.0.0.3"].map(|from| admit_answering(&limiter, from, &[many]));
    let mut busy = admit_answering(&limiter, "10.0.0.4", &[]);
    let new = admit(&limiter, "10.0.0.4");
    assert!(is_evicted(&mut streams[0]) && !is_evicted(&mut streams[1]) && !is_evicted(&mut lonely));
    report(&new, &[Event::RequestBegan]);
    // Both owners have one stream now: the older one is evicted.
    let next = admit_answering(&limiter, "10.0.0.4", &[]);
    assert!(is_evicted(&mut lonely) && !is_evicted(&mut streams[1]) && !is_evicted(&mut busy));
    // A request that follows a stream on its connection is none.
    report(&streams[1], &[Event::ResponseEnded, Event::Flushed, Event::RequestBegan]);
    assert!(try_admit(&limiter, "10.0.0.5").is_none());
    drop(next);
}

#[test]
fn an_address_with_most_connections_loses_an_idle_one() {
    let limiter = start_limiter(3, 3);
    let mut lonely = admit(&limiter, "10.0.0.1");
    let mut stalled = [(); 2].map(|()| admit(&limiter, "10.0.0.2"));
    let _new = admit(&limiter, "10.0.0.3");
    assert!(is_evicted(&mut stalled[0]) && !is_evicted(&mut stalled[1]) && !is_evicted(&mut lonely));
}

#[test]
fn an_address_has_a_bound_of_its_own() {
    let limiter = start_limiter(10, 1);
    let first = admit_answering(&limiter, "2001:db8::1", &[]);
    assert!(try_admit(&limiter, "2001:db8::2").is_none(), "a neighbour is the same client");
    assert!(try_admit(&limiter, "2001:db8:0:1::1").is_some());
    assert!(try_admit(&limiter, "::ffff:10.0.0.1").is_some());
    drop(first);
    assert!(try_admit(&limiter, "2001:db8::2").is_some());
}

#[test]
fn a_trusted_proxy_is_as_many_clients_as_it_has_connections() {
    let trusted_proxies = vec!["10.0.0.1/32".parse().unwrap()].into();
    let limits = ConnectionLimits {
        connections_max: 5,
        connections_per_address_max: 1,
        trusted_proxies,
        ..ConnectionLimits::default()
    };
    let limiter = Arc::new(Limiter { limits, table: Mutex::default() });
    let mut proxied = [(); 4].map(|()| admit(&limiter, "10.0.0.1"));
    let mut direct = admit(&limiter, "10.0.0.2");
    let _new = admit(&limiter, "::ffff:10.0.0.1");
    assert!(is_evicted(&mut direct), "the proxy's clients have one connection each");
    assert!(!proxied.iter_mut().any(is_evicted));
    report(&proxied[0], &[Event::RequestBegan, Event::BodyAwaited(true)]);
    assert_eq!(proxied[0].activity.sharing(), 0);
    let _last = admit(&limiter, "10.0.0.3");
    assert!(is_evicted(&mut proxied[1]), "the one that has waited longest");
}

#[test]
fn each_phase_has_a_time_of_its_own() {
    let limiter = start_limiter(10, 10);
    for (events, seconds, reason) in [
        (&[][..], 10, EndReason::Idle),
        (&[Event::Received], 10, EndReason::SlowHeaders),
        (&ANSWERED, 75, EndReason::Idle),
        (&[Event::RequestBegan, Event::ResponseEnded], 75, EndReason::Idle),
        (&[Event::RequestBegan, Event::ResponseEnded, Event::Received], 10, EndReason::SlowHeaders),
        (&[Event::RequestBegan, Event::WriteBlocked], 30, EndReason::SlowResponse),
    ] {
        let mut permit = admit(&limiter, "10.0.0.1");
        report(&permit, events);
        assert_eq!(sweep_after(&limiter, &mut permit, seconds - 1), None, "{events:?}");
        assert_eq!(sweep_after(&limiter, &mut permit, seconds + 1), Some(reason), "{events:?}");
    }
    let mut busy = admit_answering(&limiter, "10.0.0.1", &[Event::Received, Event::BodyAwaited(true)]);
    assert_eq!(sweep_after(&limiter, &mut busy, 3_600), None);
}

#[test]
fn an_unused_connection_of_a_server_that_ends_has_the_delay() {
    let limiter = start_limiter(9, 9);
    let (mut unused, mut fresh) = (admit(&limiter, "10.0.0.1"), admit(&limiter, "10.0.0.1"));
    report(&unused, &ANSWERED);
    let mut answering = admit_answering(&limiter, "10.0.0.1", &[]);
    assert!(!answering.activity.is_last_response());
    limiter.drain(Duration::from_secs(5));
    assert!(answering.activity.is_last_response());
    for (seconds, reason) in [(4, None), (6, Some(EndReason::Idle))] {
        for permit in [&mut unused, &mut fresh] {
            assert_eq!(sweep_after(&limiter, permit, seconds), reason, "after {seconds} s");
        }
    }
    assert_eq!(sweep_after(&limiter, &mut answering, 60), None);
}

#[test]
fn a_connection_goes_on_when_a_request_arrives_at_its_end() {
    let limiter = start_limiter(9, 9);
    let mut permit = admit(&limiter, "10.0.0.1");
    report(&permit, &ANSWERED);
    assert_eq!(sweep_after(&limiter, &mut permit, 76), Some(EndReason::Idle));
    report(&permit, &[Event::Received]);
    assert!(permit.resume());
    assert_eq!(sweep_after(&limiter, &mut permit, 11), Some(EndReason::SlowHeaders), "it can be ended again");
    let mut other = admit(&limiter, "10.0.0.1");
    assert_eq!(sweep_after(&limiter, &mut other, 11), Some(EndReason::Idle));
    assert!(!other.resume(), "no request has arrived");
}
