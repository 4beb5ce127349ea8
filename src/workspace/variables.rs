//! The variables that name the folders of a workspace.

/// Where the folders of a run are. Values are paths in the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variables {
    /// `WORKSPACE_DIR`: where commands see the workspace, an absolute path.
    pub root: String,
    /// `OUTPUT_DIR`.
    pub output: String,
    /// `RUN_DIR`.
    pub run: String,
}

impl Variables {
    /// The folders of a workspace that commands see at `root`, for the run in the folder `run`.
    pub fn new(root: &str, run: &str) -> Self {
        Self { root: root.to_owned(), output: "out".to_owned(), run: run.to_owned() }
    }

    /// As environment variables, with absolute paths.
    pub fn environment(&self) -> Vec<(String, String)> {
        let folders =
            [("SKILLS_DIR", "skills"), ("WORK_DIR", "work"), ("OUTPUT_DIR", &self.output), ("RUN_DIR", &self.run)];
        let mut variables = vec![("WORKSPACE_DIR".to_owned(), self.root.clone())];
        variables.extend(folders.map(|(name, path)| (name.to_owned(), self.absolute(path))));
        variables
    }

    /// Where commands see a path of the workspace.
    pub fn absolute(&self, path: &str) -> String {
        if path.is_empty() { self.root.clone() } else { format!("{}/{path}", self.root) }
    }

    /// The path in the workspace that an absolute path of a command's stands for.
    pub fn relative<'a>(&self, path: &'a str) -> Option<&'a str> {
        let rest = path.strip_prefix(&self.root)?;
        if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
    }

    /// A path or pattern that begins with one of the variables, as `$OUTPUT_DIR/a` or `${WORK_DIR}`, with the variable's
    /// value for it; `None` when it begins with none of them. `RUN_DIR` is not known before a run begins, so it is none.
    pub fn expand(&self, text: &str) -> Option<String> {
        let named = text.strip_prefix('$')?;
        let (name, rest) = match named.strip_prefix('{') {
            Some(braced) => braced.split_once('}')?,
            None => named.split_at(named.find('/').unwrap_or(named.len())),
        };
        let folder = match name {
            "WORKSPACE_DIR" => "",
            "SKILLS_DIR" => "skills",
            "WORK_DIR" => "work",
            "OUTPUT_DIR" => &self.output,
            _ => return None,
        };
        let rest = match rest.strip_prefix('/') {
            Some(rest) => rest,
            None if rest.is_empty() => "",
            None => return None,
        };
        Some(match (folder, rest) {
            ("", rest) => rest.to_owned(),
            (folder, "") => folder.to_owned(),
            (folder, rest) => format!("{folder}/{rest}"),
        })
    }
}

/// A path without `.`, `..` and empty parts; `None` when it leads out of the workspace. `\` counts as `/`.
pub(super) fn normalise(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part if part.contains('\0') => return None,
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_stand_for_folders() {
        let variables = Variables { output: "work/results".into(), ..Variables::new("/workspace", "runs/run_1") };
        for (text, expected) in [
            ("$WORK_DIR", Some("work")),
            ("$WORK_DIR/", Some("work")),
            ("${OUTPUT_DIR}/a/**", Some("work/results/a/**")),
            ("$WORKSPACE_DIR", Some("")),
            ("$WORKSPACE_DIR/out/x", Some("out/x")),
            ("${SKILLS_DIR}/a", Some("skills/a")),
            ("$RUN_DIR/x", None),
            ("$HOME/x", None),
            ("$WORK_DIRECTORY", None),
            ("${WORK_DIR}x", None),
            ("${WORK_DIR", None),
            ("out/$WORK_DIR", None),
        ] {
            assert_eq!(variables.expand(text).as_deref(), expected, "{text}");
        }
        let environment = variables.environment();
        assert!(environment.contains(&("OUTPUT_DIR".into(), "/workspace/work/results".into())));
        assert!(environment.contains(&("RUN_DIR".into(), "/workspace/runs/run_1".into())));
        assert_eq!(variables.relative("/workspace/out"), Some("out"));
        assert_eq!(variables.relative("/workspacex"), None);
    }

    #[test]
    fn paths_stay_inside() {
        for (path, expected) in [
            ("a//b/./c/", Some("a/b/c")),
            ("a/../b", Some("b")),
            ("a\\b", Some("a/b")),
            ("..", None),
            ("a/../../b", None),
            ("", Some("")),
            ("a\0", None),
        ] {
            assert_eq!(normalise(path).as_deref(), expected, "{path}");
        }
    }
}
