//! The tools of a session.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::arguments;
use super::code::ExecuteCode;
use super::documents::{ListDocs, SelectDocs};
use super::error::ToolError;
use super::files::{EditFile, ListFiles, ReadFile, WriteFile};
use super::functions::HostFunction;
use super::interactive::{ExecSkill, ExecWorkspace, KillProgram, PollProgram, WriteProgram};
use super::list::{ListSkills, ListTools};
use super::load::LoadSkill;
use super::options::{Compat, ToolOptions};
use super::run::RunSkill;
use super::save::SaveArtifact;
use super::search::SearchSkills;
use super::select::SelectTools;
use super::spec::{ToolName, ToolSpec, parameters, parameters_naming};
use super::use_skill::UseSkill;
use crate::policy::CommandPolicy;
use crate::session::Session;
use crate::session::state::StateDelta;
use crate::{HostTool, HostTools};

/// What a call is part of, what it may do, and what it changed.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// The call as the model named it; empty when it has no name.
    pub id: String,
    /// What the call changed in the session's state, which is merged there already.
    pub delta: StateDelta,
    /// Which commands it may start. Default: all.
    pub commands: CommandPolicy,
}

/// What a call answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The result for the model.
    pub value: Value,
    /// What the call changed in the session's state, which is merged there already: for hosts that keep a state of their
    /// own.
    pub delta: StateDelta,
}

/// The tools that a model may call in a session. Calls may be made at once.
#[derive(Clone, Debug)]
pub struct Toolset {
    session: Arc<Session>,
    options: Arc<ToolOptions>,
}

impl Toolset {
    /// The tools for a session.
    pub fn new(session: Arc<Session>, options: ToolOptions) -> Self {
        Self { session, options: Arc::new(options) }
    }

    /// The session.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// What it offers.
    pub fn options(&self) -> &ToolOptions {
        &self.options
    }

    /// The tools as a model is told of them. None when the session sees no skill and nothing else is offered.
    pub fn specs(&self) -> Vec<ToolSpec> {
        let view = self.session.view();
        let skills: Vec<&str> =
            view.entries().filter(|entry| entry.summary().is_model_invocable()).map(|entry| entry.name()).collect();
        let tools = self.options.tools();
        tools
            .into_iter()
            .map(|name| ToolSpec {
                name: name.as_str().to_owned(),
                description: name.description().to_owned(),
                parameters: match name {
                    ToolName::SkillList => parameters::<ListSkills>(&skills),
                    ToolName::SkillListTools => parameters::<ListTools>(&skills),
                    ToolName::SkillLoad => parameters::<LoadSkill>(&skills),
                    ToolName::SkillSelectDocs => parameters::<SelectDocs>(&skills),
                    ToolName::SkillListDocs => parameters::<ListDocs>(&skills),
                    ToolName::SkillSelectTools => parameters::<SelectTools>(&skills),
                    ToolName::SkillRun => parameters::<RunSkill>(&skills),
                    ToolName::SkillExec => parameters::<ExecSkill>(&skills),
                    ToolName::SkillWriteStdin => parameters::<WriteProgram>(&skills),
                    ToolName::SkillPollSession => parameters::<PollProgram>(&skills),
                    ToolName::SkillKillSession => parameters::<KillProgram>(&skills),
                    ToolName::WorkspaceExec => parameters::<ExecWorkspace>(&skills),
                    ToolName::WorkspaceWriteStdin => parameters::<WriteProgram>(&skills),
                    ToolName::WorkspaceKillSession => parameters::<KillProgram>(&skills),
                    ToolName::SkillSearch => parameters::<SearchSkills>(&skills),
                    ToolName::ExecuteCode => parameters::<ExecuteCode>(&skills),
                    ToolName::WorkspaceList => parameters::<ListFiles>(&skills),
                    ToolName::WorkspaceRead => parameters::<ReadFile>(&skills),
                    ToolName::WorkspaceWrite => parameters::<WriteFile>(&skills),
                    ToolName::WorkspaceEdit => parameters::<EditFile>(&skills),
                    ToolName::WorkspaceSaveArtifact => parameters::<SaveArtifact>(&skills),
                    ToolName::Skill => parameters_naming::<UseSkill>("command", &skills),
                },
            })
            .chain(self.active_functions().iter().map(|function| function.spec().clone()))
            .collect()
    }

