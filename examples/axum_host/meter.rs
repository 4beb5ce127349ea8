//! An executor that holds a budget and writes down what runs use, over another.

use std::sync::Arc;

use async_trait::async_trait;
use wskill::Outcome;
use wskill::executor::{
    Command, Entry, Executor, ExecutorError, Link, Listing, Query, RunningCommand, SandboxExecutor, StagedSkill,
    Workspace,
};

use super::budget::{Account, Budget};

/// The workspaces of a tenant.
#[derive(Debug)]
pub struct MeteredExecutor {
    pub inner: SandboxExecutor,
    pub budget: Budget,
    pub account: Arc<Account>,
}

#[async_trait]
impl Executor for MeteredExecutor {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn commands(&self) -> Vec<String> {
        self.inner.commands()
    }

    async fn open(&self, name: &str) -> Result<Arc<dyn Workspace>, ExecutorError> {
        let inner = self.inner.open(name).await?;
        Ok(Arc::new(MeteredWorkspace { inner, budget: self.budget.clone(), account: Arc::clone(&self.account) }))
    }

    async fn remove(&self, name: &str) -> Result<(), ExecutorError> {
        self.inner.remove(name).await
    }
}

/// A workspace whose runs are counted.
#[derive(Debug)]
struct MeteredWorkspace {
    inner: Arc<dyn Workspace>,
    budget: Budget,
    account: Arc<Account>,
}

#[async_trait]
impl Workspace for MeteredWorkspace {
    async fn run(&self, command: Command) -> Result<Outcome, ExecutorError> {
        // A call may ask for less time than the budget has, not for more.
        let timeout = command.timeout.map_or(self.budget.wall_time, |asked| asked.min(self.budget.wall_time));
        let command = Command { timeout: Some(timeout), limits: Some(self.budget.limits()), ..command };
        // All of it at first: who hangs up before the end has paid for the whole run.
        self.account.take(self.budget.fuel);
        let outcome = self.inner.run(command).await?;
        self.account.give_back(outcome.fuel.map_or(0, |used| self.budget.fuel.saturating_sub(used)));
        Ok(outcome)
    }

    async fn start(&self, _: Command) -> Result<Box<dyn RunningCommand>, ExecutorError> {
        // They outlive the call that starts them; no tool of this host needs it.
        Err(ExecutorError::Unsupported { executor: "host".to_owned(), what: "commands that are talked to" })
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn root(&self) -> &str {
        self.inner.root()
    }

    fn mounts_skills(&self) -> bool {
        self.inner.mounts_skills()
    }

    async fn stage(&self, skill: &StagedSkill) -> Result<(), ExecutorError> {
        self.inner.stage(skill).await
    }

    async fn list(&self, query: &Query<'_>) -> Result<Listing, ExecutorError> {
        self.inner.list(query).await
    }

    async fn stat(&self, path: &str) -> Result<Entry, ExecutorError> {
        self.inner.stat(path).await
    }

    async fn read(&self, path: &str, offset: u64, most: usize) -> Result<Vec<u8>, ExecutorError> {
        self.inner.read(path, offset, most).await
    }

    async fn write(&self, path: &str, content: &[u8], mode: u32) -> Result<(), ExecutorError> {
        self.inner.write(path, content, mode).await
    }

    async fn make_folder(&self, path: &str) -> Result<(), ExecutorError> {
        self.inner.make_folder(path).await
    }

    async fn remove(&self, path: &str) -> Result<(), ExecutorError> {
        self.inner.remove(path).await
    }

    async fn link(&self, link: &Link) -> Result<(), ExecutorError> {
        self.inner.link(link).await
    }
}
