//! Runs a pipeline in a sandbox: `cargo run --release --example minimal`.

use wskill::{Limits, Mount, Sandbox};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(async {
        let sandbox = Sandbox::builder()
            .mount(Mount::new("skills/python-math", "/skill"))
            .limits(Limits { processes: 16, ..Limits::default() })
            .cwd("/skill")
            .build()?;
        let outcome = sandbox.run(["bash", "-c", "python3 scripts/fib.py 20 | sort -rn | head -3"]).await?;
        print!("{}", String::from_utf8_lossy(&outcome.stdout));
        eprintln!("exit {}, {:?}, {} processes", outcome.exit_code, outcome.duration, outcome.processes);
        Ok(())
    })
}
