//! The table that a list of the history begins with: the one that has the fewest candidates, or an index in the wanted order,
//! so that most pages are read without the records after the page.

use super::effect_filters::{add_effect_table, add_other_effects, find_fewest_names};
use super::origin::origin;
use super::run_group::run_group;
use crate::error::Result;
use crate::history::{EffectKind, RunFilter, RunStates};
use crate::kit::clock::Timestamp;
use crate::store::database::Statement;
use crate::store::sql::kit::row::{to_json, to_list};

/// Follows the tables of a list.
macro_rules! of_organization {
    ($tables:literal) => {
        concat!($tables, " LEFT JOIN inv_unlinked u ON u.invocation = s.invocation WHERE s.organization = $1")
    };
}

/// The records of one group, through an index that has them in order of age.
const OF_ONE_GROUP: &str = concat!(
    of_organization!(
        "inv_started s {index inv_started_by_group} LEFT JOIN inv_finished f ON f.invocation = s.invocation"
    ),
    " AND ",
    run_group!(),
    " = ?"
);

/// The records of several groups from one time to another. Of a group, only those in this time are read: planners do not know how old
/// the runs of a version are.
const OF_GROUPS_SINCE: &str = concat!(
    "{members ?} wanted CROSS JOIN {each inv_started_by_group s.organization = $1 AND ",
    run_group!(),
    " = wanted.value AND s.started_at >= "
);
const OF_GROUPS_BEFORE: &str = "? AND s.started_at < ";
const OF_GROUPS: &str = concat!(
    of_organization!("?} LEFT JOIN inv_finished f ON f.invocation = s.invocation"),
    " AND ",
    run_group!(),
    " = wanted.value"
);

/// The records, through an index that has them in order of age.
const BY_AGE: &str = of_organization!(
    "inv_started s {index inv_started_by_age} LEFT JOIN inv_finished f ON f.invocation = s.invocation"
);

/// The records of one tool, through an index that has them in order of age.
const OF_ONE_TOOL: &str = concat!(
    of_organization!(
        "inv_started s {index inv_started_by_tool} LEFT JOIN inv_finished f ON f.invocation = s.invocation"
    ),
    " AND s.tool = ?"
);

/// The records of one user, whose id begins so, through an index that has them in order of age.
const OF_ONE_USER: &str = concat!(
    of_organization!(
        "inv_started s {index inv_started_by_user} LEFT JOIN inv_finished f ON f.invocation = s.invocation"
    ),
    " AND substr({field s.source user_id}, 1, 256) = substr(CAST(? AS TEXT), 1, 256)"
);

/// The records of one origin, through an index that has them in order of age.
const OF_ONE_ORIGIN: &str = concat!(
    of_organization!(
        "inv_started s {index inv_started_by_origin} LEFT JOIN inv_finished f ON f.invocation = s.invocation"
    ),
    " AND ",
    origin!(),
    " = ?"
);

/// The records of conversations, which are few.
const OF_CONVERSATIONS: &str = concat!(
    of_organization!(
        "(SELECT DISTINCT value AS conversation FROM {members ?} ids) wanted
        CROSS JOIN inv_started s {index inv_started_by_conversation}
        LEFT JOIN inv_finished f ON f.invocation = s.invocation"
    ),
    " AND s.conversation_id = wanted.conversation"
);

/// The records of simulations, which are few.
const OF_SIMULATIONS: &str = concat!(
    of_organization!(
        "(SELECT DISTINCT value AS simulation FROM {members ?} ids) wanted
        CROSS JOIN inv_started s {index inv_started_by_simulation}
        LEFT JOIN inv_finished f ON f.invocation = s.invocation"
    ),
    " AND s.simulation_run_id = wanted.simulation"
);

/// The records with an effect, which follow the table `e`.
const OF_EFFECTS: &str = concat!(
    of_organization!(" CROSS JOIN inv_started s LEFT JOIN inv_finished f ON f.invocation = s.invocation"),
    " AND s.invocation = e.invocation"
);

/// The running runs, which are few.
const RUNNING: &str = concat!(
    of_organization!("inv_open o CROSS JOIN inv_started s LEFT JOIN inv_finished f ON f.invocation = s.invocation"),
    " AND o.organization = $1 AND s.invocation = o.invocation"
);

