//! The user's configuration directory: the login and the last token, readable by the user alone.
//!
//! The directory is `LATHE_CONFIG_DIR`, by default `lathe` in the user's configuration home (`~/.config` on Linux).

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;
use etcetera::BaseStrategy;

use crate::client::{Client, Credentials, TokenCache};
use crate::failure::Failure;
use crate::private_file;

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
        Ok(Self::at(base_directories()?.config_dir().join("lathe")))
    }

    /// The user's cache directory: `lathe` in the cache home (`~/.cache` on Linux).
    pub fn cache_of_user() -> anyhow::Result<PathBuf> {
        Ok(base_directories()?.cache_dir().join("lathe"))
    }

    pub fn credentials_file(&self) -> PathBuf {
        self.directory.join("credentials.toml")
    }

    pub fn token_cache(&self) -> TokenCache {
        TokenCache::new(self.directory.join("session.json"))
    }

    pub fn save_credentials(&self, credentials: &Credentials) -> anyhow::Result<()> {
        let path = self.credentials_file();
        private_file::write(&path, &toml::to_string(credentials)?)
            .with_context(|| format!("writing {}", path.display()))
    }

    /// Returns the login, `None` before the first `lathe login`.
    pub fn load_credentials(&self) -> anyhow::Result<Option<Credentials>> {
        let path = self.credentials_file();
        match std::fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map(Some).map_err(|error| damaged(&path, &error)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
        }
    }

    /// Returns a client with the login of this directory.
    pub fn client(&self) -> anyhow::Result<Client> {
        let credentials = self.load_credentials()?.ok_or(Failure::NotLoggedIn)?;
        Client::new(credentials, Some(self.token_cache()))
    }
}

fn base_directories() -> anyhow::Result<impl BaseStrategy> {
    etcetera::choose_base_strategy().context("finding the home directory (is HOME set?)")
}

fn damaged(path: &Path, error: &toml::de::Error) -> anyhow::Error {
    // The error's `Display` shows the line, which may contain the key; its message does not.
    Failure::refused(format!("{} cannot be read: {}", path.display(), error.message()), "run `lathe login` again")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use api::wire::SecretText;

    #[test]
    fn a_login_is_loaded_as_saved_and_is_private() {
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
        assert_eq!(mode & 0o777, 0o600);
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
