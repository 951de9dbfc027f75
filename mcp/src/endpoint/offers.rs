//! What an agent offers besides tools: prompts, resources and skills.

#![expect(deprecated, reason = "log messages, which clients of earlier protocol versions ask for")]

use agents::{LibraryFamily, ListedTool};
use rmcp::model::{
    CompleteRequestMethod, CompleteRequestParams, CompleteResult, ConstString, GetPromptRequestMethod,
    GetPromptRequestParams, GetPromptResponse, ReadResourceRequestMethod, ReadResourceRequestParams,
    ReadResourceResponse, Reference, SKILLS_EXTENSION_ID, ServerCapabilities,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use super::gateway::Gateway;
use super::introduction::Introduction;
use crate::calls::{Asked, Scope};
use crate::lists::{
    ItemReader, LibraryItems, MixedList, completion, parse_skill_id, prompts, refuse_uri, resources, skills,
    tool_forms, tool_prompts, tool_resources,
};

impl Gateway {
    /// The capabilities of the agent: prompts and resources by its tools and families.
    pub fn list_capabilities(&self) -> ServerCapabilities {
        let all = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().enable_logging();
        let all = all.enable_prompts().enable_prompts_list_changed();
        let all = all.enable_resources().enable_resources_list_changed().enable_resources_subscribe();
        let mut capabilities = all.enable_completions().enable_tasks().enable_skills().build();
        let Introduction { has_prompts, has_resources, has_skills, .. } = &*self.introduction;
        if let Some(extensions) = capabilities.extensions.as_mut().filter(|_| !has_skills) {
            extensions.remove(SKILLS_EXTENSION_ID);
        }
        capabilities.prompts = capabilities.prompts.filter(|_| *has_prompts);
        capabilities.resources = capabilities.resources.filter(|_| *has_resources);
        capabilities.completions = capabilities.completions.filter(|_| *has_prompts || *has_resources);
        capabilities
    }

    /// Returns a list of tools and of items of the Library. An agent with neither does not have the method.
    fn list<'c, M: ConstString>(
        &self,
        scope: &'c Scope,
        family: LibraryFamily,
        tools: Vec<&'c ListedTool>,
    ) -> Result<MixedList<'c>, ErrorData> {
        let has_family = scope.running.has_family(family);
        // Files of skills are resources that no list has.
        let has_skills = family == LibraryFamily::Artifacts && scope.running.has_family(LibraryFamily::Skills);
        if !has_family && !has_skills && tools.is_empty() {
            return Err(ErrorData::method_not_found::<M>());
        }
        let viewpoint = scope.viewpoint();
        let items = has_family.then(|| LibraryItems::of(&self.store, &viewpoint, family));
        Ok(MixedList { agent: viewpoint.agent, family, tools, items })
    }

    pub fn find_prompt_list<'c, M: ConstString>(&self, scope: &'c Scope) -> Result<MixedList<'c>, ErrorData> {
        self.list::<M>(scope, LibraryFamily::Prompts, tool_forms::list_prompts(scope.catalogue()?))
    }

    pub fn find_resource_list<'c, M: ConstString>(&self, scope: &'c Scope) -> Result<MixedList<'c>, ErrorData> {
        self.list::<M>(scope, LibraryFamily::Artifacts, tool_forms::list_resources(scope.catalogue()?))
    }

    /// Returns the list of skills, which no tool is.
    pub fn find_skill_list<'c, M: ConstString>(&self, scope: &'c Scope) -> Result<MixedList<'c>, ErrorData> {
        let items = Some(self.find_skill_items::<M>(scope)?);
        Ok(MixedList { agent: scope.viewpoint().agent, family: LibraryFamily::Skills, tools: Vec::new(), items })
    }

    pub fn find_skill_items<M: ConstString>(&self, scope: &Scope) -> Result<LibraryItems, ErrorData> {
        if !scope.running.has_family(LibraryFamily::Skills) {
            return Err(ErrorData::method_not_found::<M>());
        }
        Ok(LibraryItems::of(&self.store, &scope.viewpoint(), LibraryFamily::Skills))
    }

    fn build_asked(&self, context: RequestContext<RoleServer>) -> Asked {
        Asked { context, level: *self.level.lock() }
    }

    pub async fn answer_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let scope = Scope::of(&context.extensions)?.clone();
        let list = self.find_prompt_list::<GetPromptRequestMethod>(&scope)?;
        let own = list.find_item(&request.name).await?;
        if let Some(tool) = list.tools.iter().find(|tool| tool.name == request.name).filter(|_| own.is_none()) {
            return tool_prompts::get(&self.calling, tool, request, self.build_asked(context)).await;
        }
        let items = list.items.ok_or_else(|| prompts::refuse_prompt(&request.name))?;
        let reader = ItemReader { calling: &self.calling, context: &context };
        prompts::get(&items, &reader, request).await.map(GetPromptResponse::from)
    }

    pub async fn answer_read(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let scope = Scope::of(&context.extensions)?.clone();
        let list = self.find_resource_list::<ReadResourceRequestMethod>(&scope)?;
        if let Some(found) = tool_resources::find(scope.catalogue()?, &request.uri) {
            return tool_resources::read(&self.calling, found, request, self.build_asked(context)).await;
        }
        let reader = ItemReader { calling: &self.calling, context: &context };
        let has_skills = scope.running.has_family(LibraryFamily::Skills);
        if let Some(id) = parse_skill_id(&request.uri).filter(|_| has_skills) {
            return skills::read(&reader, id, request).await.map(ReadResourceResponse::from);
        }
        if list.items.is_none() {
            return Err(refuse_uri(&request.uri));
        }
        resources::read(&reader, request).await.map(ReadResourceResponse::from)
    }

    pub async fn answer_completion(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let scope = Scope::of(&context.extensions)?;
        match &request.r#ref {
            Reference::Prompt(prompt) => {
                let list = self.find_prompt_list::<CompleteRequestMethod>(scope)?;
                completion::complete_prompt(&list, &prompt.name, &request.argument).await
            }
            Reference::Resource(template) => {
                let list = self.find_resource_list::<CompleteRequestMethod>(scope)?;
                completion::complete_resource(&list, &template.uri, &request.argument).await
            }
            _ => Err(ErrorData::invalid_params("The reference is neither a prompt nor a resource template.", None)),
        }
    }
}
