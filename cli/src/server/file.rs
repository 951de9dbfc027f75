//! `lathe.toml`, the settings file.
//!
//! The file is read only when `--config` or `LATHE_CONFIG` names it: it can name programs to start and hosts to send
//! requests to, and the current directory may be somebody else's checkout. An unknown key is an error, since most are
//! typing errors.

use std::path::{Path, PathBuf};

use clap::Args;
use registry::suggest_in;
use serde::de::DeserializeOwned;
use toml::de::DeTable;

use super::data::{DataArguments, Location};
use super::file_keys::list_keys;
use super::given::Given;
use super::serve_settings::ServeSettings;
use crate::failure::Failure;
use crate::text_input;

const FILE_NAME: &str = "lathe.toml";

/// A settings file without unknown keys; empty when none is named.
#[derive(Debug, Default)]
pub struct SettingsFile {
    path: PathBuf,
    text: String,
}

impl SettingsFile {
    /// Reads the named file. Without a name, returns no settings.
    pub fn load(named: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = named else { return Ok(Self::default()) };
        let file = Self { path: path.to_owned(), text: text_input::read_file(path)? };
        file.require_known_keys()?;
        Ok(file)
    }

    /// Reads the named file like [`SettingsFile::load`]. Without a name, a settings file in the current directory is an
    /// error: the command would work on other data than its user expects.
    pub fn load_or_refuse(named: Option<&Path>) -> anyhow::Result<Self> {
        match is_file_ignored(named) {
            true => Err(Failure::usage(
                format!("{FILE_NAME} in the current directory is not read unless it is named"),
                format!(
                    "give `--config {FILE_NAME}` to read it or `--config /dev/null` to ignore it, or set LATHE_CONFIG"
                ),
            )),
            false => Self::load(named),
        }
    }

    /// Reads the settings of one group. The keys of others do not count.
    pub fn read<T: DeserializeOwned>(&self) -> anyhow::Result<T> {
        toml::from_str(&self.text).map_err(|error| self.refuse_value(&error))
    }

    /// Reads the settings of a server.
    pub fn read_all(&self) -> anyhow::Result<ServeSettings> {
        Ok(ServeSettings {
            data: self.read()?,
            proxies: self.read()?,
            log: self.read()?,
            storage: self.read()?,
            builds: self.read()?,
            embeddings: self.read()?,
            model: self.read()?,
            ..self.read()?
        })
    }

    fn require_known_keys(&self) -> anyhow::Result<()> {
        let table = DeTable::parse(&self.text).map_err(|error| self.refuse_value(&error))?;
        let known = list_keys();
        let is_known = |key: &str| known.contains(&key);
        let unknown = table.get_ref().keys().filter(|key| !is_known(key.get_ref()));
        let Some(key) = unknown.min_by_key(|key| key.span().start) else { return Ok(()) };
        let known: Vec<_> = known.iter().map(|key| format!("`{key}`")).collect();
        let message = format!("unknown field `{}`, expected one of {}", key.get_ref(), known.join(", "));
        Err(self.refuse(key.span().start, &message))
    }

    fn refuse_value(&self, error: &toml::de::Error) -> anyhow::Error {
        self.refuse(error.span().map_or(0, |span| span.start), error.message())
    }

    /// The refusal of what stands at a byte of the file.
    fn refuse(&self, start: usize, message: &str) -> anyhow::Error {
        let line = self.text.bytes().take(start).filter(|&byte| byte == b'\n').count() + 1;
        let text = self.text.lines().nth(line - 1);
        let key = text.and_then(|line| line.split_once('=')).map_or("", |(key, _)| key.trim());
        let key = if key.is_empty() { String::new() } else { format!("{key}: ") };
        let reason = suggest_in(message.replace('\n', " "));
        Failure::usage(
            format!("{}:{line}: {key}{reason}", self.path.display()),
            "`lathe serve --help` lists the settings; in the file, write _ instead of -",
        )
    }
}

/// Whether the current directory has a settings file and no file is named.
fn is_file_ignored(named: Option<&Path>) -> bool {
    named.is_none() && Path::new(FILE_NAME).exists()
}

impl DataArguments {
    /// The data directory and the database, for a command that changes them. A settings file that is not named is an error.
    pub fn find_location(&self) -> anyhow::Result<Location> {
        self.apply_to(&SettingsFile::load_or_refuse(self.config.as_deref())?)?.locate()
    }

