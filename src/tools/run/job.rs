//! A command on its way through a workspace.

use std::sync::Arc;
use std::time::Duration;

use tracing::Span;

use super::super::editor;
use super::super::guard::kernel_policy;
use super::super::{Call, SkillOptions, ToolError, Toolset};
use super::deliver::{report, report_streams};
use super::outputs::{Own, Wanted, export};
use super::{Input, Mode, RunResult, RunSkill};
use crate::Outcome;
use crate::executor::{Command, Workspace};
use crate::session::Session;
use crate::skill::Skill;
use crate::workspace::{InputMode, InputRef, InputSpec, StagedInput, Variables, collect, resolve_cwd, strict_cwd};

/// The folders of a workspace in which commands may make others.
const FOLDERS: [&str; 3] = ["work", "out", "runs"];
/// Wall time of a run when nothing is said.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A call that is carried out.
#[derive(Debug)]
pub struct Job {
    /// The tool, for errors.
    pub tool: &'static str,
    /// Whose defaults count.
    pub toolset: Toolset,
    /// What is asked for, but for the command.
    pub call: RunSkill,
    /// The skill whose folder is home; without one that is `work/`.
    pub skill: Option<Skill>,
    /// The command and its arguments.
    pub argv: Vec<String>,
}

impl Job {
    pub(super) fn session(&self) -> &Session {
        self.toolset.session()
    }

    pub(super) fn wrong(&self, field: impl Into<String>, reason: impl Into<String>) -> ToolError {
        ToolError::argument(self.tool, field, reason)
    }

    /// Runs it and collects what it leaves.
    pub async fn run(self, context: &mut Call) -> Result<RunResult, ToolError> {
        let (prepared, command) = self.prepare(context).await?;
        let outcome = prepared.run(command).await?;
        let mut result = prepared.finish(&outcome, context).await?;
        report_streams(&mut result, &outcome);
        Ok(result)
    }

    /// Does all that comes before the command: stages, brings inputs, checks what is asked for.
    pub async fn prepare(self, context: &Call) -> Result<(Prepared, Command), ToolError> {
        let workspace = match &self.skill {
            Some(skill) => self.session().stage(skill).await?,
            None => self.session().workspace().await?,
        };
        let run = self.session().new_run(&*workspace).await?;
        let mut variables = Variables::new(workspace.root(), &run);
        let mut result = RunResult::default();
        self.output_folder(&*workspace, &mut variables).await?;
        let wanted = self.wanted(&variables)?;
        let specs = self.inputs()?;
        if !specs.is_empty() {
            result.staged_inputs = self.stage_inputs(&*workspace, &specs).await?;
        }
        let mut env = self.environment(&variables, &mut result.warnings)?;
        if !self.call.editor_text.is_empty() {
            if let Some(name) = ["EDITOR", "VISUAL"].iter().find(|name| self.call.env.contains_key(**name)) {
                return Err(self.wrong("editor_text", format!("cannot be combined with `env.{name}`; leave one out")));
            }
            env.extend(editor::stage(&*workspace, &self.call.editor_text).await?);
        }
        let cwd = self.cwd(&*workspace, &variables, &mut result.warnings).await?;
        let own = self.own_options();
        let command = Command {
            argv: self.argv.clone(),
            cwd,
            env,
            stdin: self.call.stdin.clone().into_bytes(),
            timeout: Some(self.timeout()),
            limits: own.and_then(|own| own.limits.clone()),
            policy: kernel_policy(
                &own.map_or_else(|| context.commands.clone(), |own| context.commands.and(&own.commands)),
            ),
            host_tools: self.toolset.functions_for_scripts(),
            ..Command::default()
        };
        let prepared = Prepared { job: self, workspace, variables, wanted, began: now_ns(), result };
        Ok((prepared, command))
    }

    /// What holds for the skill alone.
    pub(super) fn own_options(&self) -> Option<&SkillOptions> {
        self.toolset.options().skills.get(self.skill.as_ref()?.name())
    }

    /// Where commands begin, as a path in the workspace.
    fn home(&self) -> String {
        self.skill.as_ref().map_or_else(|| "work".to_owned(), |skill| format!("skills/{}", skill.name()))
    }

    fn timeout(&self) -> Duration {
        let given = self.call.timeout.filter(|seconds| *seconds > 0.0).map(|seconds| seconds.min(1e9));
        let default = || self.toolset.options().run.timeout.unwrap_or(TIMEOUT);
        given.map_or_else(default, Duration::from_secs_f64)
    }

