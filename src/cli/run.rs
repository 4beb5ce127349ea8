//! `wskill run` and `wskill exec`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;

use super::hints::host_paths;
use super::options::{CommonArgs, Prepared, argv};
use super::report::Report;
use super::signals::{Interrupts, Signal};
use super::skills::SkillsArgs;
use super::workspace::{Collected, Keep, Patterns, Place, Workspace, hidden_entries};
use super::{Error, chain, say};
use crate::skill::Skill;
use crate::{Outcome, Output, RunBuilder, Sandbox, SandboxBuilder};

/// Arguments of `wskill run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// A skill: a path when it has a `/` or begins with `.`, else a name under the roots
    skill: String,

    #[command(flatten)]
    skills: SkillsArgs,

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

    /// Delete the workspace that was made for this run at the end
    #[arg(long, conflicts_with = "workspace")]
    rm: bool,

    /// One word is a line for bash, several are a command and its arguments
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// Runs a command with a skill.
pub async fn run(args: RunArgs) -> Result<u8, Error> {
    let json = args.exec.common.json;
    report_errors(json, async {
        let skill = args.skills.find(&args.skill).await?;
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
            Report::failure(super::OWN_FAILURE, chain(&*error)).print()
        }
        done => done,
    }
}

async fn launch(args: ExecArgs, skill: Option<&Skill>) -> Result<u8, Error> {
    let interrupts = Interrupts::listen()?;
    // All that can be wrong with the options is found before anything is made.
    let patterns = Patterns::new(&args.outputs)?;
    if args.cwd.as_deref() == Some("") {
        return Err("--cwd: must not be empty".into());
    }
    check_places(&args, skill)?;
    let prepared = args.common.prepare(skill.is_none())?;
    let place = match (&args.workspace, &args.workspace_root) {
        (Some(folder), _) => Place::Folder(folder.clone()),
        (None, Some(root)) => Place::Below(root.clone()),
        (None, None) => Place::Temporary,
    };
    let workspace = Workspace::create(place, args.rm)?;
    for input in &args.inputs {
        workspace.stage_input(input)?;
    }
    let (sandbox, input) = build(&args, skill, &workspace, prepared)?;
    let words = argv(&args.command);
    let json = args.common.json;
    let command = sandbox.command(words.iter().cloned()).stdin(input);
    let outcome = interrupts.stop(stream(command, json)).await;
    let foreign = host_paths(&words, &sandbox);
    // Nothing writes any more when outputs are read.
    sandbox.close().await;
    let mut outcome = match outcome {
        Ok(outcome) => outcome?,
        Err(signal) => {
            workspace.finish(Keep::No)?;
            return interrupted(signal, json);
        }
    };
    if !outcome.success() {
        outcome.hints.extend(foreign.into_iter().filter(|hint| !outcome.hints.contains(hint)).collect::<Vec<_>>());
    }
    let files = match deliver(&args, &workspace, &patterns) {
        Ok(collected) => {
            collected.notes.iter().for_each(|note| say(&format!("warning: {note}")));
            outcome.hints.extend(collected.notes);
            collected.files
        }
        Err(error) => {
            // What the command has made is not lost with it.
            let kept = workspace.path().to_owned();
            workspace.keep();
            return Err(format!("{}; the workspace is kept in {}", chain(&*error), kept.display()).into());
        }
    };
    let keep = if args.out_dir.is_some() { Keep::No } else { Keep::WithOutputs };
    if let Some(kept) = workspace.finish(keep)? {
        say(&format!("the outputs are kept in {}; use --out-dir DIR to have them elsewhere", kept.display()));
    }
    finish(&outcome, json, files)
}

/// Reads and copies what the run left.
fn deliver(args: &ExecArgs, workspace: &Workspace, patterns: &Patterns) -> Result<Collected, Error> {
    let mut collected = if args.common.json { workspace.collect(patterns) } else { Collected::default() };
    if let Some(folder) = &args.out_dir {
        let notes = workspace.copy_outputs(folder)?;
        let new: Vec<_> = notes.into_iter().filter(|note| !collected.notes.contains(note)).collect();
        collected.notes.extend(new);
    }
    Ok(collected)
}

