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
        sha256: "1818bee64c7a8c00ef5609ffe131b01f5ad3c54978e3b15408aad9a7f61dec52",
        bytes: 20956474,
        zstd: include_bytes!("../programs/python.wasm.zst"),
    },
];

/// The files these modules find in the guest's tree.
pub static FILES: &[DataFile] = &[
    DataFile {
        guest_path: "/usr/lib/python313.zip",
        sha256: "6be9219dad4bc512aa16cb706425c301860172a45208388582c9a7e590b20425",
        bytes: 9782651,
        zstd: include_bytes!("../programs/python313.zip.zst"),
    },
];
