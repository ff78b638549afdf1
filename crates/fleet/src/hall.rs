//! The coordinator's end of all connections: one thread listens, and two serve each worker. What
//! happens comes out as events of one channel.

use crate::bundle::Bundle;
use crate::depot::Made;
use crate::secure::{Gate, Listening, Speaking};
use crate::threads;
use crate::wire::{
    FROM_WORKER, FromCoordinator, FromWorker, Introduction, PROTOCOL, hear, read_parcel, say, write_content,
};
use crate::{FleetError, Token};
use serde_json::{Map, Value as Json};
use std::collections::VecDeque;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use tunesmith_backend::Target;
use tunesmith_backend::table::described;
use tunesmith_core::{Clock, SystemClock};

/// Maximum number of peers at once that have not proved that they know the token. Each costs a
/// thread and a TLS session, for ten seconds at most.
const STRANGERS: usize = 32;

/// The connections of peers that have not proved that they know the token. A newcomer takes the place of the oldest:
/// peers that say nothing keep nobody out.
#[derive(Debug, Default)]
struct Strangers {
    /// Each with its number, the oldest first.
    open: VecDeque<(u64, TcpStream)>,
    next: u64,
}

impl Strangers {
    /// Adds a connection, and returns its number. `None` if the system gives no descriptor for it.
    fn add(&mut self, socket: &TcpStream) -> Option<u64> {
        if self.open.len() >= STRANGERS
            && let Some((_, oldest)) = self.open.pop_front()
        {
            // The thread that listens to it ends.
            let _ = oldest.shutdown(Shutdown::Both);
        }
        self.next += 1;
        self.open.push_back((self.next, socket.try_clone().ok()?));
        Some(self.next)
    }

    fn remove(&mut self, number: u64) {
        self.open.retain(|(known, _)| *known != number);
    }
}

/// An event of a connection.
pub(crate) enum Event {
    /// A worker has the problem's files and found its device.
    Offered(Connection, Box<Offer>),
    /// A worker said something.
    Said(Connection, FromWorker),
    /// A worker answered a lease for compiling, by a parcel and its digest, or by the reason why there is
    /// none.
    Compiled(Connection, u64, Result<Made, String>),
    /// A connection ended.
    Left(Connection, String),
    /// A peer was turned away, for this reason.
    Refused(String),
    /// A thread failed, as this sentence says. The run cannot go on.
    Broken(String),
}

/// The number of a connection.
pub(crate) type Connection = u64;

/// The words of a worker about itself and its device.
pub(crate) struct Offer {
    pub(crate) who: Introduction,
    pub(crate) target: Option<Target>,
    pub(crate) limits: Map<String, Json>,
    pub(crate) outbox: Outbox,
}

/// The coordinator's side of its workers: events come in, and messages go out by the [`Outbox`] of each.
/// The network is one; a simulation with a virtual clock is another.
pub(crate) trait Entrance {
    /// Returns the time since the entrance was opened.
    fn now(&self) -> Duration;

    /// Waits for an event, for `most` at most.
    ///
    /// # Errors
    /// There will be no event any more.
    fn next(&mut self, most: Duration) -> Result<Option<Event>, NoMoreEvents>;

    /// Returns the port that workers connect to, or 0 if they do not connect.
    fn port(&self) -> u16;

    /// Lets nobody in any more. A worker that is being let in ends.
    fn close(&self);
}

/// The listener has ended.
#[derive(Debug)]
pub(crate) struct NoMoreEvents;

/// Sends to one worker, without waiting for it.
#[derive(Clone)]
pub(crate) struct Outbox(Arc<dyn Fn(Outgoing) + Send + Sync>);

/// A message or a content for a worker.
pub(crate) enum Outgoing {
    Message(FromCoordinator),
    Content(Made),
}

impl Outbox {
    /// Creates an outbox that gives everything to `send`, which does not wait.
    pub(crate) fn new(send: impl Fn(Outgoing) + Send + Sync + 'static) -> Self {
        Self(Arc::new(send))
    }

    /// Sends a message. A worker that is gone takes none; its connection has ended then.
    pub(crate) fn send(&self, message: FromCoordinator) {
        (self.0)(Outgoing::Message(message));
    }

    /// Sends a content.
    pub(crate) fn send_content(&self, made: Made) {
        (self.0)(Outgoing::Content(made));
    }
}

