//! Hostile tools: what each attempts, and what happens to the tool, to its siblings and to its neighbours.
//!
//! Most are a few lines of WebAssembly below `guests/`, without a language in between. A test puts each into the data
//! directory of a running server as a version with a component of its own, and calls it over HTTP with ten inputs, nine of
//! them well-behaved. Whatever the tenth does, the nine are answered, every input has one record that matches the
//! answer, and no failure is the server's fault. The rest are tools in Python, published from git.
//!
//! | | tries | | tries |
//! |---|---|---|---|
//! | 1 | to loop | 32 | half a surrogate |
//! | 2 | to loop before it is called | 33 | a NUL |
//! | 3 | to loop in functions that the host calls besides | 34 | numbers that JSON lacks |
//! | 4 | one long instruction: fill | 35 | numbers that floats lack |
//! | 5 | one long instruction: copy | 36 | deep JSON |
//! | 6 | to recurse | 37 | one key twice |
//! | 7 | to recurse through the host | 38 | another schema |
//! | 8 | the host's stack | 39 | to command terminals and forge logs |
//! | 9 | to trap, in every way | 40 | markup |
//! | 10 | to poll a clock | 41 | the bound of conversations |
//! | 11 | to sleep beyond its deadline | 42 | an endless stack trace |
//! | 12 | a million timers | 43 | to put a secret into an exception |
//! | 13 | to sleep for ever | 44 | to return a secret in disguise |
//! | 14 | to grow | 45 | a million status events |
//! | 15 | to begin with all memory | 46 | a status event of megabytes |
//! | 16 | 64-bit memory | 47 | to send after its answer |
//! | 17 | many memories | 48 | to send a secret |
//! | 18 | to use all of its memory | 49 | to print a hundred megabytes |
//! | 19 | to grow a table | 50 | to read standard input |
//! | 20 | to begin with a wide table | 51 | endless cheap calls of the host |
//! | 21 | many instances | 52 | the environment |
//! | 22 | many handles | 53 | another tool's variables |
//! | 23 | to leak and trap | 54 | files |
//! | 24 | shared memory | 55 | imports that are not granted |
//! | 25 | the bound of outputs | 56 | sockets |
//! | 26 | the same in bytes | 57 | a gigabyte of randomness |
//! | 27 | to return a megabyte | 58 | fine clocks |
//! | 28 | to lie about a length | 59 | to exit well |
//! | 29 | to lie about an address | 60 | to exit badly |
//! | 30 | bytes as text | 61 | to keep state |
//! | 31 | bytes as a result | 62 | to find leftovers of other runs |
//! | 82 | to make the host panic | 84 | (its caller) to disconnect |

mod bounds;
mod case;
mod check;
pub mod component;
mod floor;
mod host;
mod image;
pub mod installed;
mod largest_requests;
mod ledger;
mod memory;
mod neighbours;
mod output;
mod process;
mod python;
mod schemas;
mod time;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Weak};

use case::Case;
use parking_lot::Mutex;

use crate::harness::{Options, Server};

/// Numbers of the cases here. Cases with outbound HTTP (63 to 81) are in `egress`, and the death of a process (83) is in
/// `processes`.
fn numbers() -> BTreeSet<u32> {
    (1..=62).chain([82, 84]).collect()
}

fn cases() -> Vec<Case> {
    [time::cases(), memory::cases(), output::cases(), host::cases()].into_iter().flatten().collect()
}

static SERVER: Mutex<Weak<Server>> = Mutex::new(Weak::new());

/// Server of all hostile tools, separate from the one that other tests share.
fn server() -> Arc<Server> {
    let mut server = SERVER.lock();
    if let Some(running) = server.upgrade() {
        return running;
    }
    let arguments = ["--log-format=json"].map(str::to_owned).to_vec();
    let started = Server::private(&Options { arguments, ..Options::default() });
    *server = Arc::downgrade(&started);
    started
}

#[test]
fn every_number_has_a_case() {
    let mut found: BTreeSet<u32> = cases().iter().map(|case| case.number).collect();
    found.extend(python::NUMBERS);
    found.extend(process::NUMBERS);
    assert_eq!(found, numbers());
}

/// A case without a guest does not compile; a guest without a case is found here.
#[test]
fn every_guest_has_a_case() {
    let cases = cases();
    let mut used: BTreeSet<&str> = cases.iter().map(|case| case.guest.0).collect();
    used.extend(process::GUESTS.iter().chain(&image::GUESTS).map(|guest| guest.0));
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/hostile/guests");
    let files = std::fs::read_dir(directory).expect("the guests").map(|entry| entry.expect("a guest").path());
    let unused: Vec<_> =
        files.filter(|file| !used.contains(file.file_stem().and_then(|name| name.to_str()).unwrap_or(""))).collect();
    assert!(unused.is_empty(), "no case runs these guests: {unused:?}");
}
