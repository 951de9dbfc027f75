//! The steps of the demo, one function each. A step checks its result and fails if it is not the expected one.

mod history;
mod organization;
mod runs;
mod second_version;
mod source;
mod versions;

use super::environment::Environment;
use super::report::DemoReport;
use crate::client::Credentials;

pub async fn start_server(environment: &mut Environment, report: &mut DemoReport) -> anyhow::Result<()> {
    let url = report.run_step("start a server", organization::start_server(environment)).await?;
    report.run_step("create an organisation", organization::create(environment, &url)).await
}

pub async fn sign_in(
    environment: &mut Environment,
    report: &mut DemoReport,
    login: &Credentials,
) -> anyhow::Result<()> {
    report.run_step("sign in", organization::sign_in(environment, login)).await
}

pub async fn run_from_source_to_history(environment: &mut Environment, report: &mut DemoReport) -> anyhow::Result<()> {
    report.run_step("clone its repository", source::clone(environment)).await?;
    report.run_step("make a tool", source::make_tool(environment)).await?;
    report.run_step("push it", source::push_first(environment)).await?;
    report.run_step("test the branch", runs::test_branch(environment)).await?;
    let tool_id = report.run_step("create the tool", versions::create_tool(environment)).await?;
    report.run_step("publish it", versions::publish_first(environment, &tool_id)).await?;
    report.run_step("change it and push", source::push_second(environment)).await?;
    report.run_step("publish a minor version", versions::publish_second(environment, &tool_id)).await?;
    report.run_step("invoke ten inputs at once", runs::invoke_ten(environment, &tool_id)).await?;
    report.run_step("search the outputs", history::search_outputs(environment)).await?;
    report.run_step("search the stack traces", history::search_stack_traces(environment)).await?;
    report.run_step("deprecate 1.0.0", versions::deprecate_first(environment, &tool_id)).await?;
    report.finish();
    Ok(())
}