    /// Calls a tool by name. `arguments` is a JSON object, or its text.
    ///
    /// # Errors
    /// When the call is wrong; the message is for the model. A command that fails is an answer.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<Value, ToolError> {
        self.call_as(name, arguments, "").await.map(|answer| answer.value)
    }

    /// As [`call`](Self::call), for a call that the model has given an id; answers what it changed too.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn call_as(&self, name: &str, arguments: Value, id: &str) -> Result<Answer, ToolError> {
        self.guarded(name, arguments, id).await
    }

    /// Makes a call that may be made.
    pub(super) async fn make(&self, name: &str, arguments: Value, call: &mut Call) -> Result<Value, ToolError> {
        let offered = self.options.tools();
        if let Some(tool) = ToolName::parse(name).filter(|tool| offered.contains(tool)) {
            return self.dispatch(tool, arguments, call).await;
        }
        let functions = self.active_functions();
        if let Some(function) = functions.iter().find(|function| function.spec().name == name) {
            let refused = |reason| ToolError::Function { name: name.to_owned(), reason };
            return function.call(arguments).await.map_err(refused);
        }
        let known = offered.iter().map(|tool| tool.as_str());
        let known: Vec<_> = known.chain(functions.iter().map(|function| function.spec().name.as_str())).collect();
        Err(ToolError::UnknownTool { name: name.to_owned(), known: known.join(", ") })
    }

    /// The host's functions that are offered now, by name.
    pub fn active_functions(&self) -> Vec<HostFunction> {
        let pool = &self.options.functions;
        if pool.is_empty() {
            return Vec::new();
        }
        let names = match pool.offers_all_declared() {
            true => self.session.declared_tools(),
            false => self.session.active_tools(),
        };
        names.iter().filter_map(|name| pool.find(name)).collect()
    }

    /// The same for scripts in the sandbox, when they may call them.
    pub(super) fn functions_for_scripts(&self) -> Option<HostTools> {
        if !self.options.functions.is_for_scripts() {
            return None;
        }
        let (lists, calls) = (self.clone(), self.clone());
        let list = move || {
            let functions = lists.active_functions();
            functions
                .iter()
                .map(|function| HostTool::new(&function.spec().name, &function.spec().description))
                .collect()
        };
        Some(HostTools::new(list, move |name, request| {
            let toolset = calls.clone();
            async move {
                let arguments = serde_json::from_slice(&request).map_err(|error| error.to_string())?;
                // As if the model had called it: hooks and log are asked and told too.
                let answer = toolset.call(&name, arguments).await.map_err(|error| error.to_string())?;
                serde_json::to_vec(&answer).map_err(|error| error.to_string())
            }
        }))
    }

    async fn dispatch(&self, tool: ToolName, arguments: Value, call: &mut Call) -> Result<Value, ToolError> {
        match tool {
            ToolName::SkillList => json(self.skill_list(read(tool, arguments)?).await?),
            ToolName::SkillListTools => json(self.skill_list_tools(read(tool, arguments)?).await?),
            ToolName::SkillLoad => {
                let request: LoadSkill = read(tool, arguments)?;
                let name = request.skill.clone();
                self.skill_load(request, call).await?;
                Ok(json!(match self.options.compat {
                    Compat::Python => format!("skill '{name}' loaded"),
                    Compat::Go => format!("loaded: {name}"),
                }))
            }
            ToolName::SkillSelectDocs => json(self.skill_select_docs(read(tool, arguments)?, call).await?),
            ToolName::SkillListDocs => json(self.skill_list_docs(read(tool, arguments)?).await?),
            ToolName::SkillSelectTools => json(self.skill_select_tools(read(tool, arguments)?, call).await?),
            ToolName::SkillRun => json(self.skill_run(read(tool, arguments)?, call).await?),
            ToolName::SkillExec => json(self.skill_exec(read(tool, arguments)?, call).await?),
            ToolName::SkillWriteStdin => json(self.write_program(tool, read(tool, arguments)?, call).await?),
            ToolName::SkillPollSession => json(self.skill_poll_session(read(tool, arguments)?, call).await?),
            ToolName::SkillKillSession => json(self.kill_program(tool, read(tool, arguments)?).await?),
            ToolName::WorkspaceExec => json(self.workspace_exec(read(tool, arguments)?, call).await?),
            ToolName::WorkspaceWriteStdin => json(self.write_program(tool, read(tool, arguments)?, call).await?),
            ToolName::WorkspaceKillSession => json(self.kill_program(tool, read(tool, arguments)?).await?),
            ToolName::SkillSearch => json(self.skill_search(read(tool, arguments)?).await?),
            ToolName::ExecuteCode => json(self.execute_code(read(tool, arguments)?, call).await?),
            ToolName::WorkspaceList => json(self.workspace_list(read(tool, arguments)?).await?),
            ToolName::WorkspaceRead => json(self.workspace_read(read(tool, arguments)?).await?),
            ToolName::WorkspaceWrite => json(self.workspace_write(read(tool, arguments)?).await?),
            ToolName::WorkspaceEdit => json(self.workspace_edit(read(tool, arguments)?).await?),
            ToolName::WorkspaceSaveArtifact => json(self.workspace_save_artifact(read(tool, arguments)?, call).await?),
            ToolName::Skill => json(self.use_skill(read(tool, arguments)?, call).await?),
        }
    }
}

fn read<T: DeserializeOwned>(tool: ToolName, arguments: Value) -> Result<T, ToolError> {
    arguments::read(tool.as_str(), arguments)
}

fn json<T: Serialize>(value: T) -> Result<Value, ToolError> {
    serde_json::to_value(value).map_err(|error| ToolError::argument("result", "result", error.to_string()))
}
