//! The largest request of each operation and of each MCP method, ten at once, beside another organisation; and attacks on what all
//! organisations share.
//!
//! A plain test run sends few of them, and asserts that every operation and method has a case, that the server answers or refuses in order,
//! that its memory stays below the bound, and that others are answered meanwhile. With `LATHE_NEIGHBOUR_SECONDS` (`just neighbour`) it sends
//! all, prints a table, and asserts the times.

mod attacks;
mod methods;
mod operations;
mod probe;
mod shapes;
mod wire;
mod world;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::harness::{Team, input};
use probe::{Load, Probed, probe};
use shapes::Shape;
use wire::{Returned, Sent};
use world::World;

/// Memory of the server above that of an idle one.
const MEMORY_BYTES_MAX: u64 = 1 << 30;
/// Memory at which the server is killed, so that a failing test leaves the machine alone.
const KILLED_AT_BYTES: u64 = 3 << 30;
/// Time of a probe of the readiness, and of a call of the neighbour, in a run that measures.
const READY_TIME_MAX: Duration = Duration::from_secs(2);
const CALL_TIME_MAX: Duration = Duration::from_secs(1);
/// Pause between two looks at the memory.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Connections that are held at the same time, at most. A process usually has 1,024 descriptors.
const HELD_MAX: usize = 800;
/// Connections from which other requests are sent: fewer than one user may have, so that each request is answered.
const SENDERS_MAX: usize = 200;

/// Requests that are sent at once.
struct Attack {
    name: String,
    requests: Vec<Sent>,
    /// Whether one of the requests succeeds, so that the attack reaches the work that it is about.
    succeeds: bool,
}

/// The numbers of a run.
struct Scale {
    /// Whether the run takes as long as it needs, and asserts times.
    measures: bool,
    at_once: usize,
    shapes: &'static [Shape],
    agents: usize,
    spellings: usize,
    items: usize,
    waiting_runs: usize,
    connections: usize,
    registrations: usize,
    push_bytes: usize,
}

const PLAIN: Scale = Scale {
    measures: false,
    at_once: 2,
    shapes: &[Shape::Lists],
    agents: 2,
    spellings: 10,
    items: 4,
    waiting_runs: 40,
    connections: 40,
    registrations: 20,
    push_bytes: 1 << 20,
};

const WHOLE: Scale = Scale {
    measures: true,
    at_once: 10,
    shapes: &Shape::ALL,
    agents: 40,
    spellings: 1_020,
    items: 200,
    waiting_runs: 216,
    connections: 768,
    registrations: 1_000,
    push_bytes: 103 << 20,
};

/// What an attack did to the server.
struct Measured {
    name: String,
    request_bytes: usize,
    response_bytes: usize,
    statuses: Vec<u16>,
    is_not_admitted: bool,
    /// The code of the first refusal.
    refusal: Option<String>,
    /// Whether no request succeeded that should.
    has_failed: bool,
    disorderly: Vec<String>,
    ready: Probed,
    call: Probed,
    memory: u64,
}

/// The probes of other clients, and the memory of the server before all attacks.
struct Surroundings<'w> {
    world: &'w World,
    ready: Sent,
    call: Sent,
    load: Load,
    /// Whether an attack ends when the server has done its work, and not with the last response.
    waits: bool,
    idle_bytes: u64,
}

#[test]
fn neighbours_of_the_largest_requests_are_served() {
    let scale = if std::env::var_os("LATHE_NEIGHBOUR_SECONDS").is_some() { &WHOLE } else { &PLAIN };
    let world = World::new();
    let neighbours = Team::on(&world.server);
    let call = call_of_neighbour(&neighbours);
    let ready = Sent::new("GET", "/health/ready", &[], Vec::new());
    assert_eq!([&ready, &call].map(|probe| probe.send(world.server.address()).status), [200, 200]);
    let mut failures = admitted_beyond_bounds(&world);
    let load = Load::of(world.server.process_id());
    let idle_bytes = load.now();
    let around = Surroundings { world: &world, ready, call, load, waits: scale.measures, idle_bytes };
    let mut run = |attack: &Attack| {
        let measured = around.measure(attack);
        measured.print();
        failures.extend(measured.failures(scale));
    };
    operations::attack(&world, scale, &mut run);
    methods::attack(&world, scale, &mut run);
    attacks::attacks(&world, scale).iter().for_each(&mut run);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(world.server.log_about("panicked"), "");
}

/// The operations that read a body with more bytes than the table declares.
fn admitted_beyond_bounds(world: &World) -> Vec<String> {
    let sent = operations::too_long(world).into_iter();
    let answered = sent.map(|(operation, request)| (operation, request.send(world.server.address())));
    let admitted = answered.filter(|(_, returned)| returned.status != 413);
    admitted
        .map(|(operation, returned)| format!("{operation}: {} for a body beyond its bound", returned.status))
        .collect()
}