    /// The data directory and the database, for a command that only reads them. A settings file that is not named is ignored.
    pub fn find_location_to_read(&self) -> anyhow::Result<Location> {
        self.apply_to(&SettingsFile::load(self.config.as_deref())?)?.locate()
    }

    /// The data directory and the database, for a command that may create them, or prints what only its server accepts. A directory that
    /// is not named has to be that of a server that runs: the current directory may be any other.
    pub fn find_location_of_server(&self) -> anyhow::Result<Location> {
        self.apply_to(&SettingsFile::load_or_refuse(self.config.as_deref())?)?.locate_of_server()
    }

    /// The settings of one group that a server with these arguments uses.
    pub fn read_settings<T: Args + DeserializeOwned>(&self) -> anyhow::Result<T> {
        Ok(Given::<T>::of_environment()?.apply_to(SettingsFile::load(self.config.as_deref())?.read()?)?)
    }

    /// Whether the current directory has a settings file that is not named.
    pub fn ignores_file(&self) -> bool {
        is_file_ignored(self.config.as_deref())
    }

    fn apply_to(&self, file: &SettingsFile) -> anyhow::Result<Self> {
        Ok(self.clone().fill_from(file.read()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> anyhow::Result<ServeSettings> {
        let file = SettingsFile { path: FILE_NAME.into(), text: text.to_owned() };
        file.require_known_keys()?;
        file.read_all()
    }

    fn find_refusal(text: &str) -> String {
        parse(text).expect_err("refused").to_string()
    }

    #[test]
    fn settings_of_all_groups_are_read() {
        let text = "data = \"d\"\ntape_hours = 5\nbuild_workers = \"external\"\nstorage = \"s3://lathe/tools\"\n\
            allowed_models = [\"small\"]\npublic_url = \"https://tools.example.com\"\n\
            [limits]\nconnections = 4\n[egress]\nhosts = [\"*.example.com\"]\n";
        let settings = parse(text).expect("a valid file");
        assert_eq!(settings.data.data, Some(PathBuf::from("d")));
        assert_eq!(settings.tape_hours, Some(5));
        assert_eq!(settings.storage.storage.map(String::from).as_deref(), Some("s3://lathe/tools"));
        assert_eq!(settings.model.allowed_models, Some(vec!["small".to_owned()]));
        assert_eq!(settings.public_url.map(|url| url.to_string()).as_deref(), Some("https://tools.example.com"));
        assert_eq!(settings.limits.connections.map(usize::from), Some(4));
        assert_eq!(settings.egress.hosts, Some(vec!["*.example.com".to_owned()]));
    }

    #[test]
    fn an_unknown_key_is_named_with_file_and_line() {
        let message = find_refusal("data = \"d\"\n\nlisen = \"127.0.0.1:1\"\n");
        assert!(message.starts_with("lathe.toml:3: lisen: unknown field `lisen`, expected one of `"), "{message}");
        assert!(message.ends_with("; did you mean `listen`?"), "{message}");
        let message = find_refusal("[limits]\nconections = 3\n");
        assert!(message.starts_with("lathe.toml:2: conections: unknown field `conections`"), "{message}");
        // A key of a table is none of the file.
        assert!(find_refusal("connections = 3\n").contains("unknown field `connections`"));
        assert!(find_refusal("config = \"lathe.toml\"\n").contains("unknown field `config`"));
    }

    #[test]
    fn a_bad_value_is_named_with_file_and_line() {
        for (line, reason) in [
            ("listen = \"here\"", "lathe.toml:2: listen: invalid socket address"),
            ("storage_cache_megabytes = \"much\"", "lathe.toml:2: storage_cache_megabytes: invalid type"),
            ("log_format = \"jsn\"", "lathe.toml:2: log_format: unknown variant `jsn`"),
            ("public_url = \"tools\"", "lathe.toml:2: public_url: should be "),
            ("database = \"mysql://host/lathe\"", "lathe.toml:2: database: expected a URL like postgres://"),
        ] {
            let message = find_refusal(&format!("data = \"d\"\n{line}\n"));
            assert!(message.starts_with(reason), "{message}");
        }
    }
}
