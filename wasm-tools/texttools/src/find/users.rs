//! Names of users and groups, from `/etc/passwd` and `/etc/group`.

use std::collections::HashMap;

/// A file of lines `name:x:number:…`, read at first use.
pub struct Names {
    file: &'static str,
    loaded: Option<HashMap<u32, String>>,
}

impl Names {
    /// Users.
    pub fn users() -> Self {
        Self { file: "/etc/passwd", loaded: None }
    }

    /// Groups.
    pub fn groups() -> Self {
        Self { file: "/etc/group", loaded: None }
    }

    fn table(&mut self) -> &HashMap<u32, String> {
        let file = self.file;
        self.loaded.get_or_insert_with(|| {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            let mut table = HashMap::new();
            for line in text.lines() {
                let mut parts = line.split(':');
                if let (Some(name), Some(Ok(id))) = (parts.next(), parts.nth(1).map(str::parse)) {
                    table.entry(id).or_insert_with(|| name.to_string());
                }
            }
            table
        })
    }

    /// The name of a number, if it has one.
    pub fn name(&mut self, id: u32) -> Option<String> {
        self.table().get(&id).cloned()
    }

    /// The name of a number, else the number.
    pub fn shown(&mut self, id: u32) -> String {
        self.name(id).unwrap_or_else(|| id.to_string())
    }

    /// The number of a name.
    pub fn id(&mut self, name: &str) -> Option<u32> {
        self.table().iter().find(|(_, known)| *known == name).map(|(id, _)| *id).or_else(|| name.parse().ok())
    }
}
