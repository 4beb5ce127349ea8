//! Stand-ins for the imports that only the sandbox's kernel can answer.

use wasmtime::{ExternType, Linker, Module, Result, Val};

/// WASI's errno for a call that does not exist. Guests take it as "not now" and use plain WASI where they can.
const ENOSYS: i32 = 52;

/// The answers of calls in the `wskill` module that do not return an errno.
const ANSWERS: [(&str, i32); 5] =
    [("abi_version", 1), ("getpid", 1), ("getppid", 0), ("sig_take", 0), ("umask", 0o022)];

/// Defines every `wskill` function the module imports; any other import that is still unknown traps when called.
pub fn add_to_linker<T: 'static>(linker: &mut Linker<T>, module: &Module) -> Result<()> {
    for import in module.imports().filter(|import| import.module() == "wskill") {
        let ExternType::Func(ty) = import.ty() else { continue };
        let answer = ANSWERS.iter().find(|(name, _)| *name == import.name()).map_or(ENOSYS, |(_, answer)| *answer);
        linker.func_new("wskill", import.name(), ty, move |_, _, results| {
            for result in results {
                *result = Val::I32(answer);
            }
            Ok(())
        })?;
    }
    linker.define_unknown_imports_as_traps(module)
}