/// Prints the report, or the hints of a failed command, and answers the exit status.
pub fn finish(outcome: &Outcome, json: bool, files: Vec<super::workspace::OutputFile>) -> Result<u8, Error> {
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

/// The end of a run that the user or the system broke off.
pub fn interrupted(signal: Signal, json: bool) -> Result<u8, Error> {
    let text = format!("interrupted by {}", signal.name());
    say(&text);
    if json {
        return Report::failure(signal.status(), text).print();
    }
    Ok(signal.status())
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

/// Nothing is ever written into a skill's folder, and results do not go where a file is.
fn check_places(args: &ExecArgs, skill: Option<&Skill>) -> Result<(), Error> {
    let places = [
        ("--workspace", &args.workspace),
        ("--workspace-root", &args.workspace_root),
        ("--out-dir", &args.out_dir),
        ("--trace", &args.common.trace),
    ];
    for (option, path) in places {
        let Some(path) = path else { continue };
        let shown = path.display();
        if path.as_os_str().is_empty() {
            return Err(format!("{option}: must not be empty").into());
        }
        let exists = existing_part(path);
        if option != "--trace" && !exists.is_dir() {
            return Err(format!("{option} {shown}: {} is no folder", exists.display()).into());
        }
        // `/dev/stderr` may be a link to what has no path.
        let real = exists.canonicalize().or_else(|_| exists.parent().unwrap_or(exists).canonicalize());
        let real = real.map_err(|error| format!("{option} {shown}: {error}"))?;
        if let Some(skill) = skill
            && real.starts_with(skill.folder())
        {
            return Err(format!("{option} {shown}: lies in the skill's folder, into which nothing is written").into());
        }
    }
    Ok(())
}

/// The longest part of a path that is there.
fn existing_part(path: &Path) -> &Path {
    let mut part = path;
    loop {
        // Also a link that leads nowhere is there.
        if part.symlink_metadata().is_ok() {
            return part;
        }
        part = match part.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => return Path::new("."),
        };
    }
}

fn build(
    args: &ExecArgs,
    skill: Option<&Skill>,
    workspace: &Workspace,
    prepared: Prepared,
) -> Result<(Sandbox, crate::Input), Error> {
    let mut builder = workspace.mount(prepared.builder);
    let mut cwd = "/workspace".to_owned();
    if let Some(skill) = skill {
        builder = mount_skill(builder, skill, workspace)?;
        cwd = skill.sandbox_path();
    }
    let cwd = match &args.cwd {
        None => cwd,
        Some(given) if given.starts_with('/') => given.clone(),
        Some(given) => format!("{cwd}/{given}"),
    };
    if let Some(mount) = prepared.mounts.iter().find(|mount| mount.guest().trim_end_matches('/').is_empty()) {
        let host = mount.host().display();
        return Err(format!("--mount {host}:/: the sandbox's own files are there; mount it below, as at /data").into());
    }
    // The user's own mounts and variables come last, so that they win.
    builder = prepared.mounts.into_iter().fold(builder.env("PWD", &cwd), SandboxBuilder::mount);
    builder = prepared.env.into_iter().fold(builder, |builder, (name, value)| builder.env(name, value));
    let sandbox = builder.cwd(&cwd).build()?;
    if !sandbox.has_folder(cwd.as_ref()) {
        return Err(format!("--cwd {cwd}: there is no such folder in the sandbox").into());
    }
    Ok((sandbox, prepared.input))
}

fn mount_skill(builder: SandboxBuilder, skill: &Skill, workspace: &Workspace) -> Result<SandboxBuilder, Error> {
    let hidden = hidden_entries(skill);
    if !hidden.is_empty() {
        let names = hidden.join(", ");
        say(&format!("warning: the skill's own {names} cannot be seen: these names are the workspace's"));
    }
    Ok(workspace.mount_skill(builder, skill)?)
}
