//! The names of awk's own functions.

macro_rules! builtins {
    ($($variant:ident $name:literal $least:literal $most:literal;)*) => {
        /// A function of awk.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the names are awk's")]
        pub enum Builtin {
            $($variant,)*
        }

        impl Builtin {
            /// The function with this name.
            pub fn by_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Builtin::$variant),)*
                    _ => None,
                }
            }

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Builtin::$variant => $name,)*
                }
            }

            /// The least and the most arguments it takes.
            pub fn arity(self) -> (usize, usize) {
                match self {
                    $(Builtin::$variant => ($least, $most),)*
                }
            }
        }
    };
}

builtins! {
    Length "length" 0 1;
    Substr "substr" 2 3;
    Index "index" 2 2;
    Split "split" 2 4;
    Sub "sub" 2 3;
    Gsub "gsub" 2 3;
    Match "match" 2 3;
    Sprintf "sprintf" 1 1000;
    Sin "sin" 1 1;
    Cos "cos" 1 1;
    Atan2 "atan2" 2 2;
    Exp "exp" 1 1;
    Log "log" 1 1;
    Sqrt "sqrt" 1 1;
    Int "int" 1 1;
    Rand "rand" 0 0;
    Srand "srand" 0 1;
    Tolower "tolower" 1 1;
    Toupper "toupper" 1 1;
    System "system" 1 1;
    Close "close" 1 2;
    Fflush "fflush" 0 1;
    Gensub "gensub" 3 4;
    Strftime "strftime" 0 3;
    Systime "systime" 0 0;
    Mktime "mktime" 1 2;
    Asort "asort" 1 3;
    Asorti "asorti" 1 3;
    Patsplit "patsplit" 2 4;
    Strtonum "strtonum" 1 1;
    And "and" 2 1000;
    Or "or" 2 1000;
    Xor "xor" 2 1000;
    Lshift "lshift" 2 2;
    Rshift "rshift" 2 2;
    Compl "compl" 1 1;
    Typeof "typeof" 1 2;
    Isarray "isarray" 1 1;
    Mkbool "mkbool" 1 1;
}
