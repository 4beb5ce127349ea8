//! Names, descriptions and schemas of tools.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Value, json};

/// Up to how many skills a schema names all of them.
const ENUM_MAX: usize = 256;

/// A tool as a model is told of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does and when to call it.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

macro_rules! tool_names {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// The tools there are.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ToolName { $($(#[$doc])* $variant,)* }

        impl ToolName {
            /// All of them, in the order in which they are offered.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name that a model calls.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

tool_names! {
    /// Names of the skills.
    SkillList = "skill_list",
    /// Names of the tools that a skill declares.
    SkillListTools = "skill_list_tools",
    /// Loads a skill.
    SkillLoad = "skill_load",
    /// Selects documents of a skill.
    SkillSelectDocs = "skill_select_docs",
    /// Paths of the documents of a skill.
    SkillListDocs = "skill_list_docs",
    /// Selects tools of a skill.
    SkillSelectTools = "skill_select_tools",
    /// Runs a command with a skill.
    SkillRun = "skill_run",
    /// Starts a command with a skill.
    SkillExec = "skill_exec",
    /// Writes to a command that runs.
    SkillWriteStdin = "skill_write_stdin",
    /// What a command that runs has printed.
    SkillPollSession = "skill_poll_session",
    /// Ends a command that runs.
    SkillKillSession = "skill_kill_session",
    /// Finds skills by words.
    SkillSearch = "skill_search",
    /// Runs code without a skill.
    ExecuteCode = "execute_code",
    /// Runs a command without a skill.
    WorkspaceExec = "workspace_exec",
    /// Writes to a command that runs.
    WorkspaceWriteStdin = "workspace_write_stdin",
    /// Ends a command that runs.
    WorkspaceKillSession = "workspace_kill_session",
    /// Files and folders of the workspace.
    WorkspaceList = "workspace_list",
    /// Lines of a file.
    WorkspaceRead = "workspace_read",
    /// Writes a file.
    WorkspaceWrite = "workspace_write",
    /// Replaces text in a file.
    WorkspaceEdit = "workspace_edit",
    /// Saves a file as an artifact.
    WorkspaceSaveArtifact = "workspace_save_artifact",
    /// Loads a skill and answers its body. In no profile: [`with`](super::ToolOptionsBuilder::with) offers it.
    Skill = "Skill",
}

impl ToolName {
    /// The tool of this name.
    pub fn parse(name: &str) -> Option<Self> {
        // The older name of the list.
        let name = if name == "skill_list_skills" { "skill_list" } else { name };
        Self::ALL.iter().copied().find(|tool| tool.as_str() == name)
    }

    pub(super) fn description(self) -> &'static str {
        match self {
            Self::SkillList => {
                "Names all skills that you can use. Call it when the list of skills in your instructions is cut, or \
                 to see whether a skill for a task exists. To know what a skill does, load it."
            }
            Self::SkillListTools => {
                "Names the tools that a skill declares. Call it before skill_select_tools, to see which of them a task \
                 needs."
            }
            Self::SkillLoad => {
                "Loads a skill: its whole instructions are shown to you from your next message on. Call it before you \
                 use a skill for the first time. With `docs` its documents of these paths are shown too."
            }
            Self::SkillSelectDocs => {
                "Chooses which documents of a skill are shown to you. Call it after skill_load, when the instructions \
                 point at a document that the task needs, and to drop documents that are no longer needed."
            }
            Self::SkillListDocs => {
                "Names the documents of a skill, as paths for `docs`. Call it when the instructions of a skill are not \
                 enough and you want to know what else there is to read."
            }
            Self::SkillSelectTools => {
                "Chooses which of the tools that a skill declares are active. Call it when a skill declares more tools \
                 than the task needs."
            }
            Self::SkillRun => {
                "Runs a bash command in the skill's folder, in a sandbox with bash, the Unix tools and Python, without \
                 network. Call it to run the skill's scripts as its instructions say. The skill's folder is read-only; \
                 write results to out/ and intermediate files to work/. New files in out/ come back in the result. Run \
                 scripts by their path in the skill, as in `python3 scripts/report.py`."
            }
            Self::SkillExec => {
                "Starts a bash command in the skill's folder and returns when it has ended, asks something, or a \
                 second is over. Call it instead of skill_run for commands that ask questions or take long; go on \
                 with skill_write_stdin or skill_poll_session."
            }
            Self::SkillWriteStdin => {
                "Writes to the standard input of a command that skill_exec has started, and returns what it prints \
                 then. Call it to answer a question; set `submit` for the newline."
            }
            Self::SkillPollSession => {
                "Returns what a command that skill_exec has started has printed since you asked last. Call it until \
                 the status is `exited`; that answer has the command's files."
            }
            Self::SkillKillSession => {
                "Ends a command that skill_exec has started. Call it when its result is no longer needed."
            }
            Self::SkillSearch => {
                "Finds skills by words, the best first, with their descriptions. Call it when the list of skills in \
                 your instructions is cut and you look for one that fits the task."
            }
            Self::ExecuteCode => {
                "Runs Python or bash code of your own in the session's workspace, in a sandbox without network. Call it \
                 for work that no skill is for. The working directory is work/; write results to $OUTPUT_DIR. New files \
                 in out/ come back in the result."
            }
            Self::WorkspaceExec => {
                "Runs a bash command in the workspace, outside of any skill. Call it to look at files or to prepare \
                 data. With `background` or `yield_time_ms` a command may go on; then it has a `session_id`."
            }
            Self::WorkspaceWriteStdin => {
                "Writes to the standard input of a command that workspace_exec has started, and returns what it \
                 prints then. Call it with empty `chars` to read what it has printed since."
            }
            Self::WorkspaceKillSession => {
                "Ends a command that workspace_exec has started. Call it when its result is no longer needed."
            }
            Self::WorkspaceList => {
                "Lists files and folders of the workspace: inputs in work/inputs/, intermediate files in work/, results \
                 in out/. Call it to see what is there before you read or write files."
            }
            Self::WorkspaceRead => {
                "Returns lines of a text file of the workspace, or of a document or asset of a loaded skill at \
                 skills/NAME/PATH. Call it to look at results that are too long for a command's output."
            }
            Self::WorkspaceWrite => {
                "Writes a text file below work/ or out/. Call it to put data or a script in place before a command \
                 uses it, or to write a result."
            }
            Self::WorkspaceEdit => {
                "Replaces an exact piece of text in a file below work/ or out/. Call it to change a part of a file \
                 without writing all of it again."
            }
            Self::WorkspaceSaveArtifact => {
                "Saves a file of the workspace as a versioned artifact that outlives the session. Call it for results \
                 that the user is to keep."
            }
            Self::Skill => {
                "Uses a skill: returns its whole instructions, and names its files. Call it with the skill's name as \
                 `command` when a task fits the skill's description, before you do anything else for the task; then \
                 follow the instructions. `args` is what the skill is to work on."
            }
        }
    }
}

/// The JSON Schema of a tool's arguments, without references, so that all model APIs take it. `skill` is an enum of the
/// names when these are not too many.
pub(super) fn parameters<T: JsonSchema>(skills: &[&str]) -> Value {
    parameters_naming::<T>("skill", skills)
}

/// As [`parameters`], where the skill's name is in another field.
pub(super) fn parameters_naming<T: JsonSchema>(field: &str, skills: &[&str]) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(object) = schema.as_object_mut() {
        for key in ["$schema", "title", "description"] {
            object.remove(key);
        }
        // A type without fields.
        object.entry("properties").or_insert_with(|| json!({}));
    }
    if let Some(skill) = schema["properties"].get_mut(field).and_then(Value::as_object_mut)
        && (1..=ENUM_MAX).contains(&skills.len())
    {
        skill.insert("enum".to_owned(), json!(skills));
    }
    schema
}
