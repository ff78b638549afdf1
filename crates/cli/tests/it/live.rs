//! `tune --live`: the report of a run in a browser, over real sockets.

use crate::common;

use common::Folder;
use common::served::{PROBLEM, Served};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

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
