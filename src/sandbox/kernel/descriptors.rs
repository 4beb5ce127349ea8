//! A process's descriptor table.

use std::sync::Arc;

use super::open_file::OpenFile;
use crate::sandbox::errno::{Errno, Result};

/// An entry of the table.
#[derive(Clone, Debug)]
pub struct Descriptor {
    /// The description, shared by all duplicates.
    pub file: Arc<OpenFile>,
    /// Not passed on to a new program.
    pub close_on_exec: bool,
}

/// Numbers to descriptions.
#[derive(Clone, Debug)]
pub struct Descriptors {
    entries: Vec<Option<Descriptor>>,
    /// The lowest number that is given out unasked; those below are reserved for standard streams and preopens.
    first_free: i32,
    /// How many may be open.
    limit: usize,
}

impl Descriptors {
    /// An empty table whose own numbers begin at `first_free`, with at most `limit` open.
    pub fn new(first_free: i32, limit: u32) -> Self {
        Self { entries: Vec::new(), first_free, limit: limit as usize }
    }

    fn index(fd: i32) -> Result<usize> {
        usize::try_from(fd).map_err(|_| Errno::BadFd)
    }

    /// The entry; `BadFd` when closed.
    pub fn get(&self, fd: i32) -> Result<&Descriptor> {
        self.entries.get(Self::index(fd)?).and_then(Option::as_ref).ok_or(Errno::BadFd)
    }

    /// The description; `BadFd` when closed.
    pub fn file(&self, fd: i32) -> Result<&Arc<OpenFile>> {
        Ok(&self.get(fd)?.file)
    }

    /// Sets close-on-exec.
    pub fn set_close_on_exec(&mut self, fd: i32, close_on_exec: bool) -> Result<()> {
        let entry = self.entries.get_mut(Self::index(fd)?).and_then(Option::as_mut).ok_or(Errno::BadFd)?;
        entry.close_on_exec = close_on_exec;
        Ok(())
    }

    /// Gives `file` the lowest free number, from 4 up (below lie the standard streams and the root).
    pub fn insert(&mut self, file: Arc<OpenFile>, close_on_exec: bool) -> Result<i32> {
        self.insert_from(self.first_free, file, close_on_exec)
    }

    /// Gives `file` the lowest free number at or above `min`.
    pub fn insert_from(&mut self, min: i32, file: Arc<OpenFile>, close_on_exec: bool) -> Result<i32> {
        let start = usize::try_from(min).map_err(|_| Errno::Invalid)?;
        let taken = self.entries.iter().skip(start).take_while(|entry| entry.is_some()).count();
        let number = start + taken;
        self.place(number, Descriptor { file, close_on_exec })?;
        i32::try_from(number).map_err(|_| Errno::TooManyOpenFiles)
    }

    /// Whether `insert` would find a number.
    pub fn check_room(&self) -> Result<()> {
        let start = usize::try_from(self.first_free).map_err(|_| Errno::Invalid)?;
        let taken = self.entries.iter().skip(start).take_while(|entry| entry.is_some()).count();
        if start + taken < self.limit { Ok(()) } else { Err(Errno::TooManyOpenFiles) }
    }

    /// Makes `fd` stand for `file`, closing what it was.
    pub fn set(&mut self, fd: i32, file: Arc<OpenFile>, close_on_exec: bool) -> Result<()> {
        self.place(Self::index(fd)?, Descriptor { file, close_on_exec })
    }

    fn place(&mut self, number: usize, entry: Descriptor) -> Result<()> {
        // As RLIMIT_NOFILE: a bound on the number itself, so that the table is bounded too.
        if number >= self.limit {
            return Err(Errno::TooManyOpenFiles);
        }
        if number >= self.entries.len() {
            self.entries.resize_with(number + 1, || None);
        }
        self.entries[number] = Some(entry);
        Ok(())
    }

    /// Closes; `BadFd` when it was closed already.
    pub fn remove(&mut self, fd: i32) -> Result<Descriptor> {
        self.entries.get_mut(Self::index(fd)?).and_then(Option::take).ok_or(Errno::BadFd)
    }

    /// A table for a new program: all but the close-on-exec ones.
    #[must_use]
    pub fn inherited(&self) -> Self {
        let keep = |entry: &Option<Descriptor>| entry.as_ref().filter(|entry| !entry.close_on_exec).cloned();
        Self { entries: self.entries.iter().map(keep).collect(), ..*self }
    }

    /// A table like this one without entries.
    #[must_use]
    pub fn empty_like(&self) -> Self {
        Self { entries: Vec::new(), ..*self }
    }

    /// Another first number, for a program with more preopens.
    pub fn set_first_free(&mut self, first_free: i32) {
        self.first_free = first_free;
    }

    /// The open numbers.
    pub fn numbers(&self) -> impl Iterator<Item = i32> + '_ {
        self.entries.iter().enumerate().filter_map(|(n, entry)| entry.as_ref().and(i32::try_from(n).ok()))
    }
}
