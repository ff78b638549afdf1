//! The channel between a coordinator and a worker: TLS 1.3, and a proof of the token by both sides.
//!
//! The coordinator makes a key for each run and shows it as a raw public key (RFC 7250). Nobody
//! vouches for that key. Instead both sides prove that they know the token, by an HMAC over the
//! exporter of this very TLS session (RFC 8446, section 7.5) and a random number of each side. A
//! relay in between has two sessions with two exporters, so that a proof for one is worthless in the
//! other. The worker proves first: a coordinator tells a stranger nothing.
//!
//! Before the proof, everything has a fixed length of at most 64 bytes, and there is one deadline for
//! all of it.

use crate::{FleetError, Token};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::Ed25519KeyPair;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring as provider, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;
use rustls::{
    ClientConfig, ClientConnection, Connection, DigitallySignedStruct, ServerConfig, ServerConnection, SignatureScheme,
};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tunesmith_core::Clock;

/// Time for the handshake and the proofs.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Time after which a peer that takes no bytes counts as gone.
const STALLED: Duration = Duration::from_secs(60);

/// Length of a random number and of a proof.
const LENGTH: usize = 32;

/// Length of the plain text that is encrypted at once.
const RECORD: usize = 16 << 10;

const LABEL: &[u8] = b"EXPORTER-tunesmith-fleet";

/// The coordinator's end before a connection: its key and the token.
pub(crate) struct Gate {
    config: Arc<ServerConfig>,
    token: Token,
}

/// A connection with a proved peer.
pub(crate) struct Line {
    tls: Mutex<Connection>,
    /// Orders the bytes that are sent. It is locked before `tls`.
    out: Mutex<TcpStream>,
    socket: TcpStream,
}

/// Reads from a line. There is one for each line.
pub(crate) struct Listening {
    line: Arc<Line>,
    raw: Vec<u8>,
    /// Decrypted bytes that nobody has read.
    plain: VecDeque<u8>,
}

/// Writes to a line.
#[derive(Clone)]
pub(crate) struct Speaking(Arc<Line>);

fn broken(error: rustls::Error) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}

fn unusable(reason: impl std::fmt::Display) -> FleetError {
    FleetError::Protocol(format!("this program cannot encrypt: {reason}"))
}

fn ring_provider() -> Arc<CryptoProvider> {
    Arc::new(provider::default_provider())
}

impl Gate {
    /// Makes a key for this run.
    pub(crate) fn new(token: Token) -> Result<Self, FleetError> {
        let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(unusable)?;
        let key = provider::sign::any_eddsa_type(&PrivatePkcs8KeyDer::from(key.as_ref())).map_err(unusable)?;
        let public = key.public_key().ok_or_else(|| unusable("the key has no public half"))?.to_vec();
        let certified = CertifiedKey::new(vec![CertificateDer::from(public)], key);
        let builder = ServerConfig::builder_with_provider(ring_provider()).with_protocol_versions(&[&TLS13]);
        let builder = builder.map_err(unusable)?.with_no_client_auth();
        let mut config =
            builder.with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(Arc::new(certified))));
        // Nobody resumes a session.
        config.send_tls13_tickets = 0;
        Ok(Self { config: Arc::new(config), token })
    }

    /// Lets a worker in that knows the token.
    pub(crate) fn admit(&self, socket: TcpStream, clock: &dyn Clock) -> Result<(Listening, Speaking), FleetError> {
        let tls = Connection::from(ServerConnection::new(Arc::clone(&self.config)).map_err(unusable)?);
        let mut stream = Early { tls, timed: Timed::new(&socket, clock) };
        let (exporter, own) = stream.begin()?;
        let theirs: [u8; LENGTH] = read(&mut stream)?;
        write(&mut stream, &own)?;
        let proof: [u8; LENGTH] = read(&mut stream)?;
        let key = self.token.key();
        let is_known = hmac::verify(&key, &content("worker", &exporter, &theirs, &own), &proof).is_ok();
        if !is_known {
            // Tells the worker why before the connection ends.
            let _ = write(&mut stream, &[0; LENGTH]);
            return Err(FleetError::Token("wrong token".to_string()));
        }
        let answer = hmac::sign(&key, &content("coordinator", &exporter, &theirs, &own));
        write(&mut stream, answer.as_ref())?;
        let tls = stream.tls;
        open(tls, socket)
    }
}

/// Connects a worker to a coordinator that knows the token.
pub(crate) fn join(socket: TcpStream, token: &Token, clock: &dyn Clock) -> Result<(Listening, Speaking), FleetError> {
    let address = socket.peer_addr()?;
    let mut stream = Early { tls: Connection::from(client()?), timed: Timed::new(&socket, clock) };
    let unproved = |error: FleetError| FleetError::Proof { address, reason: error.to_string() };
    let (exporter, own) = stream.begin().map_err(unproved)?;
    write(&mut stream, &own)?;
    let theirs: [u8; LENGTH] = read(&mut stream).map_err(unproved)?;
    let key = token.key();
    write(&mut stream, hmac::sign(&key, &content("worker", &exporter, &own, &theirs)).as_ref())?;
    let proof: [u8; LENGTH] = read(&mut stream).map_err(unproved)?;
    if hmac::verify(&key, &content("coordinator", &exporter, &own, &theirs), &proof).is_err() {
        return Err(FleetError::Proof { address, reason: "wrong token".to_string() });
    }
    let tls = stream.tls;
    open(tls, socket)
}

