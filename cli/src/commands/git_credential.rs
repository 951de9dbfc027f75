//! `lathe git-credential`: speaks git's credential helper protocol, so that `git push` needs no password.

use std::io::BufRead;

use clap::Args;
use reqwest::Url;

use crate::client::Credentials;
use crate::failure::Outcome;
use crate::home::Home;
use crate::output::Screen;

/// More than git ever sends.
const LINES_MAX: usize = 100;

/// Register it once for your server, and `git push` and `git fetch` just work:
///
///   git config --global credential.http://127.0.0.1:8080.helper '!lathe git-credential'
///
/// Git sends what it knows about a server on stdin; the answer is a user name and a token that ends by itself.
/// For any other server the answer is empty, and git asks its next helper.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct GitCredentialArguments {
    /// What git wants: only `get` gives an answer, `erase` drops a token that was refused, anything else is ignored
    operation: String,
}

/// What git says about the server that it wants to reach.
#[derive(Debug, Default, PartialEq, Eq)]
struct Question {
    protocol: String,
    host: String,
}

pub async fn run(arguments: &GitCredentialArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let question = read_question(std::io::stdin().lock())?;
    let home = Home::of_user()?;
    let Some(credentials) = home.load_credentials()? else { return Ok(Outcome::Done) };
    if !is_ours(&question, &credentials) {
        return Ok(Outcome::Done);
    }
    match arguments.operation.as_str() {
        "get" => {
            let client = home.client()?;
            let token = client.token().await?;
            screen.line(format!("username={}\npassword={}", credentials.basic_user(), token.id_token.reveal()))?;
        }
        "erase" => home.token_cache().forget(),
        _ => {}
    }
    Ok(Outcome::Done)
}

fn read_question(input: impl BufRead) -> std::io::Result<Question> {
    let mut question = Question::default();
    for line in input.lines().take(LINES_MAX) {
        match line?.split_once('=') {
            Some(("protocol", value)) => value.clone_into(&mut question.protocol),
            Some(("host", value)) => value.clone_into(&mut question.host),
            Some(_) => {}
            None => break,
        }
    }
    Ok(question)
}

/// The token goes to the server of the login and to nobody else.
fn is_ours(question: &Question, credentials: &Credentials) -> bool {
    let asked = Url::parse(&format!("{}://{}", question.protocol, question.host));
    match (asked, credentials.url()) {
        (Ok(asked), Ok(ours)) => asked.origin() == ours.origin(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::SecretText;

    fn is_ours_from(input: &str, url: &str) -> bool {
        let credentials = Credentials {
            url: url.to_owned(),
            organization: "acme".to_owned(),
            user_id: "ada".to_owned(),
            api_key_id: "id".to_owned(),
            api_key: SecretText::new("key".to_owned()),
        };
        is_ours(&read_question(input.as_bytes()).expect("readable"), &credentials)
    }

    #[test]
    fn only_the_server_of_the_login_gets_the_token() {
        let question = "protocol=http\nhost=127.0.0.1:8080\nwwwauth[]=Basic realm=\"x\"\n\n";
        assert!(is_ours_from(question, "http://127.0.0.1:8080"));
        assert!(!is_ours_from(question, "http://127.0.0.1:8081"));
        assert!(!is_ours_from(question, "https://127.0.0.1:8080"));
        assert!(!is_ours_from("protocol=http\n", "http://127.0.0.1:8080"));
        assert!(!is_ours_from("protocol=https\nhost=github.com\n", "http://127.0.0.1:8080"));
        assert!(is_ours_from("protocol=https\nhost=tools.example.org\n", "https://tools.example.org:443"));
    }
}