    /// Where outputs go when the call's environment says so.
    async fn output_folder(&self, workspace: &dyn Workspace, variables: &mut Variables) -> Result<(), ToolError> {
        let Some(given) = self.call.env.get("OUTPUT_DIR") else { return Ok(()) };
        let top = |path: &str| path.split('/').next().map(str::to_owned).unwrap_or_default();
        let path = strict_cwd(given, variables).ok().filter(|path| FOLDERS.contains(&top(path).as_str()));
        let path = path.ok_or_else(|| {
            let reason = format!("`{given}` is outside of the workspace's folders work/, out/ and runs/");
            self.wrong("env.OUTPUT_DIR", reason)
        })?;
        workspace.make_folder(&path).await?;
        variables.output = path;
        Ok(())
    }

    async fn cwd(
        &self,
        workspace: &dyn Workspace,
        variables: &Variables,
        warnings: &mut Vec<String>,
    ) -> Result<String, ToolError> {
        let (cwd, taken) = resolve_cwd(&self.call.cwd, &self.home(), variables);
        if !taken {
            warnings.push(format!(
                "cwd `{}` leads out of the workspace; the command ran in {}/",
                self.call.cwd,
                self.home()
            ));
        }
        let cwd = self.through_links(cwd);
        // Folders for results are made; a folder of a skill is there or is not.
        if FOLDERS.contains(&cwd.split('/').next().unwrap_or_default()) {
            workspace.make_folder(&cwd).await.map_err(|error| self.wrong("cwd", error.to_string()))?;
        } else if let Some(skill) = &self.skill
            && let Some(inside) = cwd.strip_prefix(&format!("skills/{}/", skill.name()))
            && !inside.starts_with(".venv")
            && !skill.folder().join(inside).is_dir()
        {
            return Err(self.wrong("cwd", format!("the skill `{}` has no folder `{inside}`", skill.name())));
        }
        Ok(cwd)
    }

    /// A path below the links that are laid over the skill's folder, with where they lead for them.
    fn through_links(&self, path: String) -> String {
        for (link, target) in [("out", "out"), ("work", "work"), ("inputs", "work/inputs")] {
            match path.strip_prefix(&format!("{}/{link}", self.home())) {
                Some("") => return target.to_owned(),
                Some(rest) if rest.starts_with('/') => return format!("{target}{rest}"),
                _ => {}
            }
        }
        path
    }

    fn inputs(&self) -> Result<Vec<InputSpec>, ToolError> {
        let read = |(index, input): (usize, &Input)| {
            let from = InputRef::parse(&input.from)
                .map_err(|error| self.wrong(format!("inputs[{index}].from"), error.to_string()))?;
            let mode = match input.mode {
                Mode::Copy => InputMode::Copy,
                Mode::Link => InputMode::Link,
            };
            Ok(InputSpec { text: input.from.trim().to_owned(), from, to: input.to.clone(), mode, pin: input.pin })
        };
        self.call.inputs.iter().enumerate().map(read).collect()
    }

    async fn stage_inputs(
        &self,
        workspace: &dyn Workspace,
        specs: &[InputSpec],
    ) -> Result<Vec<StagedInput>, ToolError> {
        let staged = self.session().stage_inputs(workspace, specs).await?;
        staged.map_err(|(index, error)| self.wrong(format!("inputs[{index}]"), error.to_string()))
    }
}

/// A command that is about to run, or runs.
#[derive(Debug)]
pub struct Prepared {
    pub(super) job: Job,
    /// Where it runs.
    pub workspace: Arc<dyn Workspace>,
    variables: Variables,
    wanted: Option<Wanted>,
    /// When, ns since 1970.
    began: i64,
    result: RunResult,
}

impl Prepared {
    #[tracing::instrument(name = "workspace.run", skip_all, fields(
        exec_id = self.job.session().key().session(),
        cmd = self.job.argv.join(" "),
        cwd = command.cwd,
        exit_code,
        timed_out,
    ))]
    async fn run(&self, command: Command) -> Result<Outcome, ToolError> {
        let outcome = self.workspace.run(command).await?;
        Span::current().record("exit_code", outcome.exit_code).record("timed_out", outcome.timed_out());
        Ok(outcome)
    }

    /// Collects what the command has left.
    #[tracing::instrument(name = "workspace.collect", skip_all, fields(
        exec_id = self.job.session().key().session(),
        patterns = self.wanted.as_ref().map_or(0, |wanted| wanted.globs.len()),
        count,
    ))]
    pub async fn finish(mut self, outcome: &Outcome, context: &mut Call) -> Result<RunResult, ToolError> {
        report(&mut self.result, outcome);
        let collected = match &self.wanted {
            Some(wanted) => collect(&*self.workspace, &wanted.patterns, &self.variables, &wanted.limits).await?,
            None => {
                let own = outcome.written.as_ref().map_or(Own::ChangedSince(self.began), Own::Written);
                export(&*self.workspace, &self.variables, &own).await?
            }
        };
        Span::current().record("count", collected.files.len());
        self.job.deliver(collected, self.wanted.as_ref(), outcome, &mut self.result, context).await?;
        Ok(self.result)
    }
}

fn now_ns() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}
