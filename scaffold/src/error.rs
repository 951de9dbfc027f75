//! Errors of this crate. There are few, because everything except the project's name is embedded.

use std::io;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{name:?} cannot name a tool project: {reason}")]
    BadProjectName { name: String, reason: &'static str },
    #[error("the scaffold archive could not be written")]
    Archive {
        #[source]
        source: io::Error,
    },
}

/// The kind of an error: a fault of the caller or of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Invalid,
    Internal,
}

impl Error {
    pub fn kind(&self) -> Kind {
        match self {
            Self::BadProjectName { .. } => Kind::Invalid,
            Self::Archive { .. } => Kind::Internal,
        }
    }

    /// The stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::BadProjectName { .. } => "bad_project_name",
            Self::Archive { .. } => "scaffold_archive",
        }
    }
}

impl From<io::Error> for Error {
    fn from(source: io::Error) -> Self {
        Self::Archive { source }
    }
}