impl Surroundings<'_> {
    fn measure(&self, attack: &Attack) -> Measured {
        let address = self.world.server.address();
        let is_over = AtomicBool::new(false);
        self.load.forget_peak();
        let (returned, ready, call) = std::thread::scope(|scope| {
            let ready = scope.spawn(|| probe(address, &self.ready, &is_over));
            let call = scope.spawn(|| probe(address, &self.call, &is_over));
            scope.spawn(|| self.kill_in_need(&is_over));
            let senders_max = if attack.is_held() { HELD_MAX } else { SENDERS_MAX };
            let senders = attack.requests.chunks(attack.requests.len().div_ceil(senders_max).max(1));
            let senders: Vec<_> = senders
                .map(|requests| {
                    scope.spawn(move || requests.iter().map(|request| request.send(address)).collect::<Vec<_>>())
                })
                .collect();
            let returned: Vec<Returned> =
                senders.into_iter().flat_map(|sender| sender.join().expect("responses")).collect();
            if self.waits {
                self.load.wait_until_idle();
            }
            is_over.store(true, Ordering::Relaxed);
            (returned, ready.join().expect("probes"), call.join().expect("probes"))
        });
        let disorderly = returned.iter().filter(|one| !one.is_orderly() && !attack.is_held());
        Measured {
            name: attack.name.clone(),
            request_bytes: attack.requests.iter().map(Sent::bytes).max().unwrap_or_default(),
            response_bytes: returned.iter().map(|one| one.bytes).max().unwrap_or_default(),
            statuses: returned.iter().map(|one| one.status).collect(),
            is_not_admitted: returned.iter().any(Returned::is_too_long),
            refusal: returned.iter().filter(|one| !one.is_success()).find_map(Returned::code),
            has_failed: attack.succeeds && !returned.iter().any(Returned::is_success),
            disorderly: disorderly.map(|one| format!("{} {:.300}", one.status, one.text())).collect(),
            ready,
            call,
            memory: self.load.peak().saturating_sub(self.idle_bytes),
        }
    }

    /// Kills a server that would take the memory of the machine.
    fn kill_in_need(&self, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Relaxed) {
            if self.load.now() > self.idle_bytes + KILLED_AT_BYTES {
                self.world.server.kill();
                return;
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

impl Attack {
    /// Whether the requests are held for a while and may end without a response.
    fn is_held(&self) -> bool {
        self.requests.iter().any(|request| request.reads_for < crate::harness::PATIENCE)
    }
}

impl Measured {
    fn print(&self) {
        let mut statuses = self.statuses.clone();
        statuses.sort_unstable();
        statuses.dedup();
        let statuses = statuses.iter().map(u16::to_string).collect::<Vec<_>>().join("/");
        println!(
            "{:<48} {:>9} B in {:>9} B out  {statuses:<12} ready {:>6} ms ({}/{} refused)  call {:>6} ms ({}/{} refused)  {:>5} MiB  {}",
            self.name,
            self.request_bytes,
            self.response_bytes,
            self.ready.slowest.as_millis(),
            self.ready.refused,
            self.ready.count,
            self.call.slowest.as_millis(),
            self.call.refused,
            self.call.count,
            self.memory >> 20,
            self.refusal.as_deref().unwrap_or_default(),
        );
    }

    fn failures(&self, scale: &Scale) -> Vec<String> {
        let is_slow = |probed: &Probed, time_max| scale.measures && (probed.slowest > time_max || probed.refused > 0);
        [
            (!self.disorderly.is_empty(), format!("a disorderly response: {:?}", self.disorderly.first())),
            (self.is_not_admitted, "the largest body is not admitted".to_owned()),
            (self.has_failed, format!("no request succeeded: {:?} {:?}", self.statuses, self.refusal)),
            (self.memory > MEMORY_BYTES_MAX, format!("{} MiB above the idle server", self.memory >> 20)),
            (self.ready.refused == self.ready.count, "the server was never ready".to_owned()),
            (self.call.refused == self.call.count, "the neighbour was never answered".to_owned()),
            (is_slow(&self.ready, READY_TIME_MAX), format!("ready: {:?}", self.ready)),
            (is_slow(&self.call, CALL_TIME_MAX), format!("the neighbour's call: {:?}", self.call)),
        ]
        .into_iter()
        .filter(|(failed, _)| *failed)
        .map(|(_, text)| format!("{}: {text}", self.name))
        .collect()
    }
}

/// A call of a small tool of another organisation.
fn call_of_neighbour(neighbours: &Team) -> Sent {
    let tool = neighbours.tool("neighbour").body("return tool_input['text'].upper()").published();
    let target = format!("/v1/{}/tool/{}/version/%3E%3D0/invoke", neighbours.organization, tool.id());
    let authorization = format!("Bearer {}", neighbours.token);
    let headers = [("authorization", authorization.as_str()), ("content-type", "application/json")];
    let body = json!({"inputs": [input(&json!({"text": "hello"}))]}).to_string().into_bytes();
    Sent::new("POST", &target, &headers, body)
}
