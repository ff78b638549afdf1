//! Listens on this machine's own addresses and replies.

use super::page;
use super::request::{Content, MOST, Published, Reply, reply};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tunesmith::core::{Clock, Refusal, SystemClock};

/// Maximum number of connections at once. A browser opens six.
const CONNECTIONS: usize = 16;

/// Maximum time that a connection is waited for. Browsers open some in advance and send nothing.
const PATIENCE: Duration = Duration::from_secs(2);

/// Maximum number of pieces that a request comes in.
const PIECES: usize = 64;

/// A browser that asked within this time will ask again.
const WATCHING: Duration = Duration::from_secs(3);

/// A server of one page. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Live {
    shared: Arc<Shared>,
    listening: Vec<Listening>,
    port: u16,
}

#[derive(Debug)]
struct Listening {
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

/// The part of a server that its threads share.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Told when the last page was sent.
    sent: Condvar,
    connections: AtomicUsize,
    ended: AtomicBool,
    clock: SystemClock,
}

#[derive(Debug)]
struct State {
    published: Published,
    /// The time at which a browser asked last, unless a page was published since.
    wanted: Option<Duration>,
    /// The time at which a browser asked last.
    asked: Option<Duration>,
    /// The revision of the page that was sent last.
    sent: Option<u64>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live {
    /// Listens on `port` of 127.0.0.1 and, if this machine has it, of ::1. For 0, chooses a port that is
    /// free on both.
    ///
    /// # Errors
    /// The port is in use or may not be used, or the system gives no thread.
    pub(crate) fn open(port: u16) -> Result<Self, Refusal> {
        let listeners = listeners(port).map_err(|error| refusal(port, &error))?;
        let port = listeners[0].local_addr().map_err(|error| refusal(port, &error))?.port();
        let published = Published { revision: 0, page: page::waiting().into(), running: true };
        let shared = Arc::new(Shared {
            state: Mutex::new(State { published, wanted: None, asked: None, sent: None }),
            sent: Condvar::new(),
            connections: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            clock: SystemClock::new(),
        });
        let mut live = Self { listening: Vec::new(), shared, port };
        for listener in listeners {
            let (Ok(address), shared) = (listener.local_addr(), live.shared.clone()) else { continue };
            let thread = thread::Builder::new().spawn(move || listen(&listener, port, &shared));
            let thread = Some(thread.map_err(|error| no_thread(&error))?);
            live.listening.push(Listening { address, thread });
        }
        Ok(live)
    }

    /// Returns the address for a browser.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Returns true if a browser asked since the last page was published.
    pub(crate) fn is_wanted(&self) -> bool {
        self.shared.state().wanted.is_some()
    }

    /// Publishes a report. Browsers load it soon.
    pub(crate) fn publish(&self, report: &str) {
        self.replace(report, true);
    }

    /// Publishes the report of the finished run, and waits a little for the browsers that watch it.
    pub(crate) fn finish(&self, report: &str) {
        let revision = self.replace(report, false);
        let now = self.shared.clock.now();
        let state = self.shared.state();
        if state.asked.is_none_or(|asked| now.saturating_sub(asked) > WATCHING) {
            return;
        }
        let waits = |state: &mut State| state.sent != Some(revision);
        let waited = self.shared.sent.wait_timeout_while(state, WATCHING, waits);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn replace(&self, report: &str, running: bool) -> u64 {
        let mut state = self.shared.state();
        let revision = state.published.revision + 1;
        state.published = Published { revision, page: page::reloading(report, revision).into(), running };
        state.wanted = None;
        revision
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        for listening in &mut self.listening {
            // A connection wakes the thread.
            let woken = TcpStream::connect_timeout(&listening.address, PATIENCE).is_ok();
            if let Some(thread) = listening.thread.take().filter(|_| woken) {
                let _ = thread.join();
            }
        }
    }
}

fn refusal(port: u16, error: &io::Error) -> Refusal {
    let remedy = "name another port, or 0 for one that is free".to_string();
    match error.kind() {
        ErrorKind::AddrInUse => Refusal::new(format!("port {port} is in use by another program"), Some(remedy)),
        _ => Refusal::new(format!("cannot listen on port {port} of 127.0.0.1: {error}"), Some(remedy)),
    }
}

fn no_thread(error: &io::Error) -> Refusal {
    let remedy = "raise the limit of threads (`ulimit -u`), or tune without --live".to_string();
    Refusal::new(format!("no thread can be started for --live: {error}"), Some(remedy))
}

/// Number of ports that are tried for one that is free on both addresses.
const TRIES: usize = 20;

fn listeners(port: u16) -> io::Result<Vec<TcpListener>> {
    let mut tries = if port == 0 { TRIES } else { 1 };
    loop {
        let first = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        tries -= 1;
        match TcpListener::bind((Ipv6Addr::LOCALHOST, first.local_addr()?.port())) {
            Ok(second) => return Ok(vec![first, second]),
            Err(error) if error.kind() == ErrorKind::AddrInUse && tries > 0 => {}
            Err(error) if error.kind() == ErrorKind::AddrInUse => return Err(error),
            // This machine has no addresses of version 6.
            Err(_) => return Ok(vec![first]),
        }
    }
}

/// Accepts connections until the server ends.
fn listen(listener: &TcpListener, port: u16, shared: &Arc<Shared>) {
    while !shared.ended.load(Ordering::SeqCst) {
        let Ok((stream, _)) = listener.accept() else {
            // Too many open files, for example. They may be closed soon.
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        let Some(place) = Place::of(shared) else { continue };
        // A connection that breaks is its browser's loss, and so is one that the system gives no thread for.
        let _ = thread::Builder::new().spawn(move || converse(stream, port, &place.0));
    }
}

/// One connection of those that there may be. It is free again when this is dropped, also by a panic.
struct Place(Arc<Shared>);

impl Place {
    fn of(shared: &Arc<Shared>) -> Option<Self> {
        let place = Self(Arc::clone(shared));
        (shared.connections.fetch_add(1, Ordering::SeqCst) < CONNECTIONS).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Reads a request and replies.
fn converse(mut stream: TcpStream, port: u16, shared: &Shared) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let (mut head, mut piece) = (Vec::new(), [0; 4096]);
    for _ in 0..PIECES {
        let length = stream.read(&mut piece)?;
        if length == 0 {
            return Ok(());
        }
        head.extend(&piece[..length.min(MOST - head.len().min(MOST))]);
        let published = shared.state().published.clone();
        let Some(reply) = reply(&head, port, &published) else { continue };
        return send(&mut stream, &reply, shared);
    }
    Ok(())
}

/// Sends a reply, and remembers what was asked and sent.
fn send(stream: &mut TcpStream, reply: &Reply, shared: &Shared) -> io::Result<()> {
    if matches!(reply.content, Content::State(_) | Content::Page(..)) {
        let now = shared.clock.now();
        let mut state = shared.state();
        (state.wanted, state.asked) = (Some(now), Some(now));
    }
    let (head, body) = reply.bytes();
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    stream.flush()?;
    if let Content::Page(_, revision) = reply.content {
        shared.state().sent = Some(revision);
        shared.sent.notify_all();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Shutdown;

    /// Sends a request to the server and returns its reply.
    fn get(live: &Live, path: &str) -> String {
        let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", live.port);
        exchange(SocketAddr::from((Ipv4Addr::LOCALHOST, live.port)), request.as_bytes())
    }

    fn exchange(address: SocketAddr, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        // The server may close while a long request is sent.
        let _ = stream.write_all(request);
        let _ = stream.shutdown(Shutdown::Write);
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply);
        String::from_utf8(reply).unwrap()
    }

    #[test]
    fn a_page_is_served_on_both_addresses_and_replaced() {
        let live = Live::open(0).unwrap();
        assert!(get(&live, "/").contains("Nothing was measured yet"));
        live.publish("<body><p>first</p></body>");
        for listening in &live.listening {
            let host = if listening.address.is_ipv4() { "127.0.0.1" } else { "[::1]" };
            let request = format!("GET / HTTP/1.1\r\nHost: {host}:{}\r\n\r\n", live.port);
            assert!(exchange(listening.address, request.as_bytes()).contains("<p>first</p>"), "{host}");
            assert!(listening.address.ip().is_loopback());
        }
        assert!(get(&live, "/state").ends_with("{\"revision\": 1, \"running\": true}\n"));
        live.publish("<p>second</p>");
        assert!(get(&live, "/state").ends_with("{\"revision\": 2, \"running\": true}\n"));
        assert!(get(&live, "/").contains("<p>second</p>"));
    }

    #[test]
    fn a_page_is_wanted_once_somebody_asked_and_until_it_is_replaced() {
        let live = Live::open(0).unwrap();
        assert!(!live.is_wanted());
        get(&live, "/nowhere");
        assert!(!live.is_wanted());
        get(&live, "/state");
        assert!(live.is_wanted());
        live.publish("x");
        assert!(!live.is_wanted());
    }

    #[test]
    fn other_hosts_and_methods_and_noise_are_refused() {
        let live = Live::open(0).unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, live.port));
        let status = |request: &str| exchange(address, request.as_bytes()).split(' ').nth(1).map(str::to_string);
        let port = live.port;
        let refused = status(&format!("GET / HTTP/1.1\r\nHost: evil.example:{port}\r\n\r\n"));
        assert_eq!(refused.as_deref(), Some("403"));
        assert_eq!(status(&format!("POST / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n")).as_deref(), Some("405"));
        assert_eq!(status("\u{0}\u{1}\r\n\r\n").as_deref(), Some("400"));
        assert_eq!(status(""), None);
        assert!(get(&live, "/").contains("200 OK"), "the server goes on");
    }

    #[test]
    fn a_busy_port_is_refused_and_free_again_after_the_run() {
        let live = Live::open(0).unwrap();
        let port = live.port;
        let refused = Live::open(port).unwrap_err();
        assert!(refused.to_string().contains(&format!("port {port} is in use")), "{refused}");
        drop(live);
        assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
    }

    #[test]
    fn the_place_of_a_connection_is_free_again_after_a_panic() {
        let live = Live::open(0).unwrap();
        let places: Vec<Place> = (0..CONNECTIONS).map(|_| Place::of(&live.shared).unwrap()).collect();
        assert!(Place::of(&live.shared).is_none(), "there is no further one");
        for place in places {
            let panics = thread::Builder::new().spawn(move || panic!("{}", place.0.connections.load(Ordering::SeqCst)));
            assert!(panics.unwrap().join().is_err());
        }
        assert_eq!(live.shared.connections.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn connections_that_say_nothing_do_not_keep_others_out() {
        let live = Live::open(0).unwrap();
        let silent: Vec<TcpStream> =
            (0..CONNECTIONS - 4).map(|_| TcpStream::connect((Ipv4Addr::LOCALHOST, live.port)).unwrap()).collect();
        assert!(get(&live, "/state").contains("revision"));
        drop(silent);
    }

    #[test]
    fn the_last_page_is_awaited_by_a_browser_that_watches() {
        let live = Live::open(0).unwrap();
        live.finish("<p>nobody</p>");
        get(&live, "/state");
        thread::scope(|scope| {
            let browser = scope.spawn(|| {
                loop {
                    if get(&live, "/state").contains("\"revision\": 2, \"running\": false") {
                        return get(&live, "/");
                    }
                }
            });
            live.finish("<p>the end</p>");
            assert!(browser.join().unwrap().contains("<p>the end</p>"));
        });
    }
}