/// The problem as workers get it.
pub(crate) struct Subject {
    pub(crate) bundle: Bundle,
    pub(crate) sizes: Map<String, Json>,
    pub(crate) device: Option<String>,
}

struct Hall {
    gate: Gate,
    subject: Subject,
    clock: SystemClock,
    events: Sender<Event>,
    strangers: Mutex<Strangers>,
    next: AtomicU64,
    is_closed: AtomicBool,
}

/// The listener. Dropping it ends the listening.
pub(crate) struct Door {
    hall: Arc<Hall>,
    events: Receiver<Event>,
    pub(crate) address: SocketAddr,
}

impl Door {
    /// Listens on `address`.
    pub(crate) fn open(address: &str, token: Token, subject: Subject) -> Result<Self, FleetError> {
        let wrong = |source| FleetError::Listen { address: address.to_string(), source };
        // A host without IPv6 has no `[::]`, which means all addresses.
        let all = address.strip_prefix("[::]:").map(|port| format!("0.0.0.0:{port}"));
        let bound = TcpListener::bind(address);
        let bound = bound.or_else(|error| all.map_or(Err(error), TcpListener::bind));
        let listener = bound.map_err(wrong)?;
        let address = listener.local_addr().map_err(wrong)?;
        let (events, received) = mpsc::channel();
        let hall = Arc::new(Hall {
            gate: Gate::new(token)?,
            subject,
            clock: SystemClock::new(),
            events,
            strangers: Mutex::default(),
            next: AtomicU64::new(1),
            is_closed: AtomicBool::new(false),
        });
        let (listening, broken) = (Arc::clone(&hall), hall.teller());
        threads::start("listens for workers", move || listening.listen(&listener), broken)?;
        Ok(Self { hall, events: received, address })
    }
}

impl Entrance for Door {
    fn now(&self) -> Duration {
        self.hall.clock.now()
    }

    fn next(&mut self, most: Duration) -> Result<Option<Event>, NoMoreEvents> {
        match self.events.recv_timeout(most) {
            Ok(event) => Ok(Some(event)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(NoMoreEvents),
        }
    }

    fn port(&self) -> u16 {
        self.address.port()
    }

    fn close(&self) {
        self.hall.is_closed.store(true, Ordering::SeqCst);
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.close();
        // Wakes the listener, which then ends.
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(if address.is_ipv4() { [127, 0, 0, 1].into() } else { [0, 0, 0, 0, 0, 0, 0, 1].into() });
        }
        let _ = TcpStream::connect_timeout(&address, Duration::from_secs(1));
    }
}

impl Hall {
    fn listen(self: &Arc<Self>, listener: &TcpListener) {
        for socket in listener.incoming() {
            if self.is_closed.load(Ordering::SeqCst) {
                return;
            }
            let Ok(socket) = socket else {
                // Out of file descriptors: some will be free again.
                thread::sleep(Duration::from_millis(100));
                continue;
            };
            let Some(number) = self.strangers().add(&socket) else { continue };
            let hall = Arc::clone(self);
            let receive = move || hall.receive(socket, number);
            if threads::start("hears a worker", receive, self.teller()).is_err() {
                // The peer may try again.
                self.strangers().remove(number);
            }
        }
    }

    fn strangers(&self) -> MutexGuard<'_, Strangers> {
        self.strangers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets in the peer of this number, and listens to it until its connection ends.
    fn receive(&self, socket: TcpStream, number: u64) {
        let peer = socket.peer_addr().map_or_else(|_| "a peer".to_string(), |address| address.ip().to_string());
        let _ = socket.set_nodelay(true);
        // A peer that is refused sees the end of its connection after the refusal is told.
        let _open = socket.try_clone();
        let admitted = self.gate.admit(socket, &self.clock);
        self.strangers().remove(number);
        let (mut listening, mut speaking) = match admitted {
            Ok(admitted) => admitted,
            Err(error) => return self.tell(Event::Refused(format!("a connection from {peer} was refused: {error}"))),
        };
        let connection = self.next.fetch_add(1, Ordering::SeqCst);
        let ended = match self.introduce(&mut listening, &mut speaking) {
            Ok(offer) => {
                let outbox = offer.outbox.clone();
                self.tell(Event::Offered(connection, Box::new(offer)));
                // Whoever closes the door looks for such events afterwards.
                if self.is_closed.load(Ordering::SeqCst) {
                    return outbox.send(FromCoordinator::End { reason: None });
                }
                drop(outbox);
                self.hear_all(connection, &mut listening)
            }
            Err(error) => {
                let reason = error.to_string();
                let _ = say(&mut speaking, &FromCoordinator::End { reason: Some(reason.clone()) });
                self.tell(Event::Refused(format!("the worker at {peer} was refused: {reason}")));
                error
            }
        };
        speaking.hang_up();
        self.tell(Event::Left(connection, ended.to_string()));
    }

