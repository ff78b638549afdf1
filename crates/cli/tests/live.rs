//! `tune --live`: the report of a run in a browser, over real sockets.

mod common;

use common::Folder;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, ChildStderr, Stdio};

/// A run of a command lasts: each of its launches takes a few milliseconds.
const PROBLEM: &str = r#"
[parameters]
X = { range = "1..=2000" }

[kernel]
command = ["true", "{X}"]
"#;

/// A run that lasts until it is ended.
struct Served {
    child: Child,
    /// Kept open: the run goes on to write there.
    _stderr: BufReader<ChildStderr>,
    port: u16,
}

impl Served {
    fn start(folder: &Folder) -> Self {
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

    fn get(&self, path: &str, host: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }

    /// Returns a reply, or `None` if the server is gone.
    fn try_get(&self, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).ok()?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.own()).ok()?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply).ok()?;
        Some(reply)
    }

    fn own(&self) -> String {
        format!("localhost:{}", self.port)
    }

    fn revision(&self) -> u64 {
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

#[test]
fn the_report_of_a_run_is_served_refreshed_and_gone_with_the_run() {
    let folder = Folder::with(&[("p.toml", PROBLEM)]);
    let mut served = Served::start(&folder);
    // Reports are drawn because somebody asks.
    while served.revision() < 1 {}
    let page = served.get("/", &served.own());
    assert!(page.starts_with("HTTP/1.1 200 OK") && page.contains("p.jsonl"), "{}", &page[..page.len().min(500)]);
    assert!(page.contains("location.reload()"));
    assert!(served.get("/", "evil.example").starts_with("HTTP/1.1 403"));
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(served.child.id() as i32), nix::sys::signal::SIGINT).unwrap();
    // A browser that asks on gets the last page, unless it is slow beyond the patience of the run.
    while let Some(state) = served.try_get("/state") {
        if state.contains("\"running\": false") {
            let last = served.try_get("/").unwrap_or_default();
            assert!(last.is_empty() || last.contains("p.jsonl"), "{last}");
            break;
        }
    }
    assert_eq!(served.child.wait().unwrap().code(), Some(130));
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, served.port)).is_err());
}

#[test]
fn a_busy_port_is_refused_before_anything_is_measured() {
    let folder = Folder::with(&[("p.toml", PROBLEM)]);
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ran = folder.run(&["tune", "p.toml", "--live", &port]);
    ran.refused(&[&format!("port {port} is in use"), "0 for one that is free"]);
    assert!(!folder.path("p.jsonl").exists());
    folder.run(&["tune", "p.toml", "--live", "0", "--inputs"]).refused(&["--live", "--inputs"]);
    folder.run(&["tune", "p.toml", "--live", "99999"]).refused(&["99999"]);
}
