//! The way from a request to a result, as a text for a system prompt.

/// The six steps of work with skills: discover, inspect, load, optimise, document, execute. The names of the tools are
/// left open; [`workflow`] fills them in.
pub const WORKFLOW: &str = "\
How to work with skills:
1. Discover: call {skill_list} and compare the descriptions with the request. If no skill fits, do without.
2. Inspect: call {skill_list_tools} to see which tools the skill you have in mind asks for.
3. Load: call {skill_load} with its name, once, and read the instructions before anything else.
4. Optimise: call {skill_select_tools} to keep only the tools that this task needs.
5. Document: call {skill_select_docs} for the documents that the instructions name for this task, and no others.
6. Execute: call {skill_run} with the command of the instructions. Look at the exit code and at the files in out/, \
correct what failed, and then answer with the results.
";

/// The names of the tools in a [`WORKFLOW`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkflowTools<'a> {
    /// Names the skills. Default: `skill_list`.
    pub list: &'a str,
    /// Names the tools of a skill. Default: `skill_list_tools`.
    pub list_tools: &'a str,
    /// Loads a skill. Default: `skill_load`.
    pub load: &'a str,
    /// Selects tools. Default: `skill_select_tools`.
    pub select_tools: &'a str,
    /// Selects documents. Default: `skill_select_docs`.
    pub select_docs: &'a str,
    /// Runs a command. Default: `skill_run`.
    pub run: &'a str,
}

impl Default for WorkflowTools<'_> {
    fn default() -> Self {
        Self {
            list: "skill_list",
            list_tools: "skill_list_tools",
            load: "skill_load",
            select_tools: "skill_select_tools",
            select_docs: "skill_select_docs",
            run: "skill_run",
        }
    }
}

/// A template such as [`WORKFLOW`] with the names of the tools in place of `{skill_list}`, `{skill_list_tools}`,
/// `{skill_load}`, `{skill_select_tools}`, `{skill_select_docs}` and `{skill_run}`. Other braces stay.
///
/// ```
/// use wskill::prompt::{WORKFLOW, WorkflowTools, workflow};
///
/// let text = workflow(WORKFLOW, &WorkflowTools { list: "browse", ..WorkflowTools::default() });
/// assert!(text.contains("call browse and") && text.contains("call skill_run with"));
/// assert!(!text.contains(['{', '}']));
/// ```
pub fn workflow(template: &str, tools: &WorkflowTools<'_>) -> String {
    let variables = [
        ("{skill_list}", tools.list),
        ("{skill_list_tools}", tools.list_tools),
        ("{skill_load}", tools.load),
        ("{skill_select_tools}", tools.select_tools),
        ("{skill_select_docs}", tools.select_docs),
        ("{skill_run}", tools.run),
    ];
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        // One pass, so that a name with braces is no variable.
        let (variable, value) = variables.iter().find(|(name, _)| rest.starts_with(name)).unwrap_or(&("{", "{"));
        text.push_str(value);
        rest = &rest[variable.len()..];
    }
    text + rest
}
