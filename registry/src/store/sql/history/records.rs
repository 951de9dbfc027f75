//! Reading records: the start and the end of a run in one row.

use super::run_end::read_end;
use super::run_start::read_start;
use crate::error::Result;
use crate::history::Record;
use crate::store::database::Row;

/// Selects records, with a flag for those that were unlinked from their conversation.
macro_rules! select_invocations {
    ($($rest:expr),*) => {
        select_invocations!(@from "", $($rest),*)
    };
    // With a table that is read first, so that the records come in its order.
    (@from $leading:expr, $($rest:expr),*) => {
        concat!(
            "SELECT s.*, f.sequence, f.finished_at, f.duration_ms, f.succeeded, f.output, f.exception_type,
                f.exception_message, f.exception_stack_trace, f.persisted, f.status_events, f.logs, f.content,
                f.ledger, f.refused_at, u.invocation IS NOT NULL AS unlinked
            FROM ",
            $leading,
            " inv_started s
            LEFT JOIN inv_finished f ON f.invocation = s.invocation
            LEFT JOIN inv_unlinked u ON u.invocation = s.invocation ",
            $($rest),*
        )
    };
}
pub(in crate::store::sql) use select_invocations;

pub(in crate::store::sql) fn read(row: &Row) -> Result<Record> {
    Ok(Record { start: read_start(row)?, end: read_end(row)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::store::database::Query;
    use crate::store::sqlite::tests::migrated;
    use crate::text::raw_json::RawJson;

    const ROW: &str = "INSERT INTO inv_started (invocation, organization, account, source_kind, source, mode, input, started_at, boot)
            VALUES ('000000000000000000000001', 'acme', 'ann#1', 'direct', '{\"type\":\"direct\",\"user_id\":\"ann\"}', 'regular', $1,
            0, 'boot');
        INSERT INTO inv_finished (invocation, organization, finished_at, duration_ms, succeeded, output, persisted, status_events,
            logs) VALUES ('000000000000000000000001', 'acme', 1, 1, 1, x'', 0, $2, x'')";

    async fn read_back(input: &str, status_events: &str) -> Result<Record> {
        let mut connection = migrated().await?;
        let organization = "INSERT INTO organizations (organization, data_key_id, data_key, created_at)
            VALUES ('acme', '', x'', 0)";
        Query::new(organization).execute(&mut connection).await?;
        for (statement, json) in ROW.split(';').zip([input, status_events]) {
            let text = statement.replace("$2", "$1").into();
            Query { text, values: vec![json.into()] }.execute(&mut connection).await?;
        }
        read(&Query::new(select_invocations!("")).fetch_one(&mut connection).await?)
    }

    fn input(parameters: &str) -> String {
        format!(
            r#"{{"input_parameters":{parameters},"nonsensitive_user_variables":{{}},"sensitive_user_variables":{{}}}}"#
        )
    }

    #[tokio::test]
    async fn json_is_returned_as_it_was_stored() {
        let record = read_back(&input(r#"{"b":1.10,"a":[1]}"#), r#"[{"z":1},"y"]"#).await.unwrap();
        assert_eq!(record.start.input.input_parameters.as_str(), r#"{"b":1.10,"a":[1]}"#);
        let events = record.end.unwrap().status_events;
        assert_eq!(events.iter().map(RawJson::as_str).collect::<Vec<_>>(), [r#"{"z":1}"#, r#""y""#]);
    }

    #[tokio::test]
    async fn a_damaged_record_is_refused() {
        let whole = input("{}");
        for (parameters, events) in [
            (&*input(r#"{"a":"#), "[]"),
            (&input(r#"{"a":1]"#), "[]"),
            (&input(r#"{"a":"\x"}"#), "[]"),
            (&input("[]"), "[]"),
            (&input("null"), "[]"),
            ("{}", "[]"),
            (&whole[1..], "[]"),
            (&whole, "[{]"),
            (&whole, "{}"),
            (&whole, ""),
        ] {
            let refused = read_back(parameters, events).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Corrupt, "{parameters} {events}: {refused}");
        }
    }
}
