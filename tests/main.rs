//! The integration tests: the real server, git, HTTP, SQLite and Python image, used as users use them.
//!
//! | module | content |
//! |---|---|
//! | `agent_runs` | runs of agents with a scripted model |
//! | `agents` | agents: drafts, assignments of tools, deployments |
//! | `apis` | tools with several APIs |
//! | `attack` | random bytes, which must not make the server fail |
//! | `walk` | one tool from its source to its history, over HTTP |
//! | `git` | hosted git with the real client |
//! | `bad_input` | authors' mistakes, and the messages about them |
//! | `replay` | recordings, and replays of recorded runs |
//! | `rust` | tools in Rust |
//! | `behaviour` | behaviour of tools, and results of their runs |
//! | `egress` | outbound HTTP requests of tools |
//! | `durability` | kills, shutdowns, full disks, second servers, interrupted requests |
//! | `kill` | kills at random instants under work, and failing disks, compared with a ledger |
//! | `work` | idempotency keys, asynchronous operations, streams, conversations |
//! | `workers` | builds in worker processes beside the server |
//! | `hostile` | tools that attack the host, one per attack |
//! | `processes` | runner processes: their confinement, and their deaths |
//! | `javascript` | tools in JavaScript and TypeScript, on machines with esbuild |
//! | `library` | the tools of the Library |
//! | `load` | latency and throughput |
//! | `mcp` | agents for MCP clients, in both eras of the protocol |
//! | `nodes` | several servers on one Postgres database and one bucket |
//! | `operations` | metrics, logs, traces and overload |
//! | `confirmation` | confirmations that agents ask for |
//! | `content` | content blocks and log messages of tools in every language |
//! | `documents` | the commands of the README, the tutorial and the guides |
//! | `contract` | the HTTP contract: every operation, parameter and status |
//! | `calls` | calls of tools by tools |
//! | `cli` | the commands of `lathe` |
//! | `identity` | users, roles and keys, and the access that they give |
//! | `turns` | states of agents, turns of conversations, and calls by turns |
//! | `visible` | texts that hide a part of themselves |
//! | `tidy` | rules for the source code |

mod agent_runs;
mod agents;
mod apis;
mod attack;
mod bad_input;
mod behaviour;
mod calls;
mod cli;
mod confirmation;
mod content;
mod contract;
mod documents;
mod durability;
mod egress;
mod git;
mod harness;
mod hostile;
mod identity;
mod javascript;
mod kill;
mod library;
mod load;
mod mcp;
mod nodes;
mod operations;
mod processes;
mod replay;
mod rust;
mod tidy;
mod turns;
mod visible;
mod walk;
mod work;
mod workers;
