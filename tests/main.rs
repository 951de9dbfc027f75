//! The one integration binary: the real server, git, HTTP, SQLite and Python image, through the doors that users have.
//!
//! | module | shows |
//! |---|---|
//! | `attack` | random bytes, which must not make the server fail |
//! | `walk` | the whole way from source to history, over HTTP |
//! | `git` | hosted git with the real client |
//! | `bad_input` | what authors get wrong, and what they are told |
//! | `replay` | tapes, and runs repeated over them |
//! | `rust` | tools in Rust |
//! | `behaviour` | what tools do, and what becomes of their runs |
//! | `egress` | requests that tools send, and where to |
//! | `durability` | kills, stops, full disks, second servers, requests cut off |
//! | `work` | idempotency keys, answers that come later, streams, conversations |
//! | `workers` | builds in processes beside the server |
//! | `hostile` | tools that attack, one for each way |
//! | `processes` | the processes that run tools: what they cannot do, and what becomes of their runs when they die |
//! | `javascript` | tools in JavaScript and TypeScript, where there is an esbuild |
//! | `load` | how long calls take, and how many are answered |
//! | `operations` | what operators see and set |
//! | `contract` | the HTTP contract, whole and in its corners |
//! | `doors` | the commands of `lathe` |
//! | `identity` | users, roles and keys, and what they open |
//! | `tidy` | the rules of the house |

mod attack;
mod bad_input;
mod behaviour;
mod contract;
mod doors;
mod durability;
mod egress;
mod git;
mod harness;
mod hostile;
mod identity;
mod javascript;
mod load;
mod operations;
mod processes;
mod replay;
mod rust;
mod tidy;
mod walk;
mod work;
mod workers;
