//! An HTTP server on loopback that does what a test wants, well or badly.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What was asked.
#[derive(Clone, Debug)]
pub struct Request {
    pub target: String,
    /// By their names in lower case.
    pub headers: HashMap<String, String>,
}

/// What is sent, in this order; then the connection is closed.
#[derive(Clone, Default)]
pub struct Reply(Vec<Step>);

#[derive(Clone)]
enum Step {
    Send(Vec<u8>),
    Wait(Duration),
}

impl Reply {
    /// Bytes as they are.
    pub fn raw(bytes: impl AsRef<[u8]>) -> Self {
        Self::default().then(bytes)
    }

    pub fn then(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.0.push(Step::Send(bytes.as_ref().to_vec()));
        self
    }

    pub fn wait(mut self, time: Duration) -> Self {
        self.0.push(Step::Wait(time));
        self
    }

    /// A status with headers, without a body.
    pub fn status(status: u16, headers: &[(&str, &str)]) -> Self {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        Self::raw(format!("HTTP/1.1 {status} x\r\n{headers}content-length: 0\r\nconnection: close\r\n\r\n"))
    }

    /// A good answer.
    pub fn ok(body: &[u8]) -> Self {
        Self::with(body, &[])
    }

    /// A good answer with more headers.
    pub fn with(body: &[u8], headers: &[(&str, &str)]) -> Self {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        Self::raw(format!("HTTP/1.1 200 OK\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n"))
            .then(body)
    }
}

/// A server, which ends with the test's process.
pub struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    pub fn start(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (answer, seen) = (Arc::new(answer), requests.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, seen) = (answer.clone(), seen.clone());
                thread::spawn(move || serve(stream, &*answer, &seen));
            }
        });
        Self { address, requests }
    }

    /// One that gives every path the same.
    pub fn fixed(reply: Reply) -> Self {
        Self::start(move |_| reply.clone())
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    pub fn count(&self) -> usize {
        self.requests().len()
    }
}

fn serve(stream: TcpStream, answer: &dyn Fn(&Request) -> Reply, seen: &Mutex<Vec<Request>>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    let target = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let headers = lines.take_while(|line| !line.is_empty()).filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    });
    let request = Request { target, headers: headers.collect() };
    seen.lock().unwrap().push(request.clone());
    let mut stream = stream;
    for step in answer(&request).0 {
        match step {
            Step::Send(bytes) => {
                if stream.write_all(&bytes).is_err() {
                    return;
                }
            }
            Step::Wait(time) => thread::sleep(time),
        }
    }
    // Whatever the client still sends is read, so that closing does not reset what was sent.
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let _ = stream.read(&mut [0; 64]);
}
