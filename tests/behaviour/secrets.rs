//! Secrets are redacted from texts of a run before they are stored, and from answers unless the organisation disables
//! it.

use serde_json::json;

use crate::harness::{Lathe, Options, Server, Team, input};

const SECRET: &str = "canary-Ünder/the+roof?";
const PIN: &str = "pin-of-the-caller";

const BODY: &str = "
    import base64, json, sys
    from urllib.parse import quote
    secret, pin = config.secrets['TOKEN'], user_variables.sensitive.get('pin', 'none')
    print('printed', secret, pin)
    await send_status_event(f'event {secret} {pin}', data={'deep': [secret, base64.b64encode(secret.encode()).decode()]})
    if tool_input.get('raise'):
        raise ValueError(f'wrong token {secret!r} {pin}')
    forms = [secret, json.dumps(secret), secret.encode().hex(), quote(secret, safe='')]
    forms += [base64.b64encode(b'x' * n + secret.encode()).decode() for n in range(3)]
    return json.dumps({'forms': forms, 'pin': pin}, ensure_ascii=False)
";

#[test]
fn a_secret_is_in_no_record_and_no_answer() {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    let tool = team.tool("talks").body(BODY).manifest("required_secret_envvars = ['TOKEN']");
    tool.set_variables(&[("TOKEN", SECRET, true)]);
    let tool = tool.published();
    let mut one = input(&json!({}));
    one["sensitive_user_variables"] = json!({"pin": PIN});
    let mut two = one.clone();
    two["input_parameters"] = json!({"raise": true});
    let call = json!({"inputs": [one, two]});

    let events = tool.invoke_request(&call).events();
    let said = events.iter().map(|event| event.data.to_string()).collect::<String>();
    let answer = tool.invoke_request(&call).send().expect(200);
    let (output, message) = (&answer["invocation_results"][0], &answer["invocation_results"][1]);
    for answered in [&said, &output.to_string(), &message.to_string()] {
        assert!(answered.contains("[redacted]") && answered.contains(PIN), "{answered}");
        assert!(!answered.contains("canary") && !answered.contains("63616e617279"), "{answered}");
    }
    let forms = output["output"].as_str().expect("text").to_owned();
    assert_eq!(forms.matches("[redacted]").count(), 7, "{forms}");

    for record in team.history() {
        let record = team.get(&format!("/tool/invocation/{}", record["id"].as_str().expect("an id")));
        let kept = record.to_string();
        assert!(kept.contains("printed [redacted] [redacted]"), "{kept}");
        assert!(!kept.contains("canary") && !kept.contains(PIN), "{kept}");
    }
    for query in ["canary", "caller"] {
        for against in ["invocation_status.output", "invocation_status.exception_message"] {
            let found = team.get(&format!("/tool/invocation/search?query={query}&query_against={against}"));
            assert_eq!(found["tool_invocations"].as_array().map(Vec::len), Some(0), "{found}");
        }
    }

    let set = |state: &str| {
        let lathe = Lathe { home: team.home(), directory: team.home() };
        let data = server.data().to_str().expect("UTF-8");
        lathe.ok(&["org", "edit", &team.organization, "--redact-answers", state, "--data", data])
    };
    assert!(set("off").contains("secrets are not removed"));
    let plain = tool.invoke_inputs(&call).remove(0);
    assert!(plain.output().contains(SECRET), "{}", plain.output());
    assert!(!team.history()[0].to_string().contains("canary"));
    set("on");
    assert!(!tool.invoke_inputs(&call).remove(0).output().contains(SECRET));
    assert!(!server.log_about("").contains("canary"));
    stored_nowhere(&server, &["canary", PIN]);
}

/// Searches every byte that the server stores, deleted records included.
pub(super) fn stored_nowhere(server: &Server, words: &[&str]) {
    let mut folders = vec![server.data().to_owned()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a directory").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                folders.push(entry);
                continue;
            }
            files += 1;
            let bytes = std::fs::read(&entry).unwrap_or_default();
            for word in words {
                let is_there = bytes.windows(word.len()).any(|window| window == word.as_bytes());
                assert!(!is_there, "{word} is in {}", entry.display());
            }
        }
    }
    assert!(files > 3, "the data directory has {files} files");
}
