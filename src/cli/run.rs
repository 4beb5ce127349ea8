//! `wskill run` and `wskill exec`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::options::{CommonArgs, argv};
use super::report::Report;
use super::{Error, chain, say};
use crate::skill::{self, Skill};
use crate::workspace::{Keep, Place, Workspace};
use crate::{Outcome, Output, RunBuilder, Sandbox, SandboxBuilder};

/// Arguments of `wskill run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// A skill: a path when it has a `/` or begins with `.`, else a name under the roots
    skill: String,

    /// Folders of skills [default: $SKILLS_ROOT, else ./skills]
    #[arg(long, value_name = "ROOT")]
    skills: Vec<PathBuf>,

    #[command(flatten)]
    exec: ExecArgs,
}

/// Arguments of `wskill exec`.
#[derive(Debug, Args)]
pub struct ExecArgs {
    #[command(flatten)]
    common: CommonArgs,

    /// Working directory in the sandbox [default: the skill's folder, or /workspace]
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,

    /// Copy a file or folder of the host into the workspace [default of TO: work/inputs/]
    #[arg(long = "input", value_name = "FROM[=TO]")]
    inputs: Vec<String>,

    /// Report these files of the workspace, with --json [default: out/**]
    #[arg(long = "output", value_name = "GLOB")]
    outputs: Vec<String>,

    /// Copy what is in out/ at the end to this folder
    #[arg(long, value_name = "DIR")]
    out_dir: Option<PathBuf>,

    /// Use this folder as the workspace, and keep it
    #[arg(long, value_name = "DIR", conflicts_with = "workspace_root")]
    workspace: Option<PathBuf>,

    /// Make the workspace in this folder, and keep it
    #[arg(long, value_name = "DIR")]
    workspace_root: Option<PathBuf>,

    /// Delete the workspace at the end
    #[arg(long)]
    rm: bool,

    /// One word is a line for bash, several are a command and its arguments
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// Runs a command with a skill.
pub async fn run(args: RunArgs) -> Result<u8, Error> {
    let json = args.exec.common.json;
    report_errors(json, async {
        let skill = skill::find(&args.skill, &skill::roots(&args.skills))?;
        launch(args.exec, Some(&skill)).await
    })
    .await
}

/// Runs a command without a skill.
pub async fn exec(args: ExecArgs) -> Result<u8, Error> {
    let json = args.common.json;
    report_errors(json, launch(args, None)).await
}

/// With --json, errors are told there too.
pub async fn report_errors(json: bool, work: impl Future<Output = Result<u8, Error>>) -> Result<u8, Error> {
    match work.await {
        Err(error) if json => {
            say(&format!("error: {}", chain(&*error)));
            Report::failure(chain(&*error)).print()
        }
        done => done,
    }
}

async fn launch(args: ExecArgs, skill: Option<&Skill>) -> Result<u8, Error> {
    let place = match (&args.workspace, &args.workspace_root) {
        (Some(folder), _) => Place::Folder(folder.clone()),
        (None, Some(root)) => Place::Below(root.clone()),
        (None, None) => Place::Temporary,
    };
    let workspace = Workspace::create(place, args.rm)?;
    for input in &args.inputs {
        workspace.stage_input(input)?;
    }
    let sandbox = build(&args, skill, &workspace)?;
    let input = args.common.input(skill.is_none())?;
    let command = sandbox.command(argv(&args.command)).stdin(input);
    let json = args.common.json;
    let outcome = until_interrupted(stream(command, json)).await?;
    // Nothing writes any more when outputs are read.
    sandbox.close().await;
    let outcome = match outcome {
        Some(outcome) => outcome,
        None => {
            workspace.finish(Keep::No)?;
            return Ok(130);
        }
    };
    let files = if json { workspace.collect(&args.outputs)? } else { Vec::new() };
    let copied = match &args.out_dir {
        Some(folder) => {
            workspace.copy_outputs(folder)?;
            true
        }
        None => false,
    };
    if let Some(kept) = workspace.finish(if copied { Keep::No } else { Keep::WithOutputs })? {
        say(&format!("the outputs are kept in {}; use --out-dir DIR to have them elsewhere", kept.display()));
    }
    finish(&outcome, json, files)
}

/// Prints the report, or the hints of a failed command, and answers the exit status.
pub fn finish(outcome: &Outcome, json: bool, files: Vec<crate::workspace::OutputFile>) -> Result<u8, Error> {
    if json {
        return Report::new(outcome, files).print();
    }
    if let Some(limit) = outcome.limit {
        say(&format!("stopped by the limit `{limit}`"));
    }
    if !outcome.success() {
        for hint in &outcome.hints {
            say(&format!("hint: {hint}"));
        }
    }
    Ok(outcome.exit_code)
}

/// Streams go to wskill's own as they come, but with --json they are captured.
pub async fn stream(command: RunBuilder<'_>, json: bool) -> Result<Outcome, Error> {
    let command = if json {
        command
    } else {
        command.stdout(Output::writer(std::io::stdout())).stderr(Output::writer(std::io::stderr()))
    };
    Ok(command.run().await?)
}

/// `None` when the user interrupted it; dropping the run's future ends it.
pub async fn until_interrupted<T>(work: impl Future<Output = Result<T, Error>>) -> Result<Option<T>, Error> {
    tokio::select! {
        done = work => done.map(Some),
        signal = tokio::signal::ctrl_c() => {
            signal?;
            Ok(None)
        }
    }
}

fn build(args: &ExecArgs, skill: Option<&Skill>, workspace: &Workspace) -> Result<Sandbox, Error> {
    let mut builder = workspace.mount(args.common.builder()?);
    let mut cwd = "/workspace".to_owned();
    if let Some(skill) = skill {
        builder = mount_skill(builder, skill, workspace)?;
        cwd = skill.guest_path();
    }
    let cwd = match &args.cwd {
        None => cwd,
        Some(given) if given.starts_with('/') => given.clone(),
        Some(given) => format!("{cwd}/{given}"),
    };
    let sandbox = args.common.add_own(builder.env("PWD", &cwd))?.cwd(&cwd).build()?;
    if !sandbox.has_folder(cwd.as_ref()) {
        return Err(format!("--cwd {cwd}: there is no such folder in the sandbox").into());
    }
    Ok(sandbox)
}

fn mount_skill(builder: SandboxBuilder, skill: &Skill, workspace: &Workspace) -> Result<SandboxBuilder, Error> {
    let hidden = skill.hidden_entries();
    if !hidden.is_empty() {
        let names = hidden.join(", ");
        say(&format!("warning: the skill's own {names} cannot be seen: these names are the workspace's"));
    }
    Ok(builder.mount(skill.mount()).mount(workspace.venv(skill)?).env("SKILL_NAME", skill.name()))
}
