//! The migrations of the database, embedded in the binary.
//!
//! The first migration is the schema, in one file for each noun. A later one is a file `0002_name.sql` for each database. Migrations are
//! never edited after a release, since a database stores their checksums. A change that old code cannot read takes two releases: the
//! first adds, the second removes. Nothing reverts a migration: a backup is the way back.

#![forbid(unsafe_code)]

/// One migration.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// Number of the migration, without gaps.
    pub number: u32,
    pub name: &'static str,
    /// Statements that apply the migration.
    pub up: &'static str,
}

/// The migrations of one kind of database.
#[derive(Clone, Copy, Debug)]
pub struct Migrations {
    /// Creates the table of applied migrations, unless it exists.
    pub table: &'static str,
    /// In order.
    pub list: &'static [Migration],
}

/// The first migration: the files of the schema, in an order in which a table comes after those that it refers to.
macro_rules! schema {
    ($folder:literal) => {
        Migration {
            number: 1,
            name: "0001_schema",
            up: concat!(
                schema!($folder, "access"),
                schema!($folder, "oauth"),
                schema!($folder, "tools"),
                schema!($folder, "versions"),
                schema!($folder, "history"),
                schema!($folder, "holds"),
                schema!($folder, "recordings"),
                schema!($folder, "search"),
                schema!($folder, "operations"),
                schema!($folder, "nodes"),
                schema!($folder, "repositories"),
                schema!($folder, "agents"),
                schema!($folder, "conversations"),
                schema!($folder, "agent_runs"),
                schema!($folder, "library"),
                schema!($folder, "library_search"),
                schema!($folder, "library_counts"),
            ),
        }
    };
    ($folder:literal, $noun:literal) => {
        include_str!(concat!("../", $folder, "/0001_schema/", $noun, ".sql"))
    };
}

pub const SQLITE: Migrations = Migrations {
    table: "CREATE TABLE IF NOT EXISTS schema_migrations (
        number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL
    ) STRICT",
    list: &[schema!("sqlite")],
};

pub const POSTGRES: Migrations = Migrations {
    table: "CREATE TABLE IF NOT EXISTS schema_migrations (
        number BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL
    )",
    list: &[schema!("postgres")],
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use super::{Migrations, POSTGRES, SQLITE};

    const DATABASES: [(&str, Migrations); 2] = [("sqlite", SQLITE), ("postgres", POSTGRES)];

    /// Returns the paths in a folder by their file names.
    fn list_folder(folder: &Path) -> BTreeMap<String, PathBuf> {
        let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        paths.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path)).collect()
    }

    /// Returns the texts of a migration's files: of all in its folder, or of its only one.
    fn read_files(path: &Path) -> BTreeMap<String, String> {
        let read = |path: &Path| std::fs::read_to_string(path).unwrap();
        if path.is_dir() {
            return list_folder(path).into_iter().map(|(name, path)| (name, read(&path))).collect();
        }
        BTreeMap::from([(String::new(), read(path))])
    }

    /// Returns the files of a database by migration.
    fn read_migrations(database: &str) -> BTreeMap<String, BTreeMap<String, String>> {
        let entries = list_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join(database));
        let files =
            entries.into_iter().map(|(name, path)| (name.trim_end_matches(".sql").to_owned(), read_files(&path)));
        files.collect()
    }

    #[test]
    fn migrations_are_numbered_without_gaps_and_named_by_their_number() {
        for (database, migrations) in DATABASES {
            for (number, migration) in (1..).zip(migrations.list) {
                assert_eq!(migration.number, number, "{database}");
                assert!(migration.name.starts_with(&format!("{number:04}_")), "{database}: {}", migration.name);
            }
        }
    }

    #[test]
    fn both_databases_have_the_same_files() {
        let names = |database| {
            let migrations = read_migrations(database).into_iter();
            migrations.map(|(name, files)| (name, files.into_keys().collect())).collect::<Vec<(_, Vec<_>)>>()
        };
        assert_eq!(names("sqlite"), names("postgres"));
    }

    #[test]
    fn every_file_is_embedded_once() {
        for (database, migrations) in DATABASES {
            let found = read_migrations(database);
            let known: Vec<_> = migrations.list.iter().map(|migration| migration.name).collect();
            assert_eq!(found.keys().collect::<Vec<_>>(), known, "{database}");
            for (migration, files) in migrations.list.iter().zip(found.values()) {
                for (file, text) in files {
                    assert!(migration.up.contains(text), "{database}: {} {file}", migration.name);
                }
                let bytes: usize = files.values().map(String::len).sum();
                assert_eq!(migration.up.len(), bytes, "{database}: {}", migration.name);
            }
        }
    }
}
