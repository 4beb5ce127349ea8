//! What guests and users may do to a workspace.
#![allow(clippy::unwrap_used)]

use super::*;

#[cfg(unix)]
#[test]
fn folders_are_deleted_however_deep_and_whatever_their_rights() {
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("ws");
    std::fs::create_dir(&path).unwrap();
    let root = Dir::open_ambient_dir(&path, cap_std::ambient_authority()).unwrap();
    // Deeper than a path may be long, built from below as a guest does it with renames.
    root.create_dir("chain").unwrap();
    for _ in 0..1500 {
        root.create_dir("next").unwrap();
        root.rename("chain", &root, "next/chain").unwrap();
        root.rename("next", &root, "chain").unwrap();
    }
    root.create_dir_all("closed/below").unwrap();
    root.write("closed/below/file", "data").unwrap();
    std::fs::set_permissions(path.join("closed/below"), std::fs::Permissions::from_mode(0o0)).unwrap();
    std::fs::set_permissions(path.join("closed"), std::fs::Permissions::from_mode(0o0)).unwrap();
    std::fs::write(place.path().join("outside"), "stays").unwrap();
    root.symlink_contents(place.path(), "link").unwrap();
    remove::tree(&path).unwrap();
    assert!(!path.exists());
    assert_eq!(std::fs::read_to_string(place.path().join("outside")).unwrap(), "stays");
}

#[cfg(unix)]
#[test]
fn links_of_a_guest_lead_nowhere() {
    let place = tempfile::tempdir().unwrap();
    let host = place.path().join("host");
    std::fs::create_dir(&host).unwrap();
    std::fs::write(host.join("secret"), "secret").unwrap();
    let path = place.path().join("ws");
    Workspace::create(Place::Folder(path.clone()), false).unwrap().finish(Keep::No).unwrap();
    // What a run of before may have left.
    std::fs::remove_dir(path.join("out")).unwrap();
    std::os::unix::fs::symlink(&host, path.join("out")).unwrap();
    let error = Workspace::create(Place::Folder(path.clone()), false).unwrap_err();
    assert!(error.to_string().contains("cannot make"), "{error}");

    // What this run does to its own.
    std::fs::remove_file(path.join("out")).unwrap();
    let workspace = Workspace::create(Place::Folder(path.clone()), false).unwrap();
    std::fs::remove_dir(path.join("out")).unwrap();
    std::os::unix::fs::symlink(&host, path.join("out")).unwrap();
    std::os::unix::fs::symlink(host.join("secret"), path.join("work/stolen")).unwrap();
    let results = place.path().join("results");
    let notes = workspace.copy_outputs(&results).unwrap();
    assert_eq!((notes.len(), std::fs::read_dir(&results).unwrap().count()), (1, 0));
    assert_eq!(workspace.collect(&Patterns::new(&["**".into()]).unwrap()).files, []);
    assert!(workspace.stage_input(&format!("{}=work/stolen/x", host.join("secret").display())).is_err());
    assert!(workspace.stage_input(&format!("{}=out/", host.display())).is_err());
    assert_eq!(std::fs::read_dir(&host).unwrap().count(), 1);
}

#[test]
fn a_workspace_that_was_not_used_goes_away() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("ws");
    drop(Workspace::create(Place::Folder(path.clone()), false).unwrap());
    assert!(!path.exists());
    std::fs::create_dir(&path).unwrap();
    drop(Workspace::create(Place::Folder(path.clone()), false).unwrap());
    assert!(path.exists());
    drop(Workspace::create(Place::Below(path.clone()), false).unwrap());
    assert!(std::fs::read_dir(&path).unwrap().all(|entry| !entry.unwrap().path().to_string_lossy().contains("ws_")));
}

#[cfg(unix)]
#[test]
fn inputs_are_files_and_folders_without_end() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("folder");
    std::fs::create_dir_all(folder.join("sub")).unwrap();
    std::fs::write(folder.join("sub/file"), "data").unwrap();
    let workspace = Workspace::create(Place::Below(place.path().join("root")), false).unwrap();
    workspace.stage_input(folder.to_str().unwrap()).unwrap();
    let copy = workspace.path().join("work/inputs/folder/sub/file");
    assert_eq!(std::fs::read_to_string(copy).unwrap(), "data");
    std::os::unix::fs::symlink("..", folder.join("sub/up")).unwrap();
    let error = workspace.stage_input(folder.to_str().unwrap()).unwrap_err();
    assert!(matches!(error, WorkspaceError::EndlessInput(..)), "{error}");
    let error = workspace.stage_input("/dev/zero").unwrap_err();
    assert!(matches!(error, WorkspaceError::SpecialInput(..)), "{error}");
}
