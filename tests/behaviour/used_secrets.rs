//! Secrets that a tool uses in another form than they are stored in: without line ends and quotes, after `Bearer`, in URLs,
//! JSON and lines. No answer, record or file contains them.

use serde_json::{Value, json};

use super::secrets::stored_nowhere;
use crate::calls::{calls_of, record};
use crate::harness::{Options, Server, Team, input};

const BODY: &str = "
    import base64, json, sys
    from urllib.parse import quote, urlsplit
    from amigo_tool_scaffold.tools import call_tool
    stored = config.secrets
    used = [stored['TOKEN'].strip(), stored['MARKED'].strip('\\ufeff '), stored['QUOTED'].strip().strip('\"')]
    used += [stored['BEARER'].split()[1], urlsplit(stored['URL'].strip()).password]
    account = json.loads(stored['ACCOUNT'])
    key = account['private_key']
    used += [key, key.replace('\\n', '\\r\\n'), ''.join(key.splitlines()[1:-1]), key.splitlines()[1]]
    used += [line.split('=', 1)[1] for line in stored['ENVIRONMENT'].splitlines()]
    used += stored['LIST'].split(',')
    pin = user_variables.sensitive['pin'].strip()
    if tool_input.get('raise'):
        raise ValueError(' '.join(used))
    print('printed', *used, pin)
    for one in used:
        print('in parts', one[:5], end='')
        sys.stdout.write(one)
    await send_status_event(f'event {used} {pin}', data={'deep': used, used[0]: base64.b64encode(used[3].encode()).decode()})
    await call_tool('echo', {'token': used[0], 'deep': [f'Bearer {used[3]}', pin]})
    forms = [json.dumps(one) for one in used] + [one.encode().hex() for one in used] + [quote(one, safe='') for one in used]
    forms += [base64.b64encode(b'x' * n + one.encode()).decode() for n in range(3) for one in used]
    return json.dumps({'used': used, 'forms': forms}, ensure_ascii=False)
";

/// Every secret has this word, and so each value that a tool makes of it, but not its base64.
const WORD: &str = "canary";

fn key() -> String {
    let body: String = (0..6).map(|line| format!("MII{line}{WORD}QIBADANBgkqhkiG9w0BAQEFAASCBK\n")).collect();
    format!("-----BEGIN PRIVATE KEY-----\n{body}-----END PRIVATE KEY-----\n")
}

#[test]
fn a_secret_in_the_form_that_a_tool_uses_is_in_no_record_and_no_answer() {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    team.tool("echo").body("return tool_input").published();
    let names = ["TOKEN", "MARKED", "QUOTED", "BEARER", "URL", "ACCOUNT", "ENVIRONMENT", "LIST"];
    let tool = team.tool("uses").body(BODY).manifest(&format!("required_secret_envvars = {}", json!(names)));
    let tool = tool.manifest("calls = { echo = '' }");
    let account = json!({"type": "service_account", "private_key": key()}).to_string();
    let values = [
        "sk-canary-1234\n",
        "\u{feff} sk-canary-marked",
        "\"sk-canary-quoted\"\n",
        "Bearer sk-canary-bearer",
        "postgres://user:canary-of-url@host/database\n",
        &account,
        "REGION=canary-region\nexport KEY=canary-of-line\n",
        "canary-first,canary-second",
    ];
    let variables: Vec<_> = names.into_iter().zip(values).map(|(name, value)| (name, value, true)).collect();
    tool.set_variables(&variables);
    let tool = tool.published();
    let mut one = input(&json!({}));
    one["sensitive_user_variables"] = json!({"pin": " canary-pin-77\n"});
    let mut two = one.clone();
    two["input_parameters"] = json!({"raise": true});
    let call = json!({"inputs": [one, two]});

    let events = tool.invoke_request(&call).events();
    let said = events.iter().map(|event| event.data.to_string()).collect::<String>();
    let answer = tool.invoke_request(&call).send().expect(200);
    for answered in [&said, &answer.to_string()] {
        // The caller gets the variables back that it sent.
        let answered = answered.replace("canary-pin-77", "");
        assert!(answered.contains("[redacted]") && !answered.contains(WORD), "{answered}");
        assert!(!answered.contains(&hex::encode(WORD)), "{answered}");
    }
    let results = &answer["invocation_results"];
    assert!(results[0]["output"].is_string() && results[1]["exception_type"] == "ValueError", "{answer}");

    let runs = team.history();
    assert_eq!(runs.len(), 6, "{runs:?}");
    for run in runs {
        let kept = record(&team, run["id"].as_str().expect("an id")).to_string();
        assert!(kept.contains("[redacted]") && !kept.contains(WORD), "{kept}");
    }
    assert!(!server.log_about("").contains(WORD));
    stored_nowhere(&server, &[WORD, &hex::encode(WORD)]);
}

#[test]
fn a_tool_that_is_called_gets_the_secret_and_its_record_does_not() {
    let team = Team::new();
    team.tool("echo").body("return len(tool_input['token'])").published();
    let body = "
        from amigo_tool_scaffold.tools import call_tool
        return (await call_tool('echo', {'token': 'Bearer ' + config.secrets['TOKEN'].strip(), 'more': 'x' * 20_000})).json()
    ";
    let tool = team.tool("asks").body(body).manifest("required_secret_envvars = ['TOKEN']\ncalls = { echo = '' }");
    tool.set_variables(&[("TOKEN", "sk-canary-1234\n", true)]);
    let run = tool.published().invoke(json!({}));
    assert_eq!(run.json(), "Bearer sk-canary-1234".len(), "{run}");
    let inner: Value = record(&team, calls_of(&team, &run)[0]["invocation_id"].as_str().expect("a run"));
    assert_eq!(inner["inputs"]["token"], "Bearer [redacted]", "{inner}");
}
