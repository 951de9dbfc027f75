//! Secrets that a program uses in another form than they are stored in.

use proptest::prelude::*;
use serde_json::json;

use super::encodings::all;
use super::*;

/// A stored secret, and the values that a program makes of it.
struct Case {
    stored: String,
    used: Vec<String>,
}

fn case(stored: impl Into<String>, used: &[&str]) -> Case {
    Case { stored: stored.into(), used: used.iter().map(|value| (*value).to_owned()).collect() }
}

/// Lines of base64 with a given length, as key files have them.
fn key_file(body: &str, columns: usize, line_end: &str) -> String {
    let lines = body.as_bytes().chunks(columns).map(|line| std::str::from_utf8(line).unwrap());
    let lines: Vec<&str> = std::iter::once("-----BEGIN PRIVATE KEY-----").chain(lines).collect();
    format!("{}{line_end}-----END PRIVATE KEY-----{line_end}", lines.join(line_end))
}

/// Blanks and quotes around a token.
fn around(token: &str) -> Vec<Case> {
    let stored = [
        format!("{token}\n"),
        format!("{token}\r\n"),
        format!(" {token}"),
        format!("\u{feff}{token}"),
        format!("\u{feff} {token} \n\n"),
        format!("\t{token}\u{a0}\u{200b}"),
        format!("\"{token}\""),
        format!("'{token}'\n"),
        format!(" `{token}`"),
        format!("\"{token}"),
        format!("\"{token}\\n\""),
        format!("“{token}”"),
    ];
    stored.into_iter().map(|stored| case(stored, &[token])).collect()
}

/// A token after a scheme or a name, in a URL and in JSON.
fn within(token: &str) -> Vec<Case> {
    let basic = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, format!("user:{token}"));
    let stored = [
        format!("Bearer {token}"),
        format!("bearer  {token}\n"),
        format!("Authorization: Bearer {token}"),
        format!("\"Bearer {token}\""),
        format!("Basic {basic}"),
        format!("token {token}"),
        format!("ApiKey:{token}"),
        format!("user:{token}"),
        format!("postgres://user:{token}@host:5432/database?sslmode=require"),
        format!("postgresql+psycopg://user:{token}@host"),
        format!("https://{token}@github.example/organization/repository.git"),
        format!("https://{token}:x-oauth-basic@github.example/"),
        format!("redis://:{token}@host:6379/0\n"),
        format!("mongodb://user:{token}@one:27017,two:27017/database"),
        format!("https://api.example.com/v1?format=json&key={token}#top"),
        format!("DATABASE_URL=postgres://user:{token}@host/database"),
        format!("API_KEY={token}"),
        format!("export API_KEY='{token}'\nREGION=eu\n"),
        format!("# a comment\nREGION = eu\r\nAPI_KEY = \"{token}\"\r\n"),
        format!("Server=tcp:db.example.com,1433;User=app;Password={token};Encrypt=true"),
        format!("host=db user=app password={token}"),
        format!("first-other-token,{token}"),
        format!("first-other-token; {token} ;third"),
        format!("first-other-token {token}\nthird"),
        json!({"type": "x", "deep": [{"token": token}]}).to_string(),
        serde_json::to_string_pretty(&json!({"url": format!("https://u:{token}@host/")})).unwrap(),
        json!(json!({"token": token}).to_string()).to_string(),
        format!("{{'token': '{token}', 'region': 'eu'}}"),
        base64::Engine::encode(&base64::engine::general_purpose::STANDARD, format!("{token}\n")),
    ];
    stored.into_iter().map(|stored| case(stored, &[token])).collect()
}

/// A key file, in one of the forms in which people store it.
fn key_files(body: &str) -> Vec<Case> {
    let plain = key_file(body, 64, "\n");
    let (trimmed, lines) = (plain.trim(), plain.lines().filter(|line| !line.starts_with('-')));
    let crlf = plain.replace('\n', "\r\n");
    let lines: Vec<&str> = lines.filter(|line| line.len() >= 8).collect();
    let used = [vec![trimmed, &crlf, body], lines].concat();
    let stored = [
        plain.clone(),
        crlf.clone(),
        plain.replace('\n', "\\n"),
        format!("\"{}\"", plain.replace('\n', "\\n")),
        plain.replace('\n', " "),
        json!({"type": "service_account", "private_key": plain, "client_email": "robot@example.com"}).to_string(),
        format!("PRIVATE_KEY=\"{}\"\n", plain.replace('\n', "\\n")),
    ];
    stored.into_iter().map(|stored| case(stored, &used)).collect()
}

