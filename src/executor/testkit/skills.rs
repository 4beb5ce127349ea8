//! Skills in a workspace.

use super::super::{EntryKind, Workspace};
use super::Capability;
use super::kit::{Check, Kit, content, ensure, ensure_eq, output, run, told};

const SKILL: &[(&str, &str)] = &[
    ("SKILL.md", "---\nname: kit\n---\n"),
    ("scripts/run.sh", "#!/bin/sh\necho \"ran $1\"\n"),
    ("references/deep/text.md", "text\n"),
];

pub async fn staging(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    let folder = kit.host_folder(SKILL)?;
    kit.stage(&*workspace, "kit", &folder, "1").await?;
    let home = "skills/kit";
    ensure_eq!(output(&*workspace, home, "cat references/deep/text.md").await?, "text\n", "a file of the skill");
    ensure_eq!(output(&*workspace, home, "./scripts/run.sh it").await?, "ran it\n", "a script of the skill");
    workspace.write("work/inputs/i", b"input\n", 0o644).await?;
    let line = "test -L out && test -L work && test -L inputs && cat inputs/i work/inputs/i && echo o > out/o";
    ensure_eq!(output(&*workspace, home, line).await?, "input\ninput\n", "the links");
    ensure_eq!(content(&*workspace, "out/o").await?, "o\n", "what was written through the link out");
    output(&*workspace, home, "test -d .venv && test -w .venv && mkdir .venv/bin && echo v > .venv/bin/v").await?;
    ensure_eq!(output(&*workspace, home, "cat .venv/bin/v").await?, "v\n", "a file in .venv in the next run");
    let line = format!("cat '{}/skills/kit/SKILL.md'", workspace.root());
    ensure_eq!(output(&*workspace, "work", &line).await?, SKILL[0].1, "the skill by its absolute path");
    if !workspace.mounts_skills() {
        ensure_eq!(workspace.stat(home).await?.kind, EntryKind::Folder, "the skill's folder");
        ensure_eq!(content(&*workspace, "skills/kit/SKILL.md").await?, SKILL[0].1, "a copied skill's file");
    }
    Ok(None)
}

pub async fn read_only(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    let folder = kit.host_folder(SKILL)?;
    kit.stage(&*workspace, "kit", &folder, "1").await?;
    if kit.lacks(Capability::ReadOnlySkills) {
        let writable = output(&*workspace, "skills/kit", "ls -lR . | grep '^[-d].w' | cat").await?;
        ensure_eq!(writable, "", "files and folders with a write bit");
    } else {
        for line in
            ["echo x >> SKILL.md", "touch new", "rm SKILL.md", "touch scripts/new", "mv scripts moved", "rm out"]
        {
            let outcome = run(&*workspace, "skills/kit", &format!("{line} 2>&1")).await?;
            ensure!(!outcome.success(), "`{line}` in a skill's folder: {}", told(&outcome));
        }
        ensure_eq!(output(&*workspace, "skills/kit", "cat SKILL.md").await?, SKILL[0].1, "the skill after all this");
    }
    ensure_eq!(std::fs::read_to_string(folder.join("SKILL.md"))?, SKILL[0].1, "the skill's own folder");
    ensure_eq!(std::fs::read_dir(&folder)?.count(), 3, "the entries of the skill's own folder");
    Ok(kit.lacks(Capability::ReadOnlySkills).then_some(Capability::ReadOnlySkills))
}

pub async fn restaging(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    let old = kit.host_folder(&[("SKILL.md", "old"), ("gone.txt", "gone")])?;
    let new = kit.host_folder(&[("SKILL.md", "new"), ("added.txt", "added")])?;
    kit.stage(&*workspace, "kit", &old, "1").await?;
    output(&*workspace, "skills/kit", "echo kept > .venv/kept").await?;
    kit.stage(&*workspace, "kit", &old, "1").await?;
    ensure_eq!(output(&*workspace, "skills/kit", "cat SKILL.md .venv/kept").await?, "oldkept\n", "the same digest");
    kit.stage(&*workspace, "kit", &new, "2").await?;
    let found = output(&*workspace, "skills/kit", "cat SKILL.md added.txt .venv/kept; test ! -e gone.txt").await?;
    ensure_eq!(found, "newaddedkept\n", "another digest");
    kit.stage(&*workspace, "kit", &old, "1").await?;
    let found = output(&*workspace, "skills/kit", "cat SKILL.md gone.txt; test ! -e added.txt").await?;
    ensure_eq!(found, "oldgone", "the first digest again");
    Ok(None)
}

pub async fn siblings(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    for name in ["one", "two.x", "three"] {
        let folder = kit.host_folder(&[("SKILL.md", name)])?;
        kit.stage(&*workspace, name, &folder, "1").await?;
    }
    let found = output(&*workspace, "skills/one", "cat ../two.x/SKILL.md ../three/SKILL.md; ls ..").await?;
    ensure_eq!(found, "two.xthreeone\nthree\ntwo.x\n", "other skills");
    Ok(None)
}

pub async fn refused_skills(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    let folder = kit.host_folder(SKILL)?;
    for name in ["", "..", "../x", "a/b", "/etc"] {
        let staged = kit.stage(&*workspace, name, &folder, "1").await;
        ensure!(staged.is_err(), "a skill was staged under the name {name:?}");
    }
    let staged = kit.stage(&*workspace, "kit", &folder.join("none"), "1").await;
    ensure!(staged.is_err(), "a folder that is not there was staged");
    kit.stage(&*workspace, "kit", &folder, "1").await?;
    ensure_eq!(run_of(&*workspace).await?, "ran it\n", "a skill after all this");
    Ok(None)
}

async fn run_of(workspace: &dyn Workspace) -> Result<String, super::kit::Failure> {
    output(workspace, "skills/kit", "scripts/run.sh it").await
}
