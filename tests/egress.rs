//! Outbound HTTP of tools, from Python's libraries to real servers on loopback.
//!
//! The attacks continue the table in `hostile.rs`. An attack that no server can play is tested beside the code in
//! `runner/src/sandbox/egress/`.
//!
//! | | attack | test |
//! |---|---|---|
//! | 63 | a host that the version does not declare | `hosts`: only declared hosts |
//! | 64, 65 | internal addresses in every notation | `hosts`: internal addresses; `address.rs` |
//! | 66, 69 | a name with an internal address among its addresses | `connect.rs`: one special address |
//! | 67 | a name that resolves to another address each time | `connect.rs`: the address that was checked |
//! | 68 | a redirect to another host | `hosts`: a redirect |
//! | 70, 71 | another host, length or framing in headers | `bounds`: invalid requests; `head.rs` |
//! | 72 | too many requests, or too many at once | `bounds`: thirty-two requests, concurrent requests |
//! | 73, 80 | endless responses and bodies | `bounds`: bodies are bounded |
//! | 74 | a very slow response | `bounds`: the deadline |
//! | 75 | a handshake that never ends | `connect.rs`: a handshake |
//! | 76 | endless headers and addresses | `bounds`: invalid requests |
//! | 77 | a compressed response that expands | `bounds`: bodies are bounded, and not decompressed |
//! | 78 | a run that is stopped during a request | `bounds`: the deadline, and the connection ends |
//! | 79 | a run that ends during a request | `bounds`: cancelled requests |
//! | 81 | a tool that calls itself | `circle` |

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

/// Sends requests one after the other, and returns the result of each.
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

/// A published tool that sends requests, with these hosts allowed.
fn asking<'t>(team: &'t Team, hosts: &[&str]) -> Tool<'t> {
    team.tool("asks").body(ASK).manifest(&format!("allowed_hosts = {}", json!(hosts))).published()
}

/// The result of each request.
#[track_caller]
fn ask(tool: &Tool<'_>, requests: &Value) -> Vec<Value> {
    ran(tool, requests).json().as_array().expect("a list").clone()
}

#[track_caller]
fn ran(tool: &Tool<'_>, requests: &Value) -> Run {
    tool.invoke(json!({ "requests": requests }))
}

pub fn authority(site: &Site) -> String {
    site.address.to_string()
}
