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
        sha256: "03d3c695ec3fdb0ad7b77efdc3fe9f5a855a9f85e9cd8f5dd9d193599fdecb84",
        bytes: 21869417,
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
