//! Clients behind proxies, whose addresses are believed only if the operator names the proxy.

use crate::harness::{Options, Server, Team};

fn wrong_sign_in(team: &Team, client: &str) -> u16 {
    let path = format!("/v1/{}/user/signin_with_api_key", team.organization);
    let request = team.server.request("POST", &path).header("x-user-id", &team.user).header("x-forwarded-for", client);
    request.header("x-api-key-id", "none").header("x-api-key", "wrong").send().status
}

fn server(arguments: &[&str]) -> std::sync::Arc<Server> {
    let arguments = [&["--rate-limits=contract"], arguments].concat().into_iter().map(str::to_owned).collect();
    Server::private(&Options { arguments, ..Options::default() })
}

#[test]
fn wrong_sign_ins_count_for_the_client_that_a_trusted_proxy_names() {
    let team = Team::on(&server(&["--trusted-proxies=127.0.0.0/8"]));
    for _ in 0..5 {
        assert_eq!(wrong_sign_in(&team, "203.0.113.1, 198.51.100.7"), 401);
    }
    assert_eq!(wrong_sign_in(&team, "198.51.100.7"), 429);
    assert_eq!(wrong_sign_in(&team, "198.51.100.7, 203.0.113.1"), 401, "the last address is the client");
}

#[test]
fn what_other_clients_claim_is_not_believed() {
    let team = Team::on(&server(&["--trusted-proxies=10.0.0.0/8"]));
    for number in 0..5 {
        assert_eq!(wrong_sign_in(&team, &format!("198.51.100.{number}")), 401);
    }
    assert_eq!(wrong_sign_in(&team, "198.51.100.9"), 429);
}
