//! Defining and calling functions, and reading sourced files.

use crate::ast::FunctionDef;
use crate::shell::{Run, Shell, Unwind};
use crate::state::{Call, Function, ScopeKind};
use std::rc::Rc;

impl Shell {
    /// `name () …`
    #[inline(never)]
    pub fn define_function(&mut self, def: &Rc<FunctionDef>) -> Run<i32> {
        if let Some(old) = self.st.functions.get(def.name.as_slice())
            && old.readonly
        {
            self.error_bytes(&[def.name.as_slice(), b": readonly function"].concat());
            return Ok(1);
        }
        let posix = self.st.opts.posix;
        let quoted = def.name.iter().any(|c| matches!(c, b'$' | b'`' | b'"' | b'\'' | b'\\'));
        if quoted || posix && !crate::parse::is_name(&def.name) {
            self.error_bytes(&[b"`", def.name.as_slice(), b"': not a valid identifier"].concat());
            return if posix { Err(Unwind::Exit(2)) } else { Ok(1) };
        }
        if posix && crate::builtins::find(&def.name).is_some_and(|b| b.special) {
            self.error_bytes(&[b"`", def.name.as_slice(), b"': is a special builtin"].concat());
            return Err(Unwind::Exit(2));
        }
        let exported = self.st.functions.get(def.name.as_slice()).is_some_and(|f| f.exported);
        let function = Function {
            def: def.clone(),
            exported: exported || self.st.opts.allexport,
            readonly: false,
            trace: false,
        };
        if function.exported {
            self.env_cache = None;
        }
        Rc::make_mut(&mut self.st.functions).insert(def.name.as_slice().into(), function);
        Ok(0)
    }

    /// Calls a function; `argv[0]` is its name.
    #[inline(never)]
    pub fn call_function(&mut self, def: &Rc<FunctionDef>, mut argv: Vec<Vec<u8>>) -> Run<i32> {
        if let Some(limit) = self.get_scalar(b"FUNCNEST").and_then(|v| crate::arith::integer(&v)) {
            let depth = self.st.calls.iter().filter(|c| c.function).count() as i64;
            if limit > 0 && depth >= limit {
                let name = String::from_utf8_lossy(&def.name).into_owned();
                self.error(&format!("{name}: maximum function nesting level exceeded ({limit})"));
                return Err(Unwind::Discard(1));
            }
        }
        let name = argv.remove(0);
        let positional = std::mem::replace(&mut self.st.positional, Rc::new(argv.into()));
        let args = self.st.shopts.extdebug.then(|| Rc::new(self.st.positional.to_vec()));
        let call = Call {
            name: name.into(),
            source: def.source.clone(),
            line: self.st.line,
            function: true,
            args,
        };
        let source = std::mem::replace(&mut self.st.source, def.source.clone());
        let line = self.st.line;
        self.st.calls.push(call);
        self.push_scope(ScopeKind::Function);
        let loops = std::mem::replace(&mut self.st.loops, 0);
        // DEBUG, ERR and RETURN traps stay outside unless traced.
        let masked = self.mask_traps(&def.name);
        self.st.line = def.line;
        let mut result = Ok(0);
        let mut enter = true;
        if self.wants_command_text() && masked.is_none() {
            self.st.command_text = def.name.as_slice().into();
            match self.run_debug_trap() {
                Ok(false) => enter = false,
                Ok(true) => {}
                Err(unwind) => result = Err(unwind),
            }
        }
        if enter && result.is_ok() {
            result = self.run_command(&def.body);
        }
        let result = self.returned(result);
        self.unmask_traps(masked);
        self.st.loops = loops;
        self.pop_scope();
        self.st.calls.pop();
        self.st.source = source;
        self.st.positional = positional;
        self.st.line = line;
        result
    }

    /// Runs the text of a file in this environment, as `source` does.
    pub fn run_sourced(&mut self, name: &[u8], text: Vec<u8>, args: Option<Vec<Vec<u8>>>) -> Run<i32> {
        let extdebug_args = self.st.shopts.extdebug.then(|| match &args {
            Some(args) => Rc::new(args.clone()),
            None => Rc::new(vec![name.to_vec()]),
        });
        let saved = args.map(|args| std::mem::replace(&mut self.st.positional, Rc::new(args.into())));
        let call = Call {
            name: Rc::from(&b"source"[..]),
            source: name.into(),
            line: self.st.line,
            function: false,
            args: extdebug_args,
        };
        let source = std::mem::replace(&mut self.st.source, name.into());
        let line = self.st.line;
        self.st.calls.push(call);
        let loops = std::mem::replace(&mut self.st.loops, 0);
        let masked = self.mask_debug_for_source();
        let result = self.run_text(text, 1, name.into());
        // The trap RETURN runs where the file was read.
        self.st.calls.pop();
        self.st.source = source;
        let result = self.returned(result);
        self.unmask_traps(masked);
        self.st.loops = loops;
        self.st.line = line;
        // `set --` inside a sourced file stays unless arguments were given.
        if let Some(saved) = saved {
            self.st.positional = saved;
        }
        result
    }

    /// The end of a function or sourced file: `return` ends here, and the RETURN trap runs.
    fn returned(&mut self, result: Run<i32>) -> Run<i32> {
        let status = match result {
            Ok(status) | Err(Unwind::Return(status)) => status,
            other => return other,
        };
        // The trap sees the status of the command before `return`.
        self.run_return_trap()?;
        self.st.status = status;
        Ok(status)
    }
}