/// The records that have ended, through an index that has them in order of duration.
const ENDS: &str = concat!(
    of_organization!("inv_finished f {index inv_finished_by_duration} CROSS JOIN inv_started s"),
    " AND f.organization = $1 AND s.invocation = f.invocation"
);

/// Characters of a user's id that the index has.
const USER_CHARACTERS: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) enum ListStart {
    Running,
    Conversations,
    Simulations,
    /// The runs with effects of this kind.
    Effects(EffectKind),
    OneUser,
    OneTool,
    OneOrigin,
    /// The runs of groups with these names.
    Groups(Vec<String>),
    /// Ends, in order of duration.
    Ends,
    Age,
}

impl ListStart {
    /// Returns the table that a filter narrows the most, whatever the order.
    pub fn of(filter: &RunFilter) -> Self {
        if filter.states == RunStates::Running {
            Self::Running
        } else if !filter.conversation_ids.is_empty() {
            Self::Conversations
        } else if !filter.simulation_unit_test_set_run_ids.is_empty() {
            Self::Simulations
        } else if let Some(kind) = find_fewest_names(filter) {
            Self::Effects(kind)
        } else if filter.user_ids.len() == 1 {
            Self::OneUser
        } else if is_one_tool(filter) {
            Self::OneTool
        } else if filter.origins.len() == 1 {
            Self::OneOrigin
        } else {
            Self::Age
        }
    }

    /// Returns the filter without what [`ListStart::add`] has taken care of. Planners take a repeated condition for another one, and
    /// then expect too few records.
    pub fn build_rest(&self, filter: &RunFilter) -> RunFilter {
        let mut rest = filter.clone();
        match self {
            Self::Effects(_) => {
                rest.effects.clear();
                (rest.created_after, rest.created_before) = (None, None);
            }
            // Longer ids may begin with the same characters.
            Self::OneUser => rest.user_ids.retain(|user| user.chars().count() >= USER_CHARACTERS),
            Self::OneOrigin => rest.origins.clear(),
            Self::Groups(_) => {
                rest.tools.clear();
                rest.source_types.clear();
            }
            _ => {}
        }
        rest
    }

    /// Adds the tables, and the conditions by which the first one is read.
    pub fn add(&self, statement: &mut Statement, filter: &RunFilter) -> Result<()> {
        match self {
            Self::Running => statement.push(RUNNING),
            Self::Conversations => statement.bind_some(OF_CONVERSATIONS, to_list(&filter.conversation_ids)?),
            Self::Simulations => {
                statement.bind_some(OF_SIMULATIONS, to_list(&filter.simulation_unit_test_set_run_ids)?);
            }
            Self::Effects(first) => {
                add_effect_table(statement, filter, *first)?;
                statement.push(OF_EFFECTS);
                add_other_effects(statement, filter, *first)?;
            }
            Self::OneUser => statement.bind_some(OF_ONE_USER, filter.user_ids.first().map(String::as_str)),
            Self::OneTool => statement.bind_some(OF_ONE_TOOL, filter.tools.first().map(|first| first.tool.as_str())),
            Self::OneOrigin => statement.bind_some(OF_ONE_ORIGIN, filter.origins.first().map(|origin| origin.as_str())),
            Self::Groups(names) => match names.as_slice() {
                [name] => statement.bind(OF_ONE_GROUP, name.as_str()),
                names => {
                    statement.bind(OF_GROUPS_SINCE, to_json(&names)?);
                    let after = filter.created_after.map_or(i64::MIN, Timestamp::as_milliseconds);
                    statement.bind(OF_GROUPS_BEFORE, after);
                    let before = filter.created_before.map_or(i64::MAX, Timestamp::as_milliseconds);
                    statement.bind(OF_GROUPS, before);
                }
            },
            Self::Ends => statement.push(ENDS),
            Self::Age => statement.push(BY_AGE),
        }
        Ok(())
    }
}

fn is_one_tool(filter: &RunFilter) -> bool {
    let first = filter.tools.first();
    first.is_some_and(|first| filter.tools.iter().all(|other| other.tool == first.tool))
}