fn client() -> Result<ClientConnection, FleetError> {
    let builder = ClientConfig::builder_with_provider(ring_provider()).with_protocol_versions(&[&TLS13]);
    let builder = builder.map_err(unusable)?.dangerous();
    let mut config = builder.with_custom_certificate_verifier(Arc::new(AnyKey)).with_no_client_auth();
    config.resumption = rustls::client::Resumption::disabled();
    config.enable_sni = false;
    let name = ServerName::try_from("tunesmith").map_err(unusable)?;
    ClientConnection::new(Arc::new(config), name).map_err(unusable)
}

/// Returns the content of the proof of one side.
fn content(side: &str, exporter: &[u8], of_worker: &[u8], of_coordinator: &[u8]) -> Vec<u8> {
    [b"tunesmith fleet ", side.as_bytes(), b"\0", exporter, of_worker, of_coordinator].concat()
}

fn read<const N: usize>(from: &mut impl Read) -> Result<[u8; N], FleetError> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn write(to: &mut impl Write, bytes: &[u8]) -> Result<(), FleetError> {
    to.write_all(bytes)?;
    Ok(to.flush()?)
}

fn open(tls: Connection, socket: TcpStream) -> Result<(Listening, Speaking), FleetError> {
    socket.set_read_timeout(None)?;
    socket.set_write_timeout(Some(STALLED))?;
    rustix::net::sockopt::set_socket_keepalive(&socket, true).map_err(io::Error::from)?;
    let line = Arc::new(Line { tls: Mutex::new(tls), out: Mutex::new(socket.try_clone()?), socket });
    Ok((Listening { line: Arc::clone(&line), raw: vec![0; RECORD], plain: VecDeque::new() }, Speaking(line)))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Line {
    /// Sends what TLS has to say.
    fn flush(&self) -> io::Result<()> {
        let mut out = locked(&self.out);
        let bytes = self.encrypted()?;
        out.write_all(&bytes)
    }

    fn encrypted(&self) -> io::Result<Vec<u8>> {
        let (mut tls, mut bytes) = (locked(&self.tls), Vec::new());
        while tls.wants_write() {
            tls.write_tls(&mut bytes)?;
        }
        Ok(bytes)
    }

    /// Decrypts received bytes to the end of `plain`. Returns true if TLS has something to say.
    fn decrypt(&self, mut bytes: &[u8], plain: &mut VecDeque<u8>) -> io::Result<bool> {
        let mut tls = locked(&self.tls);
        loop {
            // TLS takes no further bytes while it holds a record that nobody has read.
            match io::copy(&mut tls.reader(), plain) {
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
                _ => {}
            }
            if bytes.is_empty() {
                return Ok(tls.wants_write());
            }
            tls.read_tls(&mut bytes)?;
            tls.process_new_packets().map_err(broken)?;
        }
    }
}

impl Read for Listening {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.plain.is_empty() {
            // The handshake may have brought more than it needed.
            let mut has_to_speak = self.line.decrypt(&[], &mut self.plain)?;
            if self.plain.is_empty() {
                let length = (&self.line.socket).read(&mut self.raw)?;
                if length == 0 {
                    return Ok(0);
                }
                has_to_speak |= self.line.decrypt(&self.raw[..length], &mut self.plain)?;
            }
            if has_to_speak {
                self.line.flush()?;
            }
        }
        self.plain.read(into)
    }
}

impl Speaking {
    /// Says nothing more. The peer still reads what was said.
    pub(crate) fn finish(&self) {
        let _ = self.0.socket.shutdown(Shutdown::Write);
    }

    /// Ends the connection at once, also for its reader.
    pub(crate) fn hang_up(&self) {
        let _ = self.0.socket.shutdown(Shutdown::Both);
    }
}

impl Write for Speaking {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut out = locked(&self.0.out);
        let written = locked(&self.0.tls).writer().write(&bytes[..bytes.len().min(RECORD)])?;
        let encrypted = self.0.encrypted()?;
        out.write_all(&encrypted)?;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A connection before the proofs.
struct Early<'a> {
    tls: Connection,
    timed: Timed<'a>,
}

impl Early<'_> {
    /// Completes the handshake. Returns the exporter and a random number.
    fn begin(&mut self) -> Result<([u8; LENGTH], [u8; LENGTH]), FleetError> {
        while self.tls.is_handshaking() {
            self.tls.complete_io(&mut self.timed)?;
        }
        let exporter = self.tls.export_keying_material([0; LENGTH], LABEL, None).map_err(broken)?;
        let mut own = [0; LENGTH];
        SystemRandom::new().fill(&mut own).map_err(|_| unusable("the system gives no random numbers"))?;
        Ok((exporter, own))
    }
}

