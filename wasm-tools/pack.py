"""What build.sh does with built modules.

    pack.py names                                       the modules of modules.json
    pack.py manifest NAME [FILE]                        prints a module's package and binary; writes its manifest
    pack.py pack BUILT DIST SOURCE_HASH TOOLCHAIN       fills the data crates of dist/

`pack` writes per crate: programs/*.zst, src/manifest.rs, manifest.json, licenses/; and in DIST tests/, SHA256SUMS and
PROVENANCE. Equal modules give equal bytes: names are sorted, times are left out, zstd has one thread.
"""

import hashlib
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
MODULES = json.loads((HERE / "modules.json").read_text())
# Which modules are in which crate.
CRATES = {"toolbox": [module["name"] for module in MODULES], "python": ["python"]}
TEST_GUESTS = ["guest-tests.wasm", "foreign-tests.wasm"]
LICENSE_NAMES = ("license", "licence", "copying", "notice", "copyright", "unlicense")


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def compress(source, target):
    """Packs a file, unless the target holds just that already: the strongest level takes seconds a megabyte."""
    if target.exists():
        old = subprocess.run(["zstd", "-q", "-d", "-c", target], capture_output=True)
        if old.returncode == 0 and old.stdout == source.read_bytes():
            return
    subprocess.run(["zstd", "-q", "-f", "--ultra", "-22", "--single-thread", "--no-check", source, "-o", target], check=True)