fn check(case: &Case, before: &str, after: &str) {
    let redactor = redactor(&case.stored);
    for used in &case.used {
        for (name, text) in all(&format!("{before}{used}{after}")) {
            let redacted = redactor.text(text.clone());
            for (inner, told) in all(used) {
                assert!(!redacted.contains(&told), "{:?} as {name} tells {inner}: {redacted:?}", case.stored);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_token_is_found_without_what_is_around_it(
        before in "[ -~]{0,5}",
        token in "[A-Za-z0-9][A-Za-z0-9_.~+-]{7,30}[A-Za-z0-9]",
        after in "[ -~]{0,5}",
    ) {
        around(&token).iter().for_each(|case| check(case, &before, &after));
    }

    #[test]
    fn a_token_is_found_without_what_it_is_in(
        before in "[ -~]{0,5}",
        token in "[A-Za-z][A-Za-z0-9_.~+-]{6,30}[0-9]",
        after in "[ -~]{0,5}",
    ) {
        within(&token).iter().for_each(|case| check(case, &before, &after));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn a_key_file_is_found_by_line_and_with_other_line_ends(body in "[A-Za-z0-9+/]{150,200}") {
        key_files(&body).iter().for_each(|case| check(case, "", " at x"));
    }

    #[test]
    fn a_key_file_of_short_lines_is_found_whole_and_joined(body in "[A-Za-z0-9+/]{60,80}", columns in 4_usize..20) {
        let stored = key_file(&body, columns, "\n");
        let used = [stored.trim(), body.as_str(), &stored.replace('\n', "\r\n")].map(str::to_owned).to_vec();
        check(&Case { stored, used }, "key ", ".");
    }
}

#[test]
fn common_parts_stay_as_they_are() {
    let key = key_file(&"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTU".repeat(4), 64, "\n");
    let secrets = [
        "Authorization: Bearer sk-canary-1234",
        "postgres://application:canary-5678@db.example.com:5432/production",
        r#"{"type": "service_account", "project": "x", "token_uri": "https://oauth2.googleapis.com/token", "private_key": "canary-90123"}"#,
        "please authenticate with the password canary-45678",
        key.as_str(),
    ];
    let redactor = Redactor::of(secrets.into_iter());
    for text in [
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "Authorization: Bearer",
        "the password of application in production",
        "https://oauth2.googleapis.com/token answers",
        "db.example.com",
        "service_account private_key",
        "please authenticate",
        "postgres://",
    ] {
        assert_eq!(redactor.text(text.to_owned()), text);
    }
    for text in ["sk-canary-1234", "canary-5678", "canary-90123", "canary-45678"] {
        assert_eq!(redactor.text(text.to_owned()), REDACTED);
    }
}

#[test]
fn a_cut_token_leaves_at_most_three_bytes() {
    let redactor = redactor("Bearer sk-canary-1234\n");
    assert_eq!(redactor.text(format!("key sk-canary-12{CUT}")), format!("key {REDACTED}{CUT}"));
}

#[test]
fn a_password_with_characters_that_end_a_host_is_found() {
    for (stored, used) in [
        ("postgres://user:pa/ss-canary@host/database", "pa/ss-canary"),
        ("postgres://user:p@ss-canary@host/database", "p@ss-canary"),
        ("postgres://user:p%40ss-canary%2F@host/database", "p@ss-canary/"),
        ("amqp://user:canary?1234@host", "canary?1234"),
    ] {
        check(&case(stored, &[used]), "", "");
    }
}

#[test]
fn the_values_of_a_secret_are_bounded() {
    let nested = |depth: usize| (0..depth).fold("canary-1234".to_owned(), |text, _| json!([text, text]).to_string());
    assert!(matches!(redactor(&nested(11)), Redactor::Everything | Redactor::Forms(_)));
    let list = (0..6_000_u32).map(|number| format!("{number:08}")).collect::<Vec<_>>().join(",");
    assert_eq!(redactor(&list).text("00004999".into()), REDACTED);
    let deep = "[".repeat(20_000) + &"]".repeat(20_000);
    assert_eq!(redactor(&deep).text("harmless".into()), "harmless");
}
