//! What can go wrong here, which is little: everything but the project's name is embedded.

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

/// Whose fault an error is.
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

    /// A stable word for programs.
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
