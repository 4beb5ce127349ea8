//! The working directory of a run.

use super::Variables;
use super::variables::normalise;

/// The folders in which commands without a skill may begin.
const FOLDERS: [&str; 4] = ["skills", "work", "out", "runs"];

/// Why a path is no working directory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CwdError {
    /// It leads out of the workspace.
    #[error("`{0}` leads out of the workspace")]
    Outside(String),
    /// It is none of the folders in which a command may begin.
    #[error("`{0}` is in none of the folders skills/, work/, out/ and runs/")]
    Folder(String),
    /// It is a pattern.
    #[error("`{0}` is a pattern; name one folder")]
    Pattern(String),
}

/// The working directory that a call asks for, as a path in the workspace, and whether it was taken as given. What is
/// empty or leads elsewhere is `home`: for a skill's commands its folder, in which they expect to be.
///
/// ```
/// use wskill::workspace::{Variables, resolve_cwd};
///
/// let variables = Variables::new("/workspace", "runs/run_1");
/// let resolve = |cwd: &str| resolve_cwd(cwd, "skills/pdf", &variables).0;
/// assert_eq!(resolve(""), "skills/pdf");
/// assert_eq!(resolve("scripts"), "skills/pdf/scripts");
/// assert_eq!(resolve("/work/data"), "work/data");
/// assert_eq!(resolve("${OUTPUT_DIR}/x"), "out/x");
/// assert_eq!(resolve("/etc"), "skills/pdf");
/// ```
pub fn resolve_cwd(cwd: &str, home: &str, variables: &Variables) -> (String, bool) {
    let cwd = cwd.trim();
    if cwd.is_empty() {
        return (home.to_owned(), true);
    }
    match place(cwd, home, variables) {
        Some(path) if path.is_empty() || is_in_folders(&path) => (path, true),
        _ => (home.to_owned(), false),
    }
}

/// The working directory that a call without a skill asks for, as a path in the workspace; the workspace itself when it
/// is empty.
///
/// # Errors
/// When it is a pattern, leads out of the workspace, or is in none of its folders.
pub fn strict_cwd(cwd: &str, variables: &Variables) -> Result<String, CwdError> {
    let cwd = cwd.trim();
    if cwd.is_empty() || cwd == "." {
        return Ok(String::new());
    }
    if cwd.contains(['*', '?', '[']) {
        return Err(CwdError::Pattern(cwd.to_owned()));
    }
    let plain = cwd.split(['/', '\\']).all(|part| part != "..");
    let path = place(cwd, "", variables).filter(|_| plain).ok_or_else(|| CwdError::Outside(cwd.to_owned()))?;
    if path.is_empty() || is_in_folders(&path) { Ok(path) } else { Err(CwdError::Folder(cwd.to_owned())) }
}

/// The path in the workspace that a text stands for, seen from the folder `home`.
fn place(cwd: &str, home: &str, variables: &Variables) -> Option<String> {
    if cwd.starts_with('$') {
        return normalise(&variables.expand(cwd)?);
    }
    if let Some(path) = variables.relative(cwd) {
        return normalise(path);
    }
    match cwd.strip_prefix('/') {
        Some(path) => normalise(path),
        None => normalise(&format!("{home}/{cwd}")),
    }
}

fn is_in_folders(path: &str) -> bool {
    FOLDERS.contains(&path.split('/').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skills_command_begins_in_the_workspace() {
        let variables = Variables::new("/workspace", "runs/run_1");
        for (cwd, expected, taken) in [
            ("", "skills/s", true),
            ("  ", "skills/s", true),
            (".", "skills/s", true),
            ("sub/dir", "skills/s/sub/dir", true),
            ("/", "", true),
            ("/work", "work", true),
            ("/out/x", "out/x", true),
            ("/skills/o", "skills/o", true),
            ("/runs/r", "runs/r", true),
            ("../o", "skills/o", true),
            ("../../out", "out", true),
            ("/workspace/out", "out", true),
            ("/workspace", "", true),
            ("/etc", "skills/s", false),
            ("/Users/x", "skills/s", false),
            ("../../..", "skills/s", false),
            ("..\\..\\..", "skills/s", false),
            ("$WORKSPACE_DIR/../..", "skills/s", false),
            ("$WORKSPACE_DIR/etc", "skills/s", false),
            ("$WORK_DIR", "work", true),
            ("${OUTPUT_DIR}/x", "out/x", true),
            ("$HOME", "skills/s", false),
            ("/workspace/../etc", "skills/s", false),
        ] {
            assert_eq!(resolve_cwd(cwd, "skills/s", &variables), (expected.to_owned(), taken), "{cwd}");
        }
    }

    #[test]
    fn other_commands_begin_where_they_say_or_not_at_all() {
        let variables = Variables::new("/workspace", "runs/run_1");
        for (cwd, expected) in [
            ("", Ok("")),
            (".", Ok("")),
            ("/", Ok("")),
            ("/workspace", Ok("")),
            ("work/a", Ok("work/a")),
            ("/work/a", Ok("work/a")),
            ("$OUTPUT_DIR", Ok("out")),
            ("skills/x/scripts", Ok("skills/x/scripts")),
            ("etc", Err(CwdError::Folder("etc".into()))),
            ("/etc", Err(CwdError::Folder("/etc".into()))),
            ("work/..", Err(CwdError::Outside("work/..".into()))),
            ("../x", Err(CwdError::Outside("../x".into()))),
            ("work/*", Err(CwdError::Pattern("work/*".into()))),
            ("$HOME", Err(CwdError::Outside("$HOME".into()))),
        ] {
            assert_eq!(strict_cwd(cwd, &variables), expected.map(str::to_owned), "{cwd}");
        }
    }
}