    /// Sends the problem to a worker. Returns what it says of its device.
    fn introduce(&self, listening: &mut Listening, speaking: &mut Speaking) -> Result<Offer, FleetError> {
        let FromWorker::Join(who) = hear(listening, FROM_WORKER)? else { return Err(unexpected()) };
        let Introduction { protocol, version, .. } = &who;
        if *protocol != PROTOCOL {
            let own = env!("CARGO_PKG_VERSION");
            return Err(FleetError::Refused(format!(
                "it speaks version {protocol} of the protocol (tunesmith {version}), not {PROTOCOL} (tunesmith {own}); \
                 install the same tunesmith on both"
            )));
        }
        let Subject { bundle, sizes, device } = &self.subject;
        let problem = FromCoordinator::Problem {
            file: bundle.problem.clone(),
            sizes: sizes.clone(),
            device: device.clone(),
            files: bundle.files.clone(),
        };
        say(speaking, &problem)?;
        let FromWorker::Want { digests } = hear(listening, FROM_WORKER)? else { return Err(unexpected()) };
        for digest in digests {
            let content = bundle.content(&digest)?;
            say(speaking, &FromCoordinator::Content { digest, bytes: content.len() as u64 })?;
            write_content(speaking, &content)?;
        }
        match hear(listening, FROM_WORKER)? {
            FromWorker::Offer { target, limits } => {
                let target = target.as_ref().map(described).transpose().map_err(FleetError::Protocol)?;
                Ok(Offer { who, target, limits, outbox: outbox(speaking, self.teller())? })
            }
            FromWorker::Unable { reason } => Err(FleetError::Refused(reason)),
            _ => Err(unexpected()),
        }
    }

    fn hear_all(&self, connection: Connection, listening: &mut Listening) -> FleetError {
        loop {
            let heard = hear(listening, FROM_WORKER).and_then(|message| match message {
                FromWorker::Compiled { job, parcel: Err(reason) } => Ok(Event::Compiled(connection, job, Err(reason))),
                FromWorker::Compiled { job, parcel: Ok(parcel) } => {
                    let content = Arc::new(read_parcel(listening, &parcel)?);
                    Ok(Event::Compiled(connection, job, Ok(Made { digest: parcel.digest, content })))
                }
                message => Ok(Event::Said(connection, message)),
            });
            match heard {
                Ok(event) => self.tell(event),
                Err(error) => return error,
            }
        }
    }

    /// Returns what tells that a thread failed.
    fn teller(&self) -> impl FnOnce(String) + Send + use<> {
        let events = self.events.clone();
        move |sentence| drop(events.send(Event::Broken(sentence)))
    }

    /// Passes an event on. At the end of a run nobody hears it.
    fn tell(&self, event: Event) {
        let _ = self.events.send(event);
    }
}

impl Outgoing {
    fn send(self, to: &mut Speaking) -> Result<(), FleetError> {
        match self {
            Self::Message(message) => say(to, &message),
            Self::Content(Made { digest, content }) => {
                say(to, &FromCoordinator::Content { digest, bytes: content.len() as u64 })?;
                write_content(to, &content)
            }
        }
    }
}

/// Starts the thread that sends to a worker.
fn outbox(speaking: &Speaking, broken: impl FnOnce(String) + Send + 'static) -> Result<Outbox, FleetError> {
    let (messages, waiting) = mpsc::channel::<Outgoing>();
    let mut to = speaking.clone();
    let send_all = move || {
        for outgoing in waiting {
            let is_last = matches!(outgoing, Outgoing::Message(FromCoordinator::End { .. }));
            if outgoing.send(&mut to).is_err() {
                return to.hang_up();
            }
            if is_last {
                return to.finish();
            }
        }
    };
    threads::start("speaks to a worker", send_all, broken)?;
    Ok(Outbox::new(move |outgoing| {
        let _ = messages.send(outgoing);
    }))
}

fn unexpected() -> FleetError {
    FleetError::Protocol("a message came out of turn".to_string())
}
