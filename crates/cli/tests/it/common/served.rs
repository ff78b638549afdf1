//! A run whose report is served while it lasts.

use super::Folder;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, ChildStderr, Stdio};

/// A run of a command lasts: each of its launches takes a few milliseconds.
pub const PROBLEM: &str = r#"
[parameters]
X = { range = "1..=2000" }
Y = [1, 2, 4]

[kernel]
command = ["true", "{X}", "{Y}"]
"#;

/// A run that lasts until it is ended.
pub struct Served {
    pub child: Child,
    /// Kept open: the run goes on to write there.
    _stderr: BufReader<ChildStderr>,
    pub port: u16,
}

impl Served {
    pub fn start(folder: &Folder) -> Self {
        let arguments = ["tune", "p.toml", "--strategy", "random"];
        let more = ["--stop", "time 600s", "--quiet", "--live", "0"];
        let mut command = folder.command(&[&arguments[..], &more].concat());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("http://") {
            line.clear();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "no address was told");
        }
        let port = line.split("127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next()).unwrap();
        Self { port: port.parse().unwrap(), child, _stderr: stderr }
    }

    pub fn get(&self, path: &str, host: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }

    /// Returns a reply, or `None` if the server is gone.
    pub fn try_get(&self, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).ok()?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.own()).ok()?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply).ok()?;
        Some(reply)
    }

    pub fn own(&self) -> String {
        format!("localhost:{}", self.port)
    }

    pub fn revision(&self) -> u64 {
        let state = self.get("/state", &self.own());
        let json: serde_json::Value = serde_json::from_str(state.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        json["revision"].as_u64().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
