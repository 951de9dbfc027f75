//! The walk, step by step.

use super::report::Report;
use super::stage::Stage;
use super::steps::{history, organization, runs, source, versions};

pub async fn walk(stage: &mut Stage, report: &mut Report) -> anyhow::Result<()> {
    let url = report.step("start a server", organization::start_server(stage)).await?;
    report.step("create an organisation", organization::create(stage, &url)).await?;
    report.step("clone its repository", source::clone(stage)).await?;
    report.step("make a tool", source::make_tool(stage)).await?;
    report.step("push it", source::push_first(stage)).await?;
    report.step("test the branch", runs::test_branch(stage)).await?;
    let tool_id = report.step("create the tool", versions::create_tool(stage)).await?;
    report.step("publish it", versions::publish_first(stage, &tool_id)).await?;
    report.step("change it and push", source::push_second(stage)).await?;
    report.step("publish a minor version", versions::publish_second(stage, &tool_id)).await?;
    report.step("invoke ten inputs at once", runs::invoke_ten(stage, &tool_id)).await?;
    report.step("search the outputs", history::search_outputs(stage)).await?;
    report.step("search the stack traces", history::search_stack_traces(stage)).await?;
    report.step("deprecate 1.0.0", versions::deprecate_first(stage, &tool_id)).await?;
    report.finish();
    Ok(())
}
