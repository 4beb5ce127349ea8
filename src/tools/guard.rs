//! What stands between a model and a tool: hooks, the restrictions of loaded skills, and the log.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use super::error::ToolError;
use super::toolset::{Answer, Call, Toolset};
use crate::audit::{AuditLog, CallEnd, Counters, Record, Who};
use crate::policy::{AllowedTools, CommandPolicy, HookCall, Hooks, Secrets, ToolCall, ToolVerdict};

/// What is asked before calls, and told of them.
#[derive(Clone, Debug, Default)]
pub struct Guards {
    /// Asked before and after each call.
    pub hooks: Hooks,
    /// Which commands any call may start. Default: all.
    pub commands: CommandPolicy,
    /// Told of each call.
    pub audit: Option<Arc<AuditLog>>,
    /// Counts calls, and what limits refused.
    pub counters: Arc<Counters>,
}

impl Toolset {
    /// Makes a call if it may be made, and writes down what became of it.
    pub(super) async fn guarded(&self, name: &str, arguments: Value, id: &str) -> Result<Answer, ToolError> {
        let guards = &self.options().guards;
        let began = Instant::now();
        let key = self.session().key();
        let who = Who { app: key.app().into(), user: key.user().into(), session: key.session().into() };
        let secrets = Secrets::of(variables(&arguments));
        let mut record = Record::new(name).who(&who);
        if let Some(command) = arguments.get("command").or_else(|| arguments.get("code")).and_then(Value::as_str) {
            record = record.command(command, &secrets);
        }
        if let Some(skill) = skill_of(&arguments) {
            record = record.skill(skill);
            if let Some(digest) = self.session().staged_digest(skill) {
                record = record.digest(skill, digest);
            }
        }
        let made = self.checked(name, arguments, id).await;
        let end = match &made {
            Ok(answer) => {
                if let Some(limits) = answer.value.get("limits_hit").and_then(Value::as_object) {
                    for (limit, times) in limits {
                        let times = times.as_u64().unwrap_or(1);
                        guards.counters.limit_hit(limit, name, times);
                        record = record.limit_hit(limit, times);
                    }
                }
                if let Some(code) = answer.value.get("exit_code").and_then(Value::as_i64) {
                    record = record.exit_code(i32::try_from(code).unwrap_or(i32::MAX));
                }
                CallEnd::Ok
            }
            Err(error) => {
                let text = error.to_string();
                let denied = matches!(error, ToolError::Denied { .. });
                if let ToolError::Denied { gate, reason, .. } = error {
                    record = record.verdict(gate, false, reason, &secrets);
                }
                record = record.error(&text, &secrets);
                if denied { CallEnd::Denied } else { CallEnd::Error }
            }
        };
        guards.counters.call(name, end);
        if let Some(log) = &guards.audit {
            log.write(&record.duration(began.elapsed()))?;
        }
        made
    }

    async fn checked(&self, name: &str, arguments: Value, id: &str) -> Result<Answer, ToolError> {
        let hooks = &self.options().guards.hooks;
        let denied =
            |gate: &'static str| move |reason: String| ToolError::Denied { tool: name.to_owned(), gate, reason };
        let mut hook_call = None;
        let mut arguments = arguments;
        if !hooks.is_empty() {
            let call = HookCall {
                session: self.session().key().to_string(),
                tool: name.to_owned(),
                skill: skill_of(&arguments).map(str::to_owned),
                arguments,
            };
            let call = hooks.before(call).await.map_err(|error| denied("hook")(error.to_string()))?;
            arguments = call.arguments.clone();
            hook_call = Some(call);
        }
        let commands = match self.restrictions().verdict(&ToolCall {
            tool: name,
            skill: skill_of(&arguments),
            path: arguments.get("path").and_then(Value::as_str),
        }) {
            ToolVerdict::Allowed(commands) => self.options().guards.commands.and(&commands),
            ToolVerdict::Denied(reason) => return Err(denied("allowed_tools")(reason)),
        };
        let mut call = Call { id: id.to_owned(), commands, ..Call::default() };
        let mut value = self.make(name, arguments, &mut call).await?;
        if let Some(hook_call) = hook_call {
            value = hooks.after(hook_call, value).await.map_err(|error| denied("hook")(error.to_string()))?;
        }
        Ok(Answer { value, delta: call.delta })
    }

    /// What the loaded skills let a model call.
    fn restrictions(&self) -> AllowedTools {
        let loaded = self.session().loaded();
        if loaded.is_empty() {
            // Skills are not looked for once more.
            return AllowedTools::default();
        }
        let view = self.session().view();
        let skills = loaded.iter().filter_map(|loaded| view.open(&loaded.name).ok());
        AllowedTools::new(skills.map(|skill| {
            let tools = skill.manifest().allowed_tools.clone();
            (skill.name().to_owned(), tools)
        }))
    }
}

/// The skill that a call names.
fn skill_of(arguments: &Value) -> Option<&str> {
    arguments.get("skill").or_else(|| arguments.get("skill_name")).and_then(Value::as_str)
}

/// The environment of a call.
fn variables(arguments: &Value) -> impl Iterator<Item = (String, String)> {
    let variables = arguments.get("env").and_then(Value::as_object).into_iter().flatten();
    variables.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
}

/// The kernel's policy for a call's commands. The shell that a tool starts for its command line is always allowed: what
/// it runs is asked about.
pub(super) fn kernel_policy(commands: &CommandPolicy) -> crate::CommandPolicy {
    let mut policy = crate::CommandPolicy::new().deny(commands.denied().iter().cloned());
    if let Some(allowed) = commands.allowed() {
        policy = policy.allow(allowed.iter().cloned().chain(["bash".to_owned()]));
    }
    policy
}
