//! Where files are looked for.

use std::fs;
use std::path::Path;

use wskill::config::project_file;

#[test]
fn the_projects_file_is_the_nearest_within_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let make = |path: &str| fs::create_dir_all(root.join(path)).unwrap();
    let touch = |path: &str| fs::write(root.join(path), "").unwrap();
    make("home/plain/a/b");
    make("home/repo/sub/deep");
    make("home/repo/.git");
    make("home/config");
    make("tmp/x");
    let home = root.join("home");
    let user = home.join("config/wskill.toml");
    let find = |start: &str| {
        let found = project_file(&root.join(start), Some(&home), Some(&user));
        found.map(|file| file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned())
    };
    touch("wskill.toml");
    touch("home/wskill.toml");
    touch("tmp/wskill.toml");
    touch("home/config/wskill.toml");
    // Neither home itself, nor what is above it or above a repository, nor everybody's folders.
    for start in ["home/plain/a/b", "home/plain", "home/repo/sub/deep", "tmp/x", "home/config", "home/missing"] {
        assert_eq!(find(start), None, "{start}");
    }
    assert_eq!(find("tmp").as_deref(), Some("tmp/wskill.toml"));
    touch("home/plain/wskill.toml");
    touch("home/repo/wskill.toml");
    for (start, file) in [
        ("home/plain/a/b", "home/plain/wskill.toml"),
        ("home/plain", "home/plain/wskill.toml"),
        ("home/repo/sub/deep", "home/repo/wskill.toml"),
        ("home/repo", "home/repo/wskill.toml"),
    ] {
        assert_eq!(find(start).as_deref(), Some(file), "{start}");
    }
    touch("home/repo/sub/wskill.toml");
    assert_eq!(find("home/repo/sub/deep").as_deref(), Some("home/repo/sub/wskill.toml"));
    make("home/repo/sub/deep/.git");
    assert_eq!(find("home/repo/sub/deep"), None);
    assert_eq!(project_file(Path::new("/does/not/exist"), None, None), None);
}
