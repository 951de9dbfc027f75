//! The methods of the protocol, for the tools, prompts and resources of one agent.

#![expect(deprecated, reason = "log messages, which clients of earlier protocol versions ask for")]

use std::sync::Arc;
use std::time::Duration;

use agents::{AgentStore, Catalogue};
use parking_lot::Mutex;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult,
    GetPromptRequestParams, GetPromptResponse, GetSkillRequestMethod, GetSkillRequestParams, GetSkillResult,
    GetTaskParams, GetTaskResult, Implementation, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod, ListResourcesResult,
    ListSkillsRequestMethod, ListSkillsResult, ListToolsResult, LoggingLevel, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SetLevelRequestMethod, SetLevelRequestParams,
    SubscribeRequestMethod, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
    UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::introduction::Introduction;
use crate::calls::{
    Asked, Called, Calling, Exposed, Scope, Tasks, ToolCallRequest, call_in_turn, find_turn, fit_version,
};
use crate::lists::{build_page, prompts, resources, skills, tool_resources};
use crate::messages::check_bounds;
use crate::sessions::SessionPlace;
use crate::watches::{Looks, VisibleResources, Watched, WatchedResources, take_within_bounds};

/// Time after which the end of a session is noticed.
const CLOSED_WITHIN: Duration = Duration::from_secs(5);

/// Answers the requests of the clients of one agent.
#[derive(Clone)]
pub struct Gateway {
    pub store: AgentStore,
    pub calling: Calling,
    pub looks: Looks,
    /// That of the agent of the request, or of the first request of the session.
    pub introduction: Arc<Introduction>,
    /// The catalogue of a call, whose headers are compared with it.
    pub catalogue: Option<Arc<Catalogue>>,
    /// The level of log messages that the session set.
    pub level: Arc<Mutex<Option<LoggingLevel>>>,
    /// The resources that the session watches.
    pub watched_resources: WatchedResources,
    /// The place of the session; `None` for a request without one.
    pub place: Option<SessionPlace>,
    /// Ends subscriptions when the server ends.
    pub stopping: CancellationToken,
}

impl Gateway {
    async fn answer_call(
        &self,
        request: ToolCallRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (scope, level) = (Scope::of(&context.extensions)?, *self.level.lock());
        if let Some(turn) = find_turn(&self.store, scope, &context.meta).await? {
            let (call, form) = call_in_turn(&self.calling.agents.turns, turn, request, &context)?;
            return Ok(self.calling.run(call, form, Asked { context, level }).await?.into());
        }
        let (listed, request) = match Exposed(scope.catalogue()?).find_called(request)? {
            Called::Tool(listed, request) => (listed, request),
            Called::Failed(result) => return Ok(result.into()),
        };
        match self.tasks(&context)?.start(&listed, &request, &context).await? {
            Some(task) => Ok(task),
            None => self.calling.call(listed, request, Asked { context, level }).await,
        }
    }

    fn tasks<'a>(&'a self, context: &'a RequestContext<RoleServer>) -> Result<Tasks<'a>, ErrorData> {
        Ok(Tasks { store: &self.store, calling: &self.calling, scope: Scope::of(&context.extensions)? })
    }

    /// Tells a subscription of changes, until it ends.
    async fn announce_changes(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let scope = Scope::of(&context.request_context().extensions)?;
        let watched = self.build_watched(scope, context.accepted().clone(), WatchedResources::default());
        let told = async {
            // Without rights, the subscription ends; its client cannot begin another.
            let Some(mut told) = watched.begin().await else { return };
            while let Some(notifications) = watched.wait_for_changes(&mut told).await {
                for notification in notifications {
                    if context.sink().send(notification).await.is_err() {
                        return;
                    }
                }
            }
        };
        tokio::select! {
            () = context.cancelled() => {}
            () = self.stopping.cancelled() => {}
            () = told => {}
        }
        Ok(())
    }

    fn build_watched(&self, scope: &Scope, lists: SubscriptionFilter, resources: WatchedResources) -> Watched {
        Watched { looks: self.looks.clone(), viewpoint: scope.viewpoint(), lists, resources }
    }
}

/// The SDK moves the futures of methods several times, so that they are boxed: that of a call has many kilobytes.
impl ServerHandler for Gateway {
    fn get_info(&self) -> ServerConfig {
        let Introduction { name, instructions, .. } = &*self.introduction;
        let implementation = Implementation::new("lathe", env!("CARGO_PKG_VERSION")).with_title(name);
        let config = ServerConfig::new(self.list_capabilities()).with_server_info(implementation);
        config.with_instructions(instructions)
    }

    fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListToolsResult, ErrorData>> + Send {
        Box::pin(async move {
            check_bounds("tools/list", build_page(Scope::of(&context.extensions)?.catalogue()?, request))
        })
    }

    fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<CallToolResponse, ErrorData>> + Send {
        Box::pin(async move {
            let version = context.protocol_version();
            let mut answered = self.answer_call(request.into(), context).await;
            if let Ok(CallToolResponse::Complete(result)) = &mut answered {
                fit_version(&mut result.content, version.as_ref());
            }
            check_bounds("tools/call", answered)
        })
    }

    fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListPromptsResult, ErrorData>> + Send {
        Box::pin(async move {
            let list = self.find_prompt_list::<ListPromptsRequestMethod>(Scope::of(&context.extensions)?)?;
            check_bounds("prompts/list", prompts::list(&list, request).await)
        })
    }

    fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<GetPromptResponse, ErrorData>> + Send {
        Box::pin(async move { check_bounds("prompts/get", self.answer_prompt(request, context).await) })
    }

    fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListResourcesResult, ErrorData>> + Send {
        Box::pin(async move {
            let mut list = self.find_resource_list::<ListResourcesRequestMethod>(Scope::of(&context.extensions)?)?;
            list.tools.retain(|tool| !tool_resources::is_template(tool));
            check_bounds("resources/list", resources::list(&list, request).await)
        })
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list =
            self.find_resource_list::<ListResourceTemplatesRequestMethod>(Scope::of(&context.extensions)?)?;
        list.tools.retain(|tool| tool_resources::is_template(tool));
        check_bounds("resources/templates/list", resources::list_templates(&list, request))
    }

    fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ReadResourceResponse, ErrorData>> + Send {
        Box::pin(async move { check_bounds("resources/read", self.answer_read(request, context).await) })
    }

    fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<(), ErrorData>> + Send {
        Box::pin(async move {
            let scope = Scope::of(&context.extensions)?;
            self.find_resource_list::<SubscribeRequestMethod>(scope)?;
            let visible =
                VisibleResources { store: &self.store, viewpoint: &scope.viewpoint(), catalogue: scope.catalogue()? };
            self.watched_resources.add(request.uri, &visible).await
        })
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.watched_resources.remove(&request.uri);
        Ok(())
    }

    fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListSkillsResult, ErrorData>> + Send {
        Box::pin(async move {
            let list = self.find_skill_list::<ListSkillsRequestMethod>(Scope::of(&context.extensions)?)?;
            check_bounds("skills/list", skills::list(&list, request).await)
        })
    }

    fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<GetSkillResult, ErrorData>> + Send {
        Box::pin(async move {
            let items = self.find_skill_items::<GetSkillRequestMethod>(Scope::of(&context.extensions)?)?;
            check_bounds("skills/get", skills::get(&items, request).await)
        })
    }

    fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<GetTaskResult, ErrorData>> + Send {
        Box::pin(async move {
            let task = self.tasks(&context)?.get(&request.task_id).await?;
            check_bounds("tasks/get", Ok(GetTaskResult::new(task)))
        })
    }

    fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<(), ErrorData>> + Send {
        Box::pin(async move { self.tasks(&context)?.update(&request.task_id, request.input_responses).await })
    }

    fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<(), ErrorData>> + Send {
        Box::pin(async move { self.tasks(&context)?.cancel(&request.task_id).await })
    }

    fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<CompleteResult, ErrorData>> + Send {
        Box::pin(async move { check_bounds("completion/complete", self.answer_completion(request, context).await) })
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // The present version has the level in each request.
        if context.meta.protocol_version().is_some() {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        *self.level.lock() = Some(request.level);
        Ok(())
    }

    /// The definition with which the headers of a call are compared.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        Exposed(self.catalogue.as_ref()?).find_header_form(name)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // The SDK removes what the agent does not have.
        let mut accepted = SubscriptionFilter::default();
        accepted.tools_list_changed = requested.tools_list_changed;
        accepted.prompts_list_changed = requested.prompts_list_changed;
        accepted.resources_list_changed = requested.resources_list_changed;
        accepted.resource_subscriptions = requested.resource_subscriptions.as_deref().map(take_within_bounds);
        Some(accepted)
    }

    fn listen(&self, context: SubscriptionContext) -> impl Future<Output = Result<(), ErrorData>> + Send {
        Box::pin(self.announce_changes(context))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let Ok(scope) = Scope::of(&context.extensions) else { return };
        let lists = SubscriptionFilter::builder().tools_list_changed().prompts_list_changed().resources_list_changed();
        let lists = lists.build().supported_by(&self.list_capabilities());
        let watched = self.build_watched(scope, lists, self.watched_resources.clone());
        let (peer, place) = (context.peer, self.place.clone());
        tokio::spawn(async move {
            let told = async {
                let Some(mut told) = watched.begin().await else { return };
                while let Some(notifications) = watched.wait_for_changes(&mut told).await {
                    for notification in notifications {
                        if peer.send_notification(notification).await.is_err() {
                            return;
                        }
                    }
                }
            };
            tokio::select! {
                () = told => {}
                () = wait_until_ended(&peer, place.as_ref()) => {}
            }
        });
    }
}

/// Waits until a session has ended, and ends it when its client sends nothing for a while. The SDK does not announce the end, and
/// takes what the server sends for a sign of life.
async fn wait_until_ended(peer: &Peer<RoleServer>, place: Option<&SessionPlace>) {
    while !peer.is_transport_closed() {
        sleep(CLOSED_WITHIN).await;
        place.iter().for_each(|place| place.end_if_idle());
    }
}
