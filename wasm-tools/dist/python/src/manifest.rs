// Written by wasm-tools/build.sh from manifest.json.

/// The WebAssembly modules of this crate.
pub static MODULES: &[Module] = &[
    Module {
        name: "python",
        version: "CPython 3.13.5",
        commands: &[
            "python",
            "python3",
            "python3.13",
        ],
        sha256: "d2f228fc6baa55a2ed41234190ce05593c0fd0c6a5446948bec8300571a6c343",
        bytes: 21863380,
        zstd: include_bytes!("../programs/python.wasm.zst"),
    },
];

/// The files these modules find in the guest's tree.
pub static FILES: &[DataFile] = &[
    DataFile {
        guest_path: "/usr/lib/python313.zip",
        sha256: "83a51bfdad4ea610bef0b6c85be66febad821f667ef2548d9bf833fdf887c76c",
        bytes: 10376874,
        zstd: include_bytes!("../programs/python313.zip.zst"),
    },
];
