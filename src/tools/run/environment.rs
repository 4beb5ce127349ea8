//! The variables of a run.

use super::super::ToolError;
use super::Job;
use crate::workspace::Variables;

/// Variables that change how native programs are loaded. They mean nothing in the sandbox, and would elsewhere.
const BLOCKED: [&str; 6] = [
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "DYLD_FORCE_FLAT_NAMESPACE",
    "OPENSSL_CONF",
];

fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl Job {
    /// The workspace's variables with the call's over them.
    pub(super) fn environment(
        &self,
        variables: &Variables,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<(String, String)>, ToolError> {
        let mut env = variables.environment();
        if let Some(skill) = &self.skill {
            let folder = variables.absolute(&format!("skills/{}", skill.name()));
            let path = format!("{folder}/.venv/bin:/usr/local/bin:/usr/bin:/bin:{folder}/bin");
            env.push(("SKILL_NAME".to_owned(), skill.name().to_owned()));
            env.push(("VIRTUAL_ENV".to_owned(), format!("{folder}/.venv")));
            env.push(("PATH".to_owned(), path));
        }
        for (name, value) in self.own_options().into_iter().flat_map(|own| &own.env) {
            env.retain(|(known, _)| known != name);
            env.push((name.clone(), value.clone()));
        }
        for (name, value) in &self.call.env {
            if name == "OUTPUT_DIR" {
                continue;
            }
            if !is_name(name) {
                let reason = "is no name of a variable: letters, digits and `_`, not beginning with a digit";
                return Err(self.wrong(format!("env.{name}"), reason));
            }
            if value.contains('\0') {
                return Err(self.wrong(format!("env.{name}"), "must not contain NUL"));
            }
            if BLOCKED.contains(&name.as_str()) {
                warnings.push(format!("env.{name} is not passed on: it changes how programs are loaded"));
                continue;
            }
            env.retain(|(known, _)| known != name);
            env.push((name.clone(), value.clone()));
        }
        Ok(env)
    }
}
