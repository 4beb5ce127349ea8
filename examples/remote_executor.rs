//! An executor whose workspaces live in another process: `cargo run --release --example remote_executor`.
//!
//! The example starts itself once more as the server (`remote_executor serve 127.0.0.1:0`), which could as well be on
//! another machine, and shows what such an executor does:
//!
//! - A tree moves as one tar: a skill on its way there, a workspace's files on their way back after each run, and there
//!   again when the server has lost the workspace.
//! - A workspace that has vanished is made again before the call that misses it is made once more. A command that has
//!   begun is never repeated.
//! - A connection that closes ends what runs on it.
//! - Sizes that the other side names are bounded, and its paths lead nowhere out of a folder.
//!
//! What a command writes that is dropped or cut off by a broken connection comes back with the next run. A real
//! executor would also tell who is there and encrypt what is said, bound how many connections there are, and send less
//! than the whole tree.

#[path = "remote_executor/client.rs"]
mod client;
#[path = "remote_executor/running.rs"]
mod running;
#[path = "remote_executor/server.rs"]
mod server;
#[path = "remote_executor/tree.rs"]
mod tree;
#[path = "remote_executor/wire.rs"]
mod wire;

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Stdio};

use wskill::executor::{Command, Executor};

pub use client::RemoteExecutor;
pub use server::Server;

type Error = Box<dyn std::error::Error>;

#[allow(dead_code, reason = "a test has this file as a module")]
#[tokio::main]
async fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => show().await,
        ["serve", address] => serve(address.parse()?).await,
        _ => Err("usage: remote_executor [serve ADDRESS:PORT]".into()),
    }
}

/// Serves until standard input ends, which it does with the process that has started this one.
async fn serve(address: SocketAddr) -> Result<(), Error> {
    let server = Server::start(address).await?;
    println!("{}", server.address());
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    server.stop().await;
    Ok(())
}

async fn show() -> Result<(), Error> {
    let (server, address) = start_server("127.0.0.1:0")?;
    let executor = RemoteExecutor::new(address);
    let workspace = executor.open("ws_example").await?;
    workspace.write("work/inputs/name.txt", b"world", 0o644).await?;
    let argv = ["bash", "-c", "echo hello $(cat inputs/name.txt) | tee ../out/hello.txt"].map(str::to_owned).to_vec();
    let outcome = workspace.run(Command { argv, cwd: "work".into(), ..Command::default() }).await?;
    print!("{}", String::from_utf8_lossy(&outcome.stdout));

    // Another server takes the place of this one, and has no workspaces.
    stop_server(server)?;
    let (server, _) = start_server(&address.to_string())?;
    let found = workspace.read("out/hello.txt", 0, 100).await?;
    print!("from a workspace that was made again: {}", String::from_utf8_lossy(&found));
    stop_server(server)
}

/// Starts this program as a server, and answers where it listens.
fn start_server(address: &str) -> Result<(Child, SocketAddr), Error> {
    let mut command = std::process::Command::new(std::env::current_exe()?);
    let mut server = command.args(["serve", address]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let output = server.stdout.take().ok_or("the server has no output")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    let address = line.trim().parse().map_err(|_| "the server could not start")?;
    Ok((server, address))
}

fn stop_server(mut server: Child) -> Result<(), Error> {
    drop(server.stdin.take());
    let status = server.wait()?;
    if status.success() { Ok(()) } else { Err(format!("the server has ended with {status}").into()) }
}
