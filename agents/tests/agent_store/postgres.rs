//! All tests of this program once more, on Postgres.

use crate::on_postgres::run_on_postgres;

#[test]
fn all_tests_pass_on_postgres() {
    run_on_postgres(&["transfer::"]);
}
