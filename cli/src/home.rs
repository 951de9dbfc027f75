//! What is kept in the user's configuration directory: the login and the last token, readable by the user alone.
//!
//! The directory is `lathe` in the user's configuration home (`~/.config` on Linux), or the one that `LATHE_CONFIG_DIR` names.

use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use etcetera::BaseStrategy;

use crate::client::{Client, Credentials, TokenCache};
use crate::failure::Failure;

/// Only the owner may read what is in here.
const PRIVATE_FILE_MODE: u32 = 0o600;
const PRIVATE_DIRECTORY_MODE: u32 = 0o700;

#[derive(Clone, Debug)]
pub struct Home {
    directory: PathBuf,
}

impl Home {
    pub fn at(directory: PathBuf) -> Self {
        Self { directory }
    }

    pub fn of_user() -> anyhow::Result<Self> {
        if let Some(directory) = std::env::var_os("LATHE_CONFIG_DIR").filter(|directory| !directory.is_empty()) {
            return Ok(Self::at(directory.into()));
        }
        let strategy = etcetera::choose_base_strategy().context("finding the home directory (is HOME set?)")?;
        Ok(Self::at(strategy.config_dir().join("lathe")))
    }

    /// Where the user keeps what can be made again: `lathe` in the cache home (`~/.cache` on Linux).
    pub fn cache_of_user() -> anyhow::Result<PathBuf> {
        let strategy = etcetera::choose_base_strategy().context("finding the home directory (is HOME set?)")?;
        Ok(strategy.cache_dir().join("lathe"))
    }

    pub fn credentials_file(&self) -> PathBuf {
        self.directory.join("credentials.toml")
    }

    pub fn token_cache(&self) -> TokenCache {
        TokenCache::new(self.directory.join("session.json"))
    }

    pub fn save_credentials(&self, credentials: &Credentials) -> anyhow::Result<()> {
        let path = self.credentials_file();
        write_private(&path, &toml::to_string(credentials)?).with_context(|| format!("writing {}", path.display()))
    }

    /// The login, `None` before the first one.
    pub fn load_credentials(&self) -> anyhow::Result<Option<Credentials>> {
        let path = self.credentials_file();
        match std::fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map(Some).map_err(|error| damaged(&path, &error)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
        }
    }

    /// A client for the login of this directory.
    pub fn client(&self) -> anyhow::Result<Client> {
        let credentials = self.load_credentials()?.ok_or(Failure::NotLoggedIn)?;
        Client::new(credentials, Some(self.token_cache()))
    }
}

fn damaged(path: &Path, error: &toml::de::Error) -> anyhow::Error {
    // The parser's own message would show the line, and a line may hold the key.
    Failure::refused(format!("{} cannot be read: {}", path.display(), error.message()), "run `lathe login` again")
}

/// Writes a file that only its owner can read, whole or not at all.
pub fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    std::fs::DirBuilder::new().recursive(true).mode(PRIVATE_DIRECTORY_MODE).create(directory)?;
    let mut file = tempfile::Builder::new()
        .permissions(std::fs::Permissions::from_mode(PRIVATE_FILE_MODE))
        .tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::SecretText;

    #[test]
    fn a_login_comes_back_and_is_private() {
        let directory = tempfile::tempdir().expect("a directory");
        let home = Home::at(directory.path().join("deep/lathe"));
        assert!(home.load_credentials().expect("readable").is_none());
        let credentials = Credentials {
            url: "http://127.0.0.1:8080".to_owned(),
            organization: "acme".to_owned(),
            user_id: "ada".to_owned(),
            api_key_id: "id".to_owned(),
            api_key: SecretText::new("key".to_owned()),
        };
        home.save_credentials(&credentials).expect("saved");
        let loaded = home.load_credentials().expect("readable").expect("saved above");
        assert_eq!(loaded.api_key.reveal(), "key");
        let mode = std::fs::metadata(home.credentials_file()).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, PRIVATE_FILE_MODE);
    }

    #[test]
    fn a_damaged_login_does_not_show_the_key() {
        let directory = tempfile::tempdir().expect("a directory");
        let home = Home::at(directory.path().to_owned());
        std::fs::write(home.credentials_file(), "api_key = \"very-secret\"\nrest = 1").expect("written");
        let error = home.load_credentials().expect_err("damaged");
        assert!(!format!("{error:#}").contains("very-secret"), "{error:#}");
    }
}
