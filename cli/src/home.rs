//! The user's configuration directory: logins and their last tokens, readable by the user alone.
//!
//! The directory is `LATHE_CONFIG_DIR`, by default `lathe` in the user's configuration home (`~/.config` on Linux). Each
//! profile is a login: the default one in `credentials.toml`, others in `profiles/NAME/credentials.toml`. The file
//! `profile` has the name of the selected one. An API key in the environment is a login of its own, which no file has.

mod environment_login;
mod profile_name;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;
use etcetera::BaseStrategy;

pub use environment_login::DEFAULT_URL;
pub use profile_name::ProfileName;

use crate::client::{Client, Credentials, TokenCache};
use crate::failure::Failure;
use crate::private_file;

/// The variable that names another configuration directory.
pub const CONFIG_DIRECTORY_VARIABLE: &str = "LATHE_CONFIG_DIR";
const CREDENTIALS: &str = "credentials.toml";
const TOKEN: &str = "session.json";

/// The configuration directory, and one of its profiles.
#[derive(Clone, Debug)]
pub struct Home {
    directory: PathBuf,
    profile: ProfileName,
    /// Whether an API key in the environment takes precedence over the profile, which no argument and no variable names.
    takes_environment: bool,
}

impl Home {
    /// The default profile in a directory.
    pub fn at(directory: PathBuf) -> Self {
        Self { directory, profile: ProfileName::default(), takes_environment: false }
    }

    /// The user's directory with the named profile, otherwise with the selected one.
    pub fn of_user(named: Option<ProfileName>) -> anyhow::Result<Self> {
        let home = match std::env::var_os(CONFIG_DIRECTORY_VARIABLE).filter(|directory| !directory.is_empty()) {
            Some(directory) => Self::at(directory.into()),
            None => Self::at(find_base_directories()?.config_dir().join("lathe")),
        };
        let takes_environment = named.is_none();
        let profile = named.map_or_else(|| home.read_selected(), Ok)?;
        Ok(Self { takes_environment, ..home.with(profile) })
    }

    /// The user's cache directory: `lathe` in the cache home (`~/.cache` on Linux).
    pub fn find_user_cache() -> anyhow::Result<PathBuf> {
        Ok(find_base_directories()?.cache_dir().join("lathe"))
    }

    /// The same directory with another profile.
    pub fn with(&self, profile: ProfileName) -> Self {
        Self { directory: self.directory.clone(), profile, takes_environment: false }
    }

    pub fn profile(&self) -> &ProfileName {
        &self.profile
    }

    /// The profile that commands use without `--profile`.
    pub fn read_selected(&self) -> anyhow::Result<ProfileName> {
        let path = self.selection_file();
        match std::fs::read_to_string(&path) {
            Ok(text) => text.trim().parse().map_err(|error| {
                Failure::refused(format!("{}: {error}", path.display()), "run `lathe profile use NAME`")
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(ProfileName::default()),
            Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
        }
    }

    /// Makes this profile the one that commands use.
    pub fn select(&self) -> anyhow::Result<()> {
        let path = self.selection_file();
        private_file::write(&path, format!("{}\n", self.profile)).with_context(|| format!("writing {}", path.display()))
    }

    /// The profiles with a login, by name.
    pub fn list_profiles(&self) -> Vec<ProfileName> {
        let entries = std::fs::read_dir(self.directory.join("profiles")).into_iter().flatten().flatten();
        let named = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut found: Vec<ProfileName> = named.chain([ProfileName::default()]).collect();
        found.retain(|profile| self.with(profile.clone()).credentials_file().is_file());
        found.sort();
        found.dedup();
        found
    }

    fn selection_file(&self) -> PathBuf {
        self.directory.join("profile")
    }

    fn file(&self, name: &str) -> PathBuf {
        match &self.profile {
            profile if profile.is_default() => self.directory.join(name),
            profile => self.directory.join("profiles").join(profile.as_str()).join(name),
        }
    }

    pub fn credentials_file(&self) -> PathBuf {
        self.file(CREDENTIALS)
    }

    pub fn token_cache(&self) -> TokenCache {
        TokenCache::new(self.file(TOKEN))
    }

    pub fn save_credentials(&self, credentials: &Credentials) -> anyhow::Result<()> {
        let path = self.credentials_file();
        private_file::write(&path, &toml::to_string(credentials)?)
            .with_context(|| format!("writing {}", path.display()))
    }

    /// Removes the login and its token. Returns whether there was a login.
    pub fn forget_login(&self) -> anyhow::Result<bool> {
        self.token_cache().forget();
        let path = self.credentials_file();
        match std::fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error).with_context(|| format!("removing {}", path.display())),
        }
    }

