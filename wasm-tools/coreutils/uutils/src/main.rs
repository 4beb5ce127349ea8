//! The uutils coreutils that build for WASI as they are, as one module.
//!
//! What needs modes, owners, links or processes is in the module `coreutils`.

use std::ffi::OsString;

use wskill_sys::multicall;

/// A uutils entry point: arguments with argv[0]; the answer is the exit status.
type Main = fn(std::vec::IntoIter<OsString>) -> i32;

/// Every command of this module with its function.
const COMMANDS: &[(&str, Main)] = &[
    ("b2sum", uu_b2sum::uumain),
    ("base32", uu_base32::uumain),
    ("base64", uu_base64::uumain),
    ("basenc", uu_basenc::uumain),
    ("cksum", uu_cksum::uumain),
    ("comm", uu_comm::uumain),
    ("csplit", uu_csplit::uumain),
    ("cut", uu_cut::uumain),
    ("date", uu_date::uumain),
    ("dd", uu_dd::uumain),
    ("dircolors", uu_dircolors::uumain),
    ("expand", uu_expand::uumain),
    ("expr", uu_expr::uumain),
    ("factor", uu_factor::uumain),
    ("fmt", uu_fmt::uumain),
    ("fold", uu_fold::uumain),
    ("head", uu_head::uumain),
    ("join", uu_join::uumain),
    ("link", uu_link::uumain),
    ("ln", uu_ln::uumain),
    ("md5sum", uu_md5sum::uumain),
    ("nl", uu_nl::uumain),
    ("numfmt", uu_numfmt::uumain),
    ("od", uu_od::uumain),
    ("paste", uu_paste::uumain),
    ("pathchk", uu_pathchk::uumain),
    ("pr", uu_pr::uumain),
    ("printf", uu_printf::uumain),
    ("ptx", uu_ptx::uumain),
    ("readlink", uu_readlink::uumain),
    ("realpath", uu_realpath::uumain),
    ("rm", uu_rm::uumain),
    ("rmdir", uu_rmdir::uumain),
    ("seq", uu_seq::uumain),
    ("sha1sum", uu_sha1sum::uumain),
    ("sha224sum", uu_sha224sum::uumain),
    ("sha256sum", uu_sha256sum::uumain),
    ("sha384sum", uu_sha384sum::uumain),
    ("sha512sum", uu_sha512sum::uumain),
    ("shred", uu_shred::uumain),
    ("shuf", uu_shuf::uumain),
    ("sort", uu_sort::uumain),
    ("split", uu_split::uumain),
    ("sum", uu_sum::uumain),
    ("tail", uu_tail::uumain),
    ("tee", uu_tee::uumain),
    ("touch", uu_touch::uumain),
    ("tr", uu_tr::uumain),
    ("truncate", uu_truncate::uumain),
    ("tsort", uu_tsort::uumain),
    ("unexpand", uu_unexpand::uumain),
    ("uniq", uu_uniq::uumain),
    ("unlink", uu_unlink::uumain),
    ("wc", uu_wc::uumain),
    ("yes", uu_yes::uumain),
];

fn main() {
    let names = COMMANDS.iter().map(|command| command.0);
    std::process::exit(multicall::start("uutils", names, run));
}

fn run(name: &str, args: Vec<OsString>) -> i32 {
    let Some((_, command)) = COMMANDS.iter().find(|command| command.0 == name) else { return 127 };
    let argv: Vec<OsString> = std::iter::once(OsString::from(name)).chain(args).collect();
    let status = command(argv.into_iter());
    // What is left in std's buffer; a failure here has no better place to go than the status.
    match std::io::Write::flush(&mut std::io::stdout()) {
        Err(_) if status == 0 => 1,
        _ => status,
    }
}
