//! A session over skills of a test's own.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use wskill::executor::SandboxExecutor;
use wskill::repository::Repository;
use wskill::session::{Session, SessionKey, Sessions, SessionsBuilder};
use wskill::tools::{Profile, ToolError, ToolOptions, ToolOptionsBuilder, Toolset};

/// A folder with skills, and the sessions over it.
pub struct Place {
    pub folder: tempfile::TempDir,
}

/// A skill with two documents, two tools and a script.
const NOTES: &str = "---\nname: notes\ndescription: Keeps notes.\n---\n# Notes\n\nRun `scripts/note.sh`.\n\nTools:\n- add_note\n- find_note\n";

impl Place {
    /// With the skills `notes` and `other`.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Self { folder };
        place.write("skills/notes/SKILL.md", NOTES);
        place.write("skills/notes/guide.md", "the guide\n");
        place.write("skills/notes/references/more.txt", "more\n");
        place.write("skills/notes/scripts/note.sh", "#!/bin/bash\necho \"note: $1\"\n");
        place.write("skills/notes/assets/a.csv", "a,b\n1,2\n");
        place.write("skills/other/SKILL.md", "---\nname: other\ndescription: Another.\n---\nNothing.\n");
        place
    }

    pub fn write(&self, path: &str, content: &str) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn sessions(&self, options: impl FnOnce(SessionsBuilder) -> SessionsBuilder) -> Sessions {
        let repository = Repository::builder().root(self.path().join("skills")).build();
        let executor = SandboxExecutor::builder().root(self.path().join("workspaces")).build().unwrap();
        options(Sessions::builder(repository).executor(executor)).build().unwrap()
    }

    pub async fn session(&self) -> Arc<Session> {
        self.sessions(|builder| builder).open(&SessionKey::new("app", "user", "s").unwrap()).await.unwrap()
    }

    /// All tools in a session of its own.
    pub async fn tools(&self) -> Tools {
        self.tools_with(|options| options).await
    }

    pub async fn tools_with(&self, options: impl FnOnce(ToolOptionsBuilder) -> ToolOptionsBuilder) -> Tools {
        let options = options(ToolOptions::builder().profile(Profile::Full)).build();
        Tools(Toolset::new(self.session().await, options))
    }

    /// Where a session's workspace is on the host: there is one.
    pub fn workspace(&self) -> std::path::PathBuf {
        let mut entries = std::fs::read_dir(self.path().join("workspaces")).unwrap();
        entries.next().unwrap().unwrap().path()
    }
}

/// A toolset that is called with JSON.
pub struct Tools(pub Toolset);

impl Tools {
    pub async fn call(&self, name: &str, arguments: Value) -> Value {
        self.0.call(name, arguments).await.unwrap()
    }

    pub async fn error(&self, name: &str, arguments: Value) -> String {
        let error: ToolError = self.0.call(name, arguments).await.unwrap_err();
        error.to_string()
    }

    /// Runs a command with the skill `notes`.
    pub async fn run(&self, command: &str) -> Value {
        self.call("skill_run", serde_json::json!({"skill": "notes", "command": command})).await
    }
}