    /// Returns the saved login, `None` before the first `lathe login`.
    pub fn load_credentials(&self) -> anyhow::Result<Option<Credentials>> {
        let path = self.credentials_file();
        match std::fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map(Some).map_err(|error| explain_damage(&path, &error)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
        }
    }

    pub fn explain_missing_login(&self) -> Failure {
        let profile = (!self.profile.is_default()).then(|| self.profile.to_string());
        Failure::NotLoggedIn { profile }
    }

    /// Returns the login of the environment, unless a profile is named; `None` when it has no API key.
    ///
    /// # Errors
    /// When the variables are no login.
    pub fn read_environment_login(&self) -> anyhow::Result<Option<Credentials>> {
        if !self.takes_environment {
            return Ok(None);
        }
        environment_login::read(|name| std::env::var(name).ok(), || self.load_credentials())
    }

    /// Returns a client with the login of the environment or of this profile.
    pub fn build_client(&self) -> anyhow::Result<Client> {
        if let Some(credentials) = self.read_environment_login()? {
            return Client::with_key(credentials);
        }
        let credentials = self.load_credentials()?.ok_or_else(|| self.explain_missing_login())?;
        Client::new(credentials, Some(self.token_cache()))
    }
}

fn find_base_directories() -> anyhow::Result<impl BaseStrategy> {
    etcetera::choose_base_strategy().context("finding the home directory (is HOME set?)")
}

fn explain_damage(path: &Path, error: &toml::de::Error) -> anyhow::Error {
    // The error's `Display` shows the line, which may contain the key; its message does not.
    Failure::refused(format!("{} cannot be read: {}", path.display(), error.message()), "run `lathe login` again")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use api::wire::SecretText;

    fn credentials(key: &str) -> Credentials {
        Credentials {
            url: "http://127.0.0.1:8080".to_owned(),
            organization: "acme".to_owned(),
            user_id: Some("ada".to_owned()),
            api_key_id: "id".to_owned(),
            api_key: SecretText::new(key.to_owned()),
        }
    }

    fn read_key(home: &Home) -> Option<String> {
        home.load_credentials().expect("readable").map(|found| found.api_key.reveal().to_owned())
    }

    #[test]
    fn a_login_is_loaded_as_saved_and_is_private() {
        let directory = tempfile::tempdir().expect("a directory");
        let home = Home::at(directory.path().join("deep/lathe"));
        assert_eq!(read_key(&home), None);
        home.save_credentials(&credentials("key")).expect("saved");
        assert_eq!(read_key(&home).as_deref(), Some("key"));
        let mode = std::fs::metadata(home.credentials_file()).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(home.forget_login().expect("removed") && !home.forget_login().expect("nothing left"));
    }

    #[test]
    fn every_profile_has_a_login_of_its_own() {
        let directory = tempfile::tempdir().expect("a directory");
        let home = Home::at(directory.path().to_owned());
        let staging = home.with("staging".parse().expect("a name"));
        staging.save_credentials(&credentials("other")).expect("saved");
        assert_eq!((read_key(&home), read_key(&staging).as_deref()), (None, Some("other")));
        assert_eq!(home.list_profiles(), [staging.profile().clone()]);
        home.save_credentials(&credentials("key")).expect("saved");
        assert_eq!(home.list_profiles(), [home.profile().clone(), staging.profile().clone()]);
        assert_eq!(home.read_selected().expect("a name"), ProfileName::default());
        staging.select().expect("selected");
        assert_eq!(home.read_selected().expect("a name"), *staging.profile());
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
