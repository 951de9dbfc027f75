//! Outbound HTTP of tools: from Python's libraries through the gate to real servers on loopback.
//!
//! What hostile tools try here goes on from the table in `hostile.rs`; where no server can play the other side, the test is
//! beside the code in `runner/src/egress/`.
//!
//! | | tries | is in |
//! |---|---|---|
//! | 63 | hosts that it did not declare | `hosts`: only declared hosts |
//! | 64, 65 | addresses inside, in every spelling | `hosts`: addresses inside; `address.rs` |
//! | 66, 69 | a name with one address inside, or one that leads to it | `connect.rs`: one special address |
//! | 67 | a name with another address each time | `connect.rs`: the address that was checked |
//! | 68 | to be sent elsewhere | `hosts`: a redirect |
//! | 70, 71 | another host, length or framing in its headers | `bounds`: what is no request; `head.rs` |
//! | 72 | too many requests, or too many at once | `bounds`: thirty-two, as many at once |
//! | 73, 80 | endless answers and bodies | `bounds`: bodies are bounded |
//! | 74 | an answer by the drop | `bounds`: the deadline |
//! | 75 | a handshake that never ends | `connect.rs`: a handshake |
//! | 76 | endless headers and addresses | `bounds`: what is no request |
//! | 77 | an answer to be unpacked | `bounds`: bodies are bounded, where nothing is |
//! | 78 | to be stopped while it asks | `bounds`: the deadline, and the connection ends |
//! | 79 | to end while it asks | `bounds`: what is given up |
//! | 81 | to call itself | `circle` |

mod account;
mod bounds;
mod circle;
mod hosts;
pub mod libraries;
mod python;
mod recorded;
mod secrets;
mod simulation;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{Options, Run, Server, Site, Team, Tool};

/// Sends requests one after the other and says what came of each.
const ASK: &str = "
    import urllib.request, urllib.error
    said = []
    for one in tool_input['requests']:
        data = one['body'].encode() if 'body' in one else None
        request = urllib.request.Request(one['url'], data, one.get('headers', {}), method=one.get('method'))
        try:
            with urllib.request.urlopen(request) as answer:
                body = answer.read()
                said.append({'status': answer.status, 'bytes': len(body), 'body': body.decode('latin-1') if len(body) < 9000 else None})
        except urllib.error.HTTPError as error:
            said.append({'status': error.code})
        except urllib.error.URLError as error:
            said.append({'type': type(error).__name__, 'code': getattr(error, 'code', None), 'message': str(error.reason)})
        except Exception as error:
            said.append({'type': type(error).__name__, 'message': str(error)})
    return said
";

/// A server whose tools may reach loopback.
fn reaching(options: Options) -> Arc<Server> {
    let mut arguments = vec!["--egress-networks".to_owned(), "127.0.0.0/8,::1/128".to_owned()];
    arguments.extend(options.arguments);
    Server::private(&Options { arguments, ..options })
}

/// A published tool that asks, and may ask these hosts.
fn asking<'t>(team: &'t Team, hosts: &[&str]) -> Tool<'t> {
    team.tool("asks").body(ASK).manifest(&format!("allowed_hosts = {}", json!(hosts))).published()
}

/// What came of each request.
#[track_caller]
fn ask(tool: &Tool<'_>, requests: &Value) -> Vec<Value> {
    ran(tool, requests).json().as_array().expect("a list").clone()
}

#[track_caller]
fn ran(tool: &Tool<'_>, requests: &Value) -> Run {
    tool.invoke(json!({ "requests": requests }))
}

fn authority(site: &Site) -> String {
    site.address.to_string()
}
