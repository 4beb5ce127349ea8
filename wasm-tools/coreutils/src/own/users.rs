//! `id`, `whoami`, `logname`, `groups`, `who`, `users`: who the guest is. It is uid 0 and `/etc/passwd` names it.

use std::ffi::OsString;

use super::opts::{Spec, Takes};
use super::say;
use super::text::quote;

fn lines(file: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().map(|line| line.split(':').map(str::to_owned).collect()).collect()
}

fn name_of(file: &str, id: u32) -> Option<String> {
    lines(file).into_iter().find(|f| f.get(2).is_some_and(|n| n.parse() == Ok(id))).map(|mut f| f.swap_remove(0))
}

fn id_of(file: &str, name: &str) -> Option<u32> {
    let named = lines(file).into_iter().find(|f| f[0] == name).and_then(|f| f.get(2)?.parse().ok());
    named.or_else(|| name.parse().ok())
}

/// A user's number, from a name or a number.
pub fn user_id(name: &str) -> Option<u32> {
    id_of("/etc/passwd", name).or_else(|| (name == "root").then_some(0))
}

/// A group's number, from a name or a number.
pub fn group_id(name: &str) -> Option<u32> {
    id_of("/etc/group", name).or_else(|| (name == "root").then_some(0))
}

/// A user's name.
pub fn user_name(id: u32) -> Option<String> {
    name_of("/etc/passwd", id).or_else(|| (id == 0).then(|| "root".to_owned()))
}

/// A group's name.
pub fn group_name(id: u32) -> Option<String> {
    name_of("/etc/group", id).or_else(|| (id == 0).then(|| "root".to_owned()))
}

const ID: Spec = Spec {
    name: "id",
    usage: "id [OPTION]... [USER]...",
    short: "aZgGnruz",
    long: &[
        ("group", Takes::No, 'g'),
        ("groups", Takes::No, 'G'),
        ("name", Takes::No, 'n'),
        ("real", Takes::No, 'r'),
        ("user", Takes::No, 'u'),
        ("zero", Takes::No, 'z'),
    ],
    failure: 1,
};

/// `id`.
pub fn id(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match ID.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    let (mut what, mut by_name, mut zero) = (None, false, false);
    for (option, _) in &parsed.options {
        match option {
            'g' | 'G' | 'u' if what.is_some_and(|w| w != *option) => {
                eprintln!("id: cannot print \"only\" of more than one choice");
                return 1;
            }
            'g' | 'G' | 'u' => what = Some(*option),
            'n' => by_name = true,
            'z' => zero = true,
            _ => {}
        }
    }
    if by_name && what.is_none() {
        eprintln!("id: cannot print only names or real IDs in default format");
        return 1;
    }
    let mut status = 0;
    let mut users: Vec<(u32, u32)> = Vec::new();
    if parsed.operands.is_empty() {
        users.push((0, 0));
    }
    for operand in &parsed.operands {
        match user_id(&operand.to_string_lossy()) {
            Some(uid) if user_name(uid).is_some() => {
                let entry = lines("/etc/passwd").into_iter().find(|f| f.get(2).is_some_and(|n| n.parse() == Ok(uid)));
                users.push((uid, entry.and_then(|f| f.get(3)?.parse().ok()).unwrap_or(0)));
            }
            _ => {
                eprintln!("id: {}: no such user", quote(operand));
                status = 1;
            }
        }
    }
    let end = if zero { '\0' } else { '\n' };
    let named = |id: u32, name: Option<String>| if by_name { name.unwrap_or(id.to_string()) } else { id.to_string() };
    let both = |id: u32, name: Option<String>| name.map_or(id.to_string(), |name| format!("{id}({name})"));
    for (uid, gid) in users {
        match what {
            Some('u') => say(format_args!("{}{end}", named(uid, user_name(uid)))),
            Some(_) => say(format_args!("{}{end}", named(gid, group_name(gid)))),
            None => say(format_args!(
                "uid={} gid={} groups={}{end}",
                both(uid, user_name(uid)),
                both(gid, group_name(gid)),
                both(gid, group_name(gid))
            )),
        }
    }
    status
}

const WHOAMI: Spec = Spec { name: "whoami", usage: "whoami [OPTION]...", short: "", long: &[], failure: 1 };

/// `whoami` and `logname`.
pub fn whoami(name: &str, args: Vec<OsString>) -> i32 {
    let parsed = match (Spec { name: if name == "logname" { "logname" } else { "whoami" }, ..WHOAMI }).parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    if let Some(extra) = parsed.operands.first() {
        return WHOAMI.extra_operand(extra);
    }
    say(format_args!("{}\n", user_name(0).unwrap_or_default()));
    0
}

const GROUPS: Spec =
    Spec { name: "groups", usage: "groups [OPTION]... [USERNAME]...", short: "", long: &[], failure: 1 };

/// `groups`.
pub fn groups(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match GROUPS.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    if parsed.operands.is_empty() {
        say(format_args!("{}\n", group_name(0).unwrap_or_default()));
    }
    let mut status = 0;
    for operand in &parsed.operands {
        match user_id(&operand.to_string_lossy()) {
            Some(_) => say(format_args!("{} : {}\n", operand.to_string_lossy(), group_name(0).unwrap_or_default())),
            None => {
                eprintln!("groups: {}: no such user", quote(operand));
                status = 1;
            }
        }
    }
    status
}

/// `who` and `users`: nobody is logged in.
pub fn nobody(_: &str, _: Vec<OsString>) -> i32 {
    0
}
