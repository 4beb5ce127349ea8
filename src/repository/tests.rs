use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::*;

fn write(folder: &Path, name: &str, description: &str) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("SKILL.md"), format!("---\nname: {name}\ndescription: {description}\n---\n")).unwrap();
}

fn root() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn names(repository: &Repository) -> Vec<String> {
    repository.catalogue().entries().iter().map(|entry| entry.name().to_owned()).collect()
}

fn reports(repository: &Repository) -> Vec<String> {
    repository.catalogue().reports().iter().map(ToString::to_string).collect()
}

fn over(root: &Path) -> Repository {
    Repository::builder().root(root).build()
}

/// Puts all times below a folder into the past, so that the next look takes nothing for just written.
fn age(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            age(&entry.path());
        } else {
            set_age(&entry.path());
        }
    }
    set_age(folder);
}

fn set_age(path: &Path) {
    let time = SystemTime::now() - Duration::from_secs(100);
    fs::File::open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn a_root_is_a_skill_or_a_collection_or_a_collection_of_collections() {
    let root = root();
    let path = root.path();
    write(&path.join("plain"), "plain", "x");
    write(&path.join("more/deep/inside"), "inside", "x");
    write(&path.join("plain/below"), "below", "x");
    for ignored in [".hidden", "node_modules", "build", ".git", "__pycache__"] {
        write(&path.join(ignored).join("s"), &format!("in-{ignored}"), "x");
    }
    fs::create_dir_all(path.join("lower")).unwrap();
    fs::write(path.join("lower/skill.md"), "---\nname: lower\ndescription: x\n---\n").unwrap();
    assert_eq!(names(&over(path)), ["inside", "lower", "plain"]);
    assert_eq!(names(&over(&path.join("plain"))), ["plain"]);
    let nested = Repository::builder().root(path).nested(true).build();
    assert_eq!(names(&nested), ["below", "inside", "lower", "plain"]);
    assert!(reports(&nested).is_empty());
}

#[test]
fn what_is_too_deep_or_too_much_is_told() {
    let root = root();
    write(&root.path().join("1/2/3/4/5/six"), "six", "x");
    assert_eq!(names(&over(root.path())), ["six"]);
    write(&root.path().join("1/2/3/4/5/6/seven"), "seven", "x");
    let repository = over(root.path());
    assert_eq!(names(&repository), ["six"]);
    assert!(reports(&repository)[0].contains("more than 6 levels below a root"), "{:?}", reports(&repository));
    for number in 0..=FOLDER_LIMIT {
        fs::create_dir(root.path().join(format!("f{number}"))).unwrap();
    }
    let told = reports(&over(root.path()));
    assert!(told.iter().any(|report| report.contains("more than 20000 folders")), "{told:?}");
}

#[test]
fn the_first_root_wins_and_the_other_is_told() {
    let (first, second) = (root(), root());
    write(&first.path().join("zoo"), "same", "one");
    write(&second.path().join("same"), "same", "two");
    let both = [first.path(), second.path()];
    let repository = Repository::builder().roots(both).build();
    let catalogue = repository.catalogue();
    assert_eq!(catalogue.entries()[0].description(), "one");
    let Reason::Duplicate { name, winner } = catalogue.reports()[0].reason() else { panic!("{catalogue:?}") };
    assert_eq!((name.as_str(), winner), ("same", &first.path().canonicalize().unwrap().join("zoo")));
    assert_eq!(catalogue.reports()[0].path(), second.path().canonicalize().unwrap().join("same"));
    // Under one root the folder that has the skill's name counts, wherever it sorts.
    write(&second.path().join("a"), "same", "three");
    let repository = over(second.path());
    assert_eq!(repository.catalogue().entries()[0].description(), "two");
    // The same folder twice is no duplicate.
    let twice = Repository::builder().root(first.path()).root(first.path().join("zoo")).build();
    assert_eq!((names(&twice).len(), reports(&twice).len()), (1, 0));
}

#[cfg(unix)]
#[test]
fn links_are_followed_once_and_cycles_end() {
    use std::os::unix::fs::symlink;
    let (root, other) = (root(), root());
    write(&root.path().join("z-real"), "real", "x");
    write(&other.path().join("far"), "far", "x");
    for (target, link) in [
        (root.path(), "loop"),
        (&root.path().join("z-real"), "a-link"),
        (&other.path().join("far"), "linked"),
        (&other.path().join("far"), "linked-again"),
        (other.path(), "collection"),
        (&root.path().join("nothing"), "broken"),
    ] {
        symlink(target, root.path().join(link)).unwrap();
    }
    let outside = root.path().parent().unwrap().join(format!("link-to-{}", std::process::id()));
    symlink(root.path(), &outside).unwrap();
    let repository = Repository::builder().root(&outside).root(root.path()).build();
    assert_eq!(names(&repository), ["far", "real"]);
    let real = root.path().canonicalize().unwrap().join("z-real");
    assert_eq!(repository.catalogue().entries()[1].folder(), real);
    let told = reports(&repository);
    assert!(told.len() == 1 && told[0].contains("broken"), "{told:?}");
    fs::remove_file(outside).unwrap();
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_elsewhere_is_seen() {
    use std::os::unix::fs::symlink;
    let root = root();
    for release in ["1", "2"] {
        write(&root.path().join(release).join("skill"), &format!("skill-{release}"), "x");
    }
    let current = root.path().join("current");
    symlink(root.path().join("1"), &current).unwrap();
    age(&root.path().join("1"));
    age(&root.path().join("2"));
    let repository = over(&current);
    assert_eq!(names(&repository), ["skill-1"]);
    fs::remove_file(&current).unwrap();
    symlink(root.path().join("2"), &current).unwrap();
    assert_eq!(names(&repository), ["skill-2"]);
}

#[test]
fn a_root_below_another_one_is_looked_at_for_itself() {
    let root = root();
    write(&root.path().join("1/2/3/4/5/6/seven"), "seven", "x");
    let repository = Repository::builder().root(root.path()).root(root.path().join("1/2")).build();
    assert_eq!(names(&repository), ["seven"]);
}

#[test]
fn what_cannot_be_used_is_told_and_the_others_load() {
    let root = root();
    write(&root.path().join("good"), "good", "x");
    write(&root.path().join("evil"), "../evil", "x");
    fs::create_dir(root.path().join("latin")).unwrap();
    fs::write(root.path().join("latin/SKILL.md"), b"---\nname: latin\ndescription: caf\xe9\n---\n").unwrap();
    fs::create_dir(root.path().join("mute")).unwrap();
    fs::write(root.path().join("mute/SKILL.md"), "---\nname: mute\n---\n").unwrap();
    let missing = root.path().join("missing");
    let repository = Repository::builder().root(root.path()).root(&missing).build();
    assert_eq!(names(&repository), ["good"]);
    let told = reports(&repository);
    for (part, reason) in
        [("evil", "not safe"), ("latin", "not UTF-8"), ("mute", "no description"), ("missing", "no such")]
    {
        assert!(told.iter().any(|report| report.contains(part) && report.contains(reason)), "{part}: {told:?}");
    }
    assert_eq!(told.len(), 4);
    write(&missing.join("came"), "came", "x");
    assert_eq!(names(&repository), ["came", "good"], "a root may come later");
}

#[test]
fn every_change_is_seen_at_the_next_use() {
    let root = root();
    let path = root.path();
    write(&path.join("one"), "one", "first");
    fs::create_dir_all(path.join("group/empty")).unwrap();
    let repository = over(path);
    let describe = || repository.open("one").map(|skill| skill.manifest().description.clone()).unwrap();
    assert_eq!((names(&repository), describe()), (vec!["one".to_owned()], "first".to_owned()));
    // The same length, at once, and with an old time put back.
    write(&path.join("one"), "one", "secnd");
    assert_eq!(repository.catalogue().entries()[0].description(), "secnd");
    age(path);
    repository.catalogue();
    write(&path.join("one"), "one", "third");
    set_age(&path.join("one/SKILL.md"));
    assert_eq!(repository.catalogue().entries()[0].description(), "third");
    // New ones at any level, also in a folder that was none.
    age(path);
    repository.catalogue();
    write(&path.join("two"), "two", "x");
    assert_eq!(names(&repository), ["one", "two"]);
    age(path);
    repository.catalogue();
    write(&path.join("group/empty"), "three", "x");
    assert_eq!(names(&repository), ["one", "three", "two"]);
    // Broken, renamed, repaired, gone.
    age(path);
    repository.catalogue();
    fs::write(path.join("two/SKILL.md"), "---\nname: two\n---\n").unwrap();
    age(path);
    assert_eq!((names(&repository).len(), reports(&repository).len()), (2, 1));
    assert_eq!(reports(&repository).len(), 1, "told as long as it lasts");
    write(&path.join("two"), "zwei", "x");
    assert_eq!(names(&repository), ["one", "three", "zwei"]);
    assert!(reports(&repository).is_empty());
    age(path);
    repository.catalogue();
    fs::remove_file(path.join("one/SKILL.md")).unwrap();
    assert_eq!(names(&repository), ["three", "zwei"]);
    fs::remove_dir_all(path).unwrap();
    assert!(names(&repository).is_empty());
    assert!(reports(&repository)[0].contains("no such folder"));
}

#[test]
fn nothing_is_read_again_without_need() {
    let root = root();
    for number in 0..300 {
        write(&root.path().join(format!("s{number}")), &format!("s{number}"), "x");
    }
    age(root.path());
    let repository = over(root.path());
    let first = repository.catalogue();
    assert!(Arc::ptr_eq(&first, &repository.catalogue()));
    write(&root.path().join("s7"), "s7", "changed");
    let second = repository.catalogue();
    let same = first.entries().iter().zip(second.entries()).filter(|(a, b)| Arc::ptr_eq(a, b)).count();
    assert_eq!(same, 299);
    write(&root.path().join("new"), "a-new", "x");
    let third = repository.catalogue();
    let same = second.entries().iter().zip(&third.entries()[1..]).filter(|(a, b)| Arc::ptr_eq(a, b)).count();
    // The one that was changed a moment ago is read until its time is old.
    assert!(same >= 299, "{same}");
}

#[test]
fn an_unknown_skill_is_an_error_with_the_nearest_names() {
    let root = root();
    let message = |name: &str| over(root.path()).open(name).unwrap_err().to_string();
    assert!(message("x").contains("there are no skills in"), "{}", message("x"));
    for number in 0..12 {
        write(&root.path().join(format!("skill-{number}")), &format!("skill-{number}"), "x");
    }
    assert!(message("nope").contains("known are skill-0, skill-1, skill-10"), "{}", message("nope"));
    write(&root.path().join("pdf-forms"), "pdf-forms", "x");
    assert_eq!(message("pdf_form"), "unknown skill `pdf_form`; the nearest of 13 are pdf-forms");
    assert_eq!(message("zzz"), "unknown skill `zzz`; there are 13 others, none with a similar name");
}

#[test]
fn who_does_not_see_a_skill_is_told_the_same_as_if_there_were_none() {
    let root = root();
    for name in ["open", "hidden-one"] {
        write(&root.path().join(name), name, "x");
    }
    let shown = |caller: &Caller<'_>, entry: &Entry| caller.user == "anna" || !entry.name().starts_with("hidden");
    let repository = Repository::builder().root(root.path()).visible(shown).build();
    let ben = repository.view(Caller { user: "ben", ..Caller::default() });
    assert_eq!((ben.len(), ben.entries().map(Entry::name).collect::<Vec<_>>()), (1, vec!["open"]));
    let hidden = ben.open("hidden-one").unwrap_err().to_string();
    let absent = ben.open("hidden-two").unwrap_err().to_string();
    assert_eq!(hidden.replace("-one", ""), absent.replace("-two", ""));
    assert!(!hidden.contains("hidden-one,") && hidden.ends_with("known are open"), "{hidden}");
    let anna = repository.view(Caller { app: "a", user: "anna", session: "s" });
    assert_eq!(anna.len(), 2);
    assert!(anna.open("hidden-one").is_ok() && !anna.is_empty());
}
