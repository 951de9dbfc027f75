//! Valid credentials in the path of another organisation.

use crate::harness::Team;

#[test]
fn another_organisation_looks_like_none() {
    let (team, stranger) = (Team::new(), Team::new());
    let tool = team.tool("secret").body("return 'x'").published();
    let paths = ["/tool", "/user/me", "/tool/invocation", "/tool/git/tools.git/info/refs?service=git-upload-pack"];
    let paths = paths.iter().map(|path| (*path).to_owned());
    for path in paths.chain([format!("/tool/{}/version", tool.id())]) {
        let answer = |organization: &str, token: &str| {
            let answer = stranger.server.request("GET", &format!("/v1/{organization}{path}")).bearer(token).send();
            let mut headers = answer.headers;
            for own in ["x-request-id", "date"] {
                headers.remove(own);
            }
            (answer.status, headers, answer.body)
        };
        let foreign = answer(&team.organization, &stranger.token);
        assert_eq!(foreign.0, 404, "{path}");
        assert_eq!(foreign, answer("nobody-has-this", &stranger.token), "{path}");
        let anonymous = answer(&team.organization, "nonsense");
        assert_eq!((anonymous.0, &anonymous), (401, &answer("nobody-has-this", "nonsense")), "{path}");
    }
    let said = stranger.repository.git(&[
        "ls-remote",
        &team.git_url_with(&format!("{}_{}:{}", stranger.organization, stranger.user, stranger.token)),
    ]);
    assert!(said.code != Some(0) && said.stdout.is_empty(), "{said:?}");
}
