//! The organisation's git repository, without a git program.

use reqwest::Method;

use super::request::{Call, Client};

/// Characters of a commit id.
const COMMIT_CHARACTERS: usize = 40;

impl Client {
    /// Returns the commit at the tip of a pushed branch. `None` if the branch was never pushed.
    pub async fn find_branch_tip(&self, branch: &str) -> anyhow::Result<Option<String>> {
        let path = ["tool", "git", "tools.git", "info", "refs"];
        let call = Call::new(Method::GET, &path).query("service", "git-upload-pack");
        Ok(find_tip(&self.get_text(call).await?, branch))
    }
}

/// Finds a branch in an advertisement of version 0 of git's protocol: lines of a length, a commit, a space and a ref; the
/// first one also has the server's capabilities, after a NUL.
fn find_tip(advertisement: &str, branch: &str) -> Option<String> {
    let name = format!("refs/heads/{branch}");
    let lines = advertisement.lines().filter_map(|line| line.split('\0').next()?.split_once(' '));
    let (start, _) = lines.into_iter().find(|(_, reference)| *reference == name)?;
    let commit = start.get(start.len().checked_sub(COMMIT_CHARACTERS)?..)?;
    commit.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| commit.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tip_of_a_branch_is_found() {
        let (one, two) = ("1".repeat(40), "a".repeat(40));
        let text = format!(
            "001e# service=git-upload-pack\n00000155{one} HEAD\0multi_ack symref=HEAD:refs/heads/main\n\
             003d{one} refs/heads/main\n0048{two} refs/heads/releases/acme\n0000"
        );
        assert_eq!(find_tip(&text, "releases/acme"), Some(two));
        assert_eq!(find_tip(&text, "main"), Some(one.clone()));
        assert_eq!(find_tip(&text, "acme"), None);
        assert_eq!(find_tip(&format!("00000155{one} refs/heads/only\0caps\n0000"), "only"), Some(one));
        assert_eq!(find_tip("003d refs/heads/main\n", "main"), None);
    }
}