impl Read for Early<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.tls.reader().read(into) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => return read,
            }
            if self.tls.read_tls(&mut self.timed)? == 0 {
                return Ok(0);
            }
            self.tls.process_new_packets().map_err(broken)?;
        }
    }
}

impl Write for Early<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.tls.writer().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.timed)?;
        }
        Ok(())
    }
}

/// A socket until a deadline.
struct Timed<'a> {
    socket: &'a TcpStream,
    clock: &'a dyn Clock,
    until: Duration,
}

impl<'a> Timed<'a> {
    fn new(socket: &'a TcpStream, clock: &'a dyn Clock) -> Self {
        Self { socket, clock, until: clock.now() + HANDSHAKE }
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.until.saturating_sub(self.clock.now());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(self.left()?)?;
        self.socket.read(into)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(self.left()?)?;
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Accepts every key that signs its handshake. The token proves who has it.
#[derive(Debug)]
struct AnyKey;

impl ServerCertVerifier for AnyKey {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::PeerIncompatible::Tls12NotOffered.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let key = SubjectPublicKeyInfoDer::from(key.as_ref());
        let known = provider::default_provider().signature_verification_algorithms;
        verify_tls13_signature_with_raw_key(message, &key, signed, &known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;
    use tunesmith_core::SystemClock;

    fn token(sign: &str) -> Token {
        Token::parse(&sign.repeat(40)).unwrap()
    }

    type Ends = (Result<(Listening, Speaking), FleetError>, Result<(Listening, Speaking), FleetError>);

    /// Connects a worker with one token to a coordinator with another. `through` may stand between.
    fn meet(worker: &str, coordinator: &str, through: Option<fn(TcpStream, TcpStream)>) -> Ends {
        let (worker, gate) = (token(worker), Gate::new(token(coordinator)).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let accepting = thread::spawn(move || gate.admit(listener.accept().unwrap().0, &SystemClock::new()));
        let address = through.map_or(address, |through| {
            let between = TcpListener::bind("127.0.0.1:0").unwrap();
            let own = between.local_addr().unwrap();
            thread::spawn(move || through(between.accept().unwrap().0, TcpStream::connect(address).unwrap()));
            own
        });
        let joined = join(TcpStream::connect(address).unwrap(), &worker, &SystemClock::new());
        (joined, accepting.join().unwrap())
    }

    #[test]
    fn both_sides_read_what_the_other_wrote_at_once() {
        let (joined, admitted) = meet("a", "a", None);
        let ((mut worker, mut to_coordinator), (mut coordinator, mut to_worker)) = (joined.unwrap(), admitted.unwrap());
        let long: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
        let (sent, mut back) = (long.clone(), vec![0; long.len()]);
        let sending = thread::spawn(move || to_worker.write_all(&sent));
        let other = long.clone();
        let answering = thread::spawn(move || to_coordinator.write_all(&other));
        let reading = thread::spawn(move || {
            let mut there = vec![0; 3_000_000];
            coordinator.read_exact(&mut there).map(|()| there)
        });
        worker.read_exact(&mut back).unwrap();
        assert!(back == long && reading.join().unwrap().unwrap() == long);
        assert!(sending.join().unwrap().is_ok() && answering.join().unwrap().is_ok());
    }

    #[test]
    fn a_wrong_token_is_told_to_both_sides() {
        let (joined, admitted) = meet("a", "b", None);
        assert!(joined.err().unwrap().to_string().contains("wrong token"));
        assert!(matches!(admitted.err().unwrap(), FleetError::Token(_)));
    }

    /// Ends one TLS session with each side and hands over the proofs, as somebody in between would.
    fn relay(worker: TcpStream, coordinator: TcpStream) {
        let gate = Gate::new(token("x")).unwrap();
        let mut server = ServerConnection::new(gate.config).unwrap();
        let mut client = client().unwrap();
        let (mut worker, mut coordinator) = (worker, coordinator);
        let mut theirs = rustls::Stream::new(&mut server, &mut worker);
        let mut ours = rustls::Stream::new(&mut client, &mut coordinator);
        let nonce: [u8; LENGTH] = read(&mut theirs).unwrap();
        write(&mut ours, &nonce).unwrap();
        let nonce: [u8; LENGTH] = read(&mut ours).unwrap();
        write(&mut theirs, &nonce).unwrap();
        let proof: [u8; LENGTH] = read(&mut theirs).unwrap();
        write(&mut ours, &proof).unwrap();
        let proof: [u8; LENGTH] = read(&mut ours).unwrap();
        write(&mut theirs, &proof).unwrap();
    }

    #[test]
    fn nobody_in_between_can_hand_the_proofs_over() {
        let (joined, admitted) = meet("a", "a", Some(relay));
        assert!(joined.err().unwrap().to_string().contains("wrong token"));
        assert!(matches!(admitted.err().unwrap(), FleetError::Token(_)));
    }

    #[test]
    fn a_peer_that_speaks_no_tls_is_dropped() {
        let gate = Gate::new(token("a")).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut stranger = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let admitted = gate.admit(listener.accept().unwrap().0, &SystemClock::new());
        assert!(matches!(admitted.err().unwrap(), FleetError::Lost(_)));
    }
}
