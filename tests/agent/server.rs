//! An HTTP server on loopback that speaks the chat completions API from a script, well or badly.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// What was asked.
#[derive(Clone, Debug)]
pub struct Request {
    /// Method and path.
    pub target: String,
    /// By their names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Value,
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

    pub fn wait(mut self, milliseconds: u64) -> Self {
        self.0.push(Step::Wait(Duration::from_millis(milliseconds)));
        self
    }

    /// A status with headers and a body of a known length.
    pub fn status(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let head = format!("HTTP/1.1 {status} x\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n");
        Self::raw(head).then(body)
    }

    /// JSON with a status.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::status(status, &[("content-type", "application/json")], body.to_string())
    }

    /// An error as the API has it.
    pub fn error(status: u16, message: &str, code: &str) -> Self {
        let kind = "invalid_request_error";
        Self::json(status, &json!({"error": {"message": message, "type": kind, "param": null, "code": code}}))
    }

    /// The beginning of a stream; what follows must be [`piece`](Self::piece)s.
    pub fn stream() -> Self {
        Self::raw(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\
             connection: close\r\n\r\n",
        )
    }

    /// Bytes of a stream, in one chunk of HTTP.
    pub fn piece(self, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        self.then(chunk)
    }

    /// A chunk of the API.
    pub fn data(self, chunk: &Value) -> Self {
        self.piece(format!("data: {chunk}\n\n"))
    }

    /// The end of a stream, as it should be.
    pub fn done(self) -> Self {
        self.piece("data: [DONE]\n\n").end()
    }

    /// The end of a stream as HTTP has it.
    pub fn end(self) -> Self {
        self.then("0\r\n\r\n")
    }

    /// A good stream.
    pub fn chunks(chunks: &[Value]) -> Self {
        chunks.iter().fold(Self::stream(), Self::data).done()
    }

    /// A good stream that says `text`.
    pub fn says(text: &str) -> Self {
        Self::chunks(&[delta(json!({"role": "assistant", "content": text})), finish("stop")])
    }

    /// A good stream that calls tools, given by id, name and arguments.
    pub fn calls(calls: &[(&str, &str, &str)]) -> Self {
        let mut chunks = Vec::new();
        for (index, (id, name, arguments)) in calls.iter().enumerate() {
            let function = json!({"name": name, "arguments": ""});
            chunks.push(call(json!({"index": index, "id": id, "type": "function", "function": function})));
            for piece in pieces(arguments, 3) {
                chunks.push(call(json!({"index": index, "function": {"arguments": piece}})));
            }
        }
        chunks.push(finish("tool_calls"));
        Self::chunks(&chunks)
    }
}

/// A chunk with a choice.
pub fn choice(choice: Value) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_764_500_000, "model": "test-model",
        "choices": [choice],
    })
}

pub fn delta(delta: Value) -> Value {
    choice(json!({"index": 0, "delta": delta, "finish_reason": null}))
}

pub fn text(text: &str) -> Value {
    delta(json!({"content": text}))
}

pub fn call(call: Value) -> Value {
    delta(json!({"tool_calls": [call]}))
}

pub fn finish(reason: &str) -> Value {
    choice(json!({"index": 0, "delta": {}, "finish_reason": reason}))
}

/// The last chunk, when the usage is asked for.
pub fn usage(prompt: u64, cached: u64, completion: u64) -> Value {
    let mut chunk = choice(Value::Null);
    chunk["choices"] = json!([]);
    chunk["usage"] = json!({
        "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    });
    chunk
}

/// Cuts a text every `size` characters.
pub fn pieces(text: &str, size: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(size).map(|piece| piece.iter().collect()).collect()
}

/// A server, which ends with the test's process.
pub struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Answers the first request with the first reply, and so on; those after the last get an error.
    pub fn start(replies: Vec<Reply>) -> Self {
        Self::serve(move |_, number| {
            let over = || Reply::error(418, "the script is over", "over");
            replies.get(number).cloned().unwrap_or_else(over)
        })
    }

    /// Answers each request with what `answer` makes of it and its number, from 0.
    pub fn serve(answer: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (answer, seen) = (Arc::new(answer), requests.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, seen) = (answer.clone(), seen.clone());
                thread::spawn(move || handle(stream, &*answer, &seen));
            }
        });
        Self { address, requests }
    }

    /// The base URL.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// The messages of a request.
    pub fn messages(&self, number: usize) -> Vec<Value> {
        self.requests()[number].body["messages"].as_array().unwrap().clone()
    }
}

fn handle(mut stream: TcpStream, answer: &dyn Fn(&Request, usize) -> Reply, seen: &Mutex<Vec<Request>>) {
    // Pieces are meant to arrive as pieces.
    stream.set_nodelay(true).unwrap();
    let Some(request) = read(&stream) else { return };
    let number = {
        let mut seen = seen.lock().unwrap();
        seen.push(request.clone());
        seen.len() - 1
    };
    for step in answer(&request, number).0 {
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
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.read(&mut [0; 64]);
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = || {
        let mut text = String::new();
        reader.read_line(&mut text).ok().filter(|length| *length > 0)?;
        Some(text.trim_end().to_owned())
    };
    let first = line()?;
    let target = first.rsplit_once(' ')?.0.to_owned();
    let mut headers = BTreeMap::new();
    while let Some(header) = line().filter(|line| !line.is_empty()) {
        let (name, value) = header.split_once(':')?;
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Some(Request { target, headers, body })
}
