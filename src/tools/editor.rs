//! Text that a command's editor is to have written.

use crate::executor::{ExecutorError, Workspace};

/// Where text and script are in the workspace.
const FOLDER: &str = "work/.wskill";

/// Writes a script that, started as an editor, puts `text` into the file that it is to edit. Answers the variables that
/// make commands use it.
pub async fn stage(workspace: &dyn Workspace, text: &str) -> Result<Vec<(String, String)>, ExecutorError> {
    let script_path = format!("{FOLDER}/editor.sh");
    let text_path = format!("{FOLDER}/editor.txt");
    let root = workspace.root();
    let script = format!(
        "#!/bin/sh\n[ $# -gt 0 ] || {{ echo \"editor: no file to edit\" >&2; exit 2; }}\nfor last; do :; done\ncat -- '{root}/{text_path}' > \"$last\"\n"
    );
    workspace.write(&text_path, text.as_bytes(), 0o444).await?;
    workspace.write(&script_path, script.as_bytes(), 0o555).await?;
    let editor = format!("{root}/{script_path}");
    Ok(["EDITOR", "VISUAL"].map(|name| (name.to_owned(), editor.clone())).to_vec())
}
