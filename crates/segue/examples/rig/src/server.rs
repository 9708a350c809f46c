//! A scripted server that speaks enough of OpenAI's chat completions, on loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use anyhow::Context as _;
use serde_json::{Value, json};

/// A server that answers requests from a script, in order, and stops when it is through.
pub(crate) struct Server {
    /// What a client is given as its base address.
    pub(crate) address: String,
    answering: JoinHandle<anyhow::Result<Vec<Value>>>,
}

impl Server {
    /// Starts it on a port of the system's choice.
    pub(crate) fn start(script: Vec<Value>) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = format!("http://{}/v1", listener.local_addr()?);
        let answering = std::thread::spawn(move || {
            script.into_iter().map(|answer| answer_one(listener.accept()?.0, &answer)).collect()
        });
        Ok(Self { address, answering })
    }

    /// Waits until it is through; the requests that it got.
    pub(crate) fn finish(self) -> anyhow::Result<Vec<Value>> {
        self.answering.join().ok().context("the server panicked")?
    }
}

/// One answer of a model: what it says, and the calls it makes as (id, tool, arguments).
pub(crate) fn answer(tokens: u64, says: &str, calls: &[(&str, &str, &str)]) -> Value {
    let call = |(id, name, arguments): &(&str, &str, &str)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let mut message = json!({"role": "assistant", "content": says});
    if let (false, Some(message)) = (calls.is_empty(), message.as_object_mut()) {
        message.insert("tool_calls".to_owned(), calls.iter().map(call).collect());
    }
    let finish_reason = if calls.is_empty() { "stop" } else { "tool_calls" };
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_767_225_600, "model": "scripted-1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": tokens, "completion_tokens": 9, "total_tokens": tokens + 9},
    })
}

fn answer_one(stream: TcpStream, answer: &Value) -> anyhow::Result<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let answer = answer.to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
    write!(reader.get_mut(), "{head}content-length: {}\r\n\r\n{answer}", answer.len())?;
    Ok(serde_json::from_slice(&body)?)
}
