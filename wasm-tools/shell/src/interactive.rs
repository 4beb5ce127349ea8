//! An interactive shell without a terminal: prompts, and lines that are shown as they are read.
//!
//! Decision: `-i` works as far as it does for GNU bash without a terminal, which says that there is no job control and
//! goes on. Line editing, history and completion want a terminal.

use crate::os;
use crate::shell::{Run, Shell, Unwind};
use crate::state::vars::{Value, Var};
use std::cell::RefCell;
use std::rc::Rc;

/// What stands before the lines of the next command. The shell knows the texts, the reader of lines writes them.
#[derive(Default)]
pub struct Prompts {
    pub first: Vec<u8>,
    pub next: Vec<u8>,
    /// The next line begins a command.
    pub fresh: bool,
    /// Lines are shown, as an editor of lines does.
    pub echo: bool,
}

impl Prompts {
    /// Shows the prompt of the line that is about to be read.
    pub fn show(&mut self) {
        let text = if std::mem::take(&mut self.fresh) {
            &self.first
        } else {
            &self.next
        };
        os::write_error(text);
    }
}

impl Shell {
    /// `-i`: what scripts and start files can see of it.
    pub fn start_interactive(&mut self) {
        self.interactive = true;
        self.set_option(b"histexpand", true);
        Rc::make_mut(&mut self.st.shopts).expand_aliases = true;
        for (name, text) in [("PS1", &b"\\s-\\v\\$ "[..]), ("PS2", b"> ")] {
            if self.get_scalar(name.as_bytes()).is_none() {
                let var = Rc::new(Var::scalar(text));
                Rc::make_mut(&mut self.st.vars).insert(Rc::from(name.as_bytes()), var);
            }
        }
        self.say_no_job_control();
        self.sync_signals();
    }

    /// What bash says where jobs are to be controlled and there is no terminal.
    pub fn say_no_job_control(&mut self) {
        let group = os::getpid();
        let text = format!("bash: cannot set terminal process group ({group}): Inappropriate ioctl for device\n");
        self.write_stderr(text.as_bytes());
        self.write_stderr(b"bash: no job control in this shell\n");
    }

    /// Commands from standard input get prompts.
    pub fn use_prompts(&mut self, echo: bool) -> Rc<RefCell<Prompts>> {
        let prompts = Rc::new(RefCell::new(Prompts {
            echo,
            ..Prompts::default()
        }));
        self.prompts = Some(prompts.clone());
        prompts
    }

    /// Works the prompts of the next command out, after PROMPT_COMMAND.
    pub fn prepare_prompts(&mut self) -> Run<()> {
        let Some(prompts) = self.prompts.clone() else {
            return Ok(());
        };
        let commands: Vec<Vec<u8>> = match self.get_var(b"PROMPT_COMMAND").map(|var| var.value.clone()) {
            Some(Value::Scalar(text)) => vec![text],
            Some(Value::Indexed(list, _)) => list.into_iter().map(|(_, text)| text).collect(),
            _ => Vec::new(),
        };
        for text in commands {
            let status = self.st.status;
            match self.run_text(text, 1, self.st.source.clone()) {
                Ok(_) | Err(Unwind::Discard(_)) => {}
                Err(unwind) => return Err(unwind),
            }
            self.st.status = status;
        }
        let mut shown = |name: &[u8]| {
            let text = self.get_scalar(name).unwrap_or_default();
            self.expand_prompt(&text).unwrap_or(text)
        };
        let (first, next) = (shown(b"PS1"), shown(b"PS2"));
        self.flush_out();
        let mut prompts = prompts.borrow_mut();
        prompts.first = first;
        prompts.next = next;
        prompts.fresh = true;
        Ok(())
    }

    /// PS0, once a command has been read.
    pub fn show_ps0(&mut self) {
        if self.prompts.is_some()
            && let Some(text) = self.get_scalar(b"PS0")
            && let Ok(text) = self.expand_prompt(&text)
        {
            self.write_stderr(&text);
        }
    }

    /// An interactive shell says that it ends.
    pub fn say_exit(&mut self) {
        if self.interactive && self.st.subshell == 0 {
            self.flush_out();
            let login = self.st.shopts.login_shell;
            self.write_stderr(if login { b"logout\n" } else { b"exit\n" });
        }
    }
}