def dependencies(packages):
    """The registry packages that are linked into `packages`, sorted: build scripts and macros stay outside."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", "wasm32-wasip1"]
    metadata = json.loads(subprocess.run(command, cwd=HERE, check=True, capture_output=True).stdout)
    by_id = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [ident for ident, package in by_id.items() if package["name"] in packages]
    seen = set()
    while waiting:
        ident = waiting.pop()
        if ident in seen:
            continue
        seen.add(ident)
        for dependency in nodes[ident]["deps"]:
            package = by_id[dependency["pkg"]]
            macro = any("proc-macro" in target["kind"] for target in package["targets"])
            normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if normal and not macro:
                waiting.append(dependency["pkg"])
    found = [by_id[ident] for ident in seen if by_id[ident]["source"]]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def third_party(packages):
    """One text: every package with its licence, then every licence text once, with the packages it came with."""
    head = [
        "The modules in this crate contain the Rust standard library (MIT OR Apache-2.0), wasi-libc (wasi-libc.txt)",
        "and these packages. One without a text of its own below is under one of the licences its line names, whose",
        "texts are those of the others.",
        "",
    ]
    texts = {}
    for package in packages:
        name = f"{package['name']} {package['version']}"
        head.append(f"{name}: {package['license'] or 'see below'}; {package['repository'] or 'no repository named'}")
        folder = pathlib.Path(package["manifest_path"]).parent
        for file in sorted(folder.iterdir()):
            if file.is_file() and file.name.lower().startswith(LICENSE_NAMES):
                text = file.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n").strip()
                texts.setdefault(text, []).append(f"{name} ({file.name})")
    parts = ["\n".join(head)]
    for text, sources in sorted(texts.items(), key=lambda item: item[1]):
        parts.append("=" * 100 + "\n" + "\n".join(sources) + "\n" + "-" * 100 + "\n" + text)
    return "\n\n".join(parts) + "\n"


def rust_string(text):
    return json.dumps(text, ensure_ascii=False)


def pack_crate(crate, modules, built, dist, sums, sizes):
    folder = dist / crate
    programs = folder / "programs"
    programs.mkdir(parents=True, exist_ok=True)
    manifest = {"modules": [], "files": []}
    for name in sorted(modules):
        module = json.loads((built / f"{name}.json").read_text())
        wasm = (built / module["file"]).read_bytes()
        compress(built / module["file"], programs / f"{module['file']}.zst")
        manifest["modules"].append(
            {
                "name": module["name"],
                "version": module["version"],
                "commands": sorted(module["commands"]),
                "file": f"{module['file']}.zst",
                "sha256": sha256(wasm),
                "bytes": len(wasm),
            }
        )
        for data in module.get("files", []):
            content = (built / data["file"]).read_bytes()
            compress(built / data["file"], programs / f"{data['file']}.zst")
            manifest["files"].append(
                {
                    "guest_path": data["path"],
                    "file": f"{data['file']}.zst",
                    "sha256": sha256(content),
                    "bytes": len(content),
                }
            )
    kept = {entry["file"] for entry in manifest["modules"] + manifest["files"]}
    for old in programs.iterdir():
        if old.name not in kept:
            old.unlink()
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
    lines = ["// Written by wasm-tools/build.sh from manifest.json.", "", "/// The WebAssembly modules of this crate.", "pub static MODULES: &[Module] = &["]
    for module in manifest["modules"]:
        commands = "".join(f"            {rust_string(command)},\n" for command in module["commands"])
        lines.append(
            f"    Module {{\n        name: {rust_string(module['name'])},\n        version: {rust_string(module['version'])},\n"
            f"        commands: &[\n{commands}        ],\n        sha256: {rust_string(module['sha256'])},\n"
            f"        bytes: {module['bytes']},\n"
            f"        zstd: include_bytes!(\"../programs/{module['file']}\"),\n    }},"
        )
    lines += ["];", "", "/// The files these modules find in the guest's tree.", "pub static FILES: &[DataFile] = &["]
    for data in manifest["files"]:
        lines.append(
            f"    DataFile {{\n        guest_path: {rust_string(data['guest_path'])},\n        sha256: {rust_string(data['sha256'])},\n"
            f"        bytes: {data['bytes']},\n        zstd: include_bytes!(\"../programs/{data['file']}\"),\n    }},"
        )
    lines.append("];")
    (folder / "src/manifest.rs").write_text("\n".join(lines) + "\n")
    licenses = folder / "licenses"
    licenses.mkdir(exist_ok=True)
    packages = {module["package"] for module in MODULES if module["name"] in modules}
    if packages:
        (licenses / "THIRD-PARTY.txt").write_text(third_party(dependencies(packages)))
    if "python" in modules:
        for source in sorted((HERE / "python/licenses").iterdir()):
            (licenses / source.name).write_bytes(source.read_bytes())
    (licenses / "wasi-libc.txt").write_bytes((HERE / "python/licenses/wasi-libc.txt").read_bytes())
    for entry in manifest["modules"] + manifest["files"]:
        file = entry["file"].removesuffix(".zst")
        sums.append((entry["sha256"], f"{crate}/{file}"))
        packed = programs / entry["file"]
        sums.append((sha256(packed.read_bytes()), f"{crate}/programs/{entry['file']}"))
        sizes.append((f"{crate}/{file}", entry["bytes"], packed.stat().st_size))


def pack_tests(built, dist, sums):
    folder = dist / "tests"
    folder.mkdir(parents=True, exist_ok=True)
    recorded = []
    for name in TEST_GUESTS:
        compress(built / name, folder / f"{name}.zst")
        digest = sha256((built / name).read_bytes())
        recorded.append(f"{digest}  {name}\n")
        sums.append((digest, f"tests/{name}"))
    (folder / "sha256").write_text("".join(recorded))


def manifest(name, file=None):
    module = next(module for module in MODULES if module["name"] == name)
    print(module["package"], module["binary"])
    if file:
        kept = {key: module[key] for key in ("name", "version", "commands")}
        pathlib.Path(file).write_text(json.dumps({**kept, "file": f"{module['binary']}.wasm"}) + "\n")


def pack(built, dist, source_hash, toolchain):
    built, dist = pathlib.Path(built), pathlib.Path(dist)
    sums, sizes = [], []
    for crate, modules in CRATES.items():
        pack_crate(crate, modules, built, dist, sums, sizes)
    pack_tests(built, dist, sums)
    (dist / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for digest, name in sums))
    zstd = subprocess.run(["zstd", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    cargo = subprocess.run(["cargo", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    lines = [
        "Where the modules in this folder come from. Lines without `programs/` in SHA256SUMS are the unpacked bytes.",
        "",
        f"source-hash: {source_hash}",
        f"rust: {toolchain}",
        f"cargo: {cargo}",
        f"zstd: {zstd.strip('* ')}; --ultra -22 --single-thread --no-check",
        "recipe: wasm-tools/build.sh (Rust modules: cargo build --locked --release --target wasm32-wasip1;",
        "        python: python/build.sh; no wasm-opt: it is not on every machine and gains 8 % in size)",
        "",
        f"{'module':<36}{'bytes':>12}{'packed':>12}",
    ]
    lines += [f"{name:<36}{size:>12}{packed:>12}" for name, size, packed in sizes]
    (dist / "PROVENANCE").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["names"]:
            print("\n".join(module["name"] for module in MODULES))
        case ["manifest", name, *file] if len(file) < 2:
            manifest(name, *file)
        case ["pack", built, dist, source_hash, toolchain]:
            pack(built, dist, source_hash, toolchain)
        case _:
            sys.exit(__doc__)
