//! The options of `set -o` and of `shopt`.

use serde::{Deserialize, Serialize};

macro_rules! options {
    ($(#[$doc:meta])* $type:ident, $table:ident, $($field:ident $name:literal $letter:literal $default:literal;)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        pub struct $type { $(pub $field: bool,)* }

        impl Default for $type {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        /// Names with their letters (0: none), sorted by name.
        pub const $table: &[(&str, u8)] = &[$(($name, $letter),)*];

        impl $type {
            /// The option of that name.
            pub fn by_name(&mut self, name: &[u8]) -> Option<&mut bool> {
                $(if name == $name.as_bytes() { return Some(&mut self.$field); })*
                None
            }

            /// Its current value.
            pub fn is_set(&self, name: &[u8]) -> Option<bool> {
                $(if name == $name.as_bytes() { return Some(self.$field); })*
                None
            }
        }
    };
}

options! {
    /// `set -o`.
    SetOptions, SET_OPTIONS,
    allexport "allexport" b'a' false;
    braceexpand "braceexpand" b'B' true;
    emacs "emacs" 0 false;
    errexit "errexit" b'e' false;
    errtrace "errtrace" b'E' false;
    functrace "functrace" b'T' false;
    hashall "hashall" b'h' true;
    histexpand "histexpand" b'H' false;
    history "history" 0 false;
    ignoreeof "ignoreeof" 0 false;
    interactive_comments "interactive-comments" 0 true;
    keyword "keyword" b'k' false;
    monitor "monitor" b'm' false;
    noclobber "noclobber" b'C' false;
    noexec "noexec" b'n' false;
    noglob "noglob" b'f' false;
    nolog "nolog" 0 false;
    notify "notify" b'b' false;
    nounset "nounset" b'u' false;
    onecmd "onecmd" b't' false;
    physical "physical" b'P' false;
    pipefail "pipefail" 0 false;
    posix "posix" 0 false;
    privileged "privileged" b'p' false;
    verbose "verbose" b'v' false;
    vi "vi" 0 false;
    xtrace "xtrace" b'x' false;
}

options! {
    /// `shopt`.
    Shopts, SHOPTS,
    assoc_expand_once "assoc_expand_once" 0 false;
    autocd "autocd" 0 false;
    cdable_vars "cdable_vars" 0 false;
    cdspell "cdspell" 0 false;
    checkhash "checkhash" 0 false;
    checkjobs "checkjobs" 0 false;
    checkwinsize "checkwinsize" 0 true;
    cmdhist "cmdhist" 0 true;
    compat31 "compat31" 0 false;
    compat32 "compat32" 0 false;
    compat40 "compat40" 0 false;
    compat41 "compat41" 0 false;
    compat42 "compat42" 0 false;
    compat43 "compat43" 0 false;
    compat44 "compat44" 0 false;
    complete_fullquote "complete_fullquote" 0 true;
    direxpand "direxpand" 0 false;
    dirspell "dirspell" 0 false;
    dotglob "dotglob" 0 false;
    execfail "execfail" 0 false;
    expand_aliases "expand_aliases" 0 false;
    extdebug "extdebug" 0 false;
    extglob "extglob" 0 false;
    extquote "extquote" 0 true;
    failglob "failglob" 0 false;
    force_fignore "force_fignore" 0 true;
    globasciiranges "globasciiranges" 0 true;
    globskipdots "globskipdots" 0 true;
    globstar "globstar" 0 false;
    gnu_errfmt "gnu_errfmt" 0 false;
    histappend "histappend" 0 false;
    histreedit "histreedit" 0 false;
    histverify "histverify" 0 false;
    hostcomplete "hostcomplete" 0 true;
    huponexit "huponexit" 0 false;
    inherit_errexit "inherit_errexit" 0 false;
    interactive_comments "interactive_comments" 0 true;
    lastpipe "lastpipe" 0 false;
    lithist "lithist" 0 false;
    localvar_inherit "localvar_inherit" 0 false;
    localvar_unset "localvar_unset" 0 false;
    login_shell "login_shell" 0 false;
    mailwarn "mailwarn" 0 false;
    no_empty_cmd_completion "no_empty_cmd_completion" 0 false;
    nocaseglob "nocaseglob" 0 false;
    nocasematch "nocasematch" 0 false;
    noexpand_translation "noexpand_translation" 0 false;
    nullglob "nullglob" 0 false;
    patsub_replacement "patsub_replacement" 0 true;
    progcomp "progcomp" 0 true;
    progcomp_alias "progcomp_alias" 0 false;
    promptvars "promptvars" 0 true;
    restricted_shell "restricted_shell" 0 false;
    shift_verbose "shift_verbose" 0 false;
    sourcepath "sourcepath" 0 true;
    syslog_history "syslog_history" 0 false;
    varredir_close "varredir_close" 0 false;
    xpg_echo "xpg_echo" 0 false;
}

impl SetOptions {
    /// The letters of `$-`, without those of the invocation.
    pub fn letters(&self) -> Vec<u8> {
        // bash lists them in the order of its own table.
        const ORDER: &[(u8, &str)] = &[
            (b'a', "allexport"),
            (b'b', "notify"),
            (b'e', "errexit"),
            (b'f', "noglob"),
            (b'h', "hashall"),
            (b'k', "keyword"),
            (b'm', "monitor"),
            (b'n', "noexec"),
            (b'p', "privileged"),
            (b't', "onecmd"),
            (b'u', "nounset"),
            (b'v', "verbose"),
            (b'x', "xtrace"),
            (b'B', "braceexpand"),
            (b'C', "noclobber"),
            (b'E', "errtrace"),
            (b'H', "histexpand"),
            (b'P', "physical"),
            (b'T', "functrace"),
        ];
        ORDER
            .iter()
            .filter(|(_, name)| self.is_set(name.as_bytes()) == Some(true))
            .map(|&(c, _)| c)
            .collect()
    }

    /// The name that belongs to a letter.
    pub fn name_of(letter: u8) -> Option<&'static str> {
        SET_OPTIONS
            .iter()
            .find(|&&(_, l)| l == letter && l != 0)
            .map(|&(name, _)| name)
    }
}
