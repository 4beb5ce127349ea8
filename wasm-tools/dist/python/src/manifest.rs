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
        sha256: "c6a2986673e452a12670e6c9f5d072dc164e628f1c1e80cb271d17b79e037526",
        bytes: 21869653,
        zstd: include_bytes!("../programs/python.wasm.zst"),
    },
];

/// The files these modules find in the guest's tree.
pub static FILES: &[DataFile] = &[
    DataFile {
        guest_path: "/usr/lib/python313.zip",
        sha256: "678cbac797e9bdefd795630590e0917cbdc1bc692df43a45a9f3c25969205438",
        bytes: 10380807,
        zstd: include_bytes!("../programs/python313.zip.zst"),
    },
];
