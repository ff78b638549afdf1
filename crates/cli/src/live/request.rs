//! Answers requests of HTTP: decides from their text alone.

use std::fmt::Write;

/// Maximum length of the head of a request.
pub(super) const MOST: usize = 16 << 10;

/// Maximum number of header lines of a request. Browsers send about twenty.
const LINES: usize = 100;

/// A page as the server has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Published {
    /// The number of the page. A newer one has another number.
    pub(super) revision: u64,
    /// The page in HTML.
    pub(super) page: std::sync::Arc<str>,
    /// True while the run lasts.
    pub(super) running: bool,
}

/// The content of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// The page of this revision.
    Page(std::sync::Arc<str>, u64),
    /// The number of the latest page, and whether the run lasts.
    State(String),
    /// A sentence for people.
    Text(&'static str),
}

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) status: (u16, &'static str),
    pub(super) content: Content,
}

/// The headers of every reply. A page of ours runs its own scripts and asks this server alone. No
/// other site may show it, embed it or learn its address.
const HEADERS: &str = "Connection: close\r\n\
    Cache-Control: no-store\r\n\
    X-Content-Type-Options: nosniff\r\n\
    Referrer-Policy: no-referrer\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Cross-Origin-Opener-Policy: same-origin\r\n\
    Content-Security-Policy: default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; frame-ancestors 'none'; \
    form-action 'none'; base-uri 'none'\r\n";

impl Reply {
    fn text(code: u16, reason: &'static str, text: &'static str) -> Self {
        Self { status: (code, reason), content: Content::Text(text) }
    }

    /// Returns the head of the reply and its body.
    pub(super) fn bytes(&self) -> (String, &[u8]) {
        let (kind, body) = match &self.content {
            Content::Page(page, _) => ("text/html; charset=utf-8", page.as_bytes()),
            Content::State(state) => ("application/json", state.as_bytes()),
            Content::Text(text) => ("text/plain; charset=utf-8", text.as_bytes()),
        };
        let (code, reason) = self.status;
        let mut head =
            format!("HTTP/1.1 {code} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n", body.len());
        // Writing to a string cannot fail.
        let _ = write!(head, "{}{HEADERS}\r\n", if code == 405 { "Allow: GET\r\n" } else { "" });
        (head, body)
    }
}

/// Returns the reply to `head`, the bytes of a request received so far, on `port`. Returns `None` if
/// the head is not complete.
///
/// A request must name this machine as its host: a page of another site whose name was turned to this
/// address (DNS rebinding) names that site.
pub(super) fn reply(head: &[u8], port: u16, published: &Published) -> Option<Reply> {
    let mut lines = [httparse::EMPTY_HEADER; LINES];
    let mut request = httparse::Request::new(&mut lines);
    match request.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) if head.len() < MOST => return None,
        Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
            return Some(Reply::text(431, "Request Header Fields Too Large", "the head of the request is too long\n"));
        }
        Err(_) => return Some(Reply::text(400, "Bad Request", "this is no request of HTTP\n")),
    }
    let hosts: Vec<&[u8]> = values(&request, "host").collect();
    let [host] = hosts[..] else {
        return Some(Reply::text(400, "Bad Request", "the request does not name one host\n"));
    };
    if !is_own(host, port) {
        return Some(Reply::text(403, "Forbidden", "the host is another one; open 127.0.0.1 or localhost\n"));
    }
    if request.method != Some("GET") {
        return Some(Reply::text(405, "Method Not Allowed", "only GET is answered\n"));
    }
    Some(at(request.path.unwrap_or_default(), published))
}

/// Returns the reply to a request for `path`.
fn at(path: &str, published: &Published) -> Reply {
    let Published { revision, page, running } = published;
    match path.split('?').next() {
        Some("/") => Reply { status: (200, "OK"), content: Content::Page(page.clone(), *revision) },
        Some("/state") => {
            let state = format!("{{\"revision\": {revision}, \"running\": {running}}}\n");
            Reply { status: (200, "OK"), content: Content::State(state) }
        }
        // Every browser asks for it.
        Some("/favicon.ico") => Reply::text(204, "No Content", ""),
        _ => Reply::text(404, "Not Found", "there is / with the report, and /state\n"),
    }
}

fn values<'a>(request: &'a httparse::Request<'_, '_>, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    request.headers.iter().filter(move |line| line.name.eq_ignore_ascii_case(name)).map(|line| line.value)
}

/// Returns true if `host` names this machine by an address or name that no one else controls.
fn is_own(host: &[u8], port: u16) -> bool {
    let Ok(host) = str::from_utf8(host) else { return false };
    let (name, named) = match host.rsplit_once(':') {
        Some((name, digits)) if digits.bytes().all(|digit| digit.is_ascii_digit()) => (name, digits.parse().ok()),
        _ => (host, Some(80)),
    };
    let is_name = ["127.0.0.1", "[::1]"].contains(&name) || name.eq_ignore_ascii_case("localhost");
    is_name && named == Some(port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(head: &str) -> Option<u16> {
        let published = Published { revision: 3, page: "<p>x</p>".into(), running: true };
        reply(head.as_bytes(), 8000, &published).map(|reply| reply.status.0)
    }

    fn of_host(host: &str) -> Option<u16> {
        code(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"))
    }

    #[test]
    fn only_this_machine_is_a_host() {
        for host in ["127.0.0.1:8000", "localhost:8000", "LocalHost:8000", "[::1]:8000"] {
            assert_eq!(of_host(host), Some(200), "{host}");
        }
        for host in [
            "evil.example:8000",
            "127.0.0.1:8001",
            "127.0.0.1",
            "localhost.evil.example:8000",
            "127.0.0.1.evil.example:8000",
            "127.0.0.1:8000.evil.example",
            "::1:8000",
            "",
            "localhost:",
            "localhost:+8000",
            "user@localhost:8000",
        ] {
            assert_eq!(of_host(host), Some(403), "{host}");
        }
        assert_eq!(code("GET / HTTP/1.1\r\n\r\n"), Some(400));
        assert_eq!(code("GET / HTTP/1.1\r\nHost: localhost:8000\r\nhost: evil.example\r\n\r\n"), Some(400));
    }

    #[test]
    fn only_get_and_two_paths_are_answered() {
        let at = |method: &str, path: &str| code(&format!("{method} {path} HTTP/1.1\r\nHost: localhost:8000\r\n\r\n"));
        assert_eq!(["/", "/?x", "/state", "/state?x=1"].map(|path| at("GET", path)), [Some(200); 4]);
        assert_eq!(["/other", "/state/", "/../state", "//"].map(|path| at("GET", path)), [Some(404); 4]);
        assert_eq!(["POST", "HEAD", "OPTIONS", "DELETE"].map(|method| at(method, "/")), [Some(405); 4]);
    }

    #[test]
    fn a_head_is_awaited_up_to_its_bound_and_anything_else_is_refused() {
        let head = "GET / HTTP/1.1\r\nHost: localhost:8000\r\n\r\n";
        assert!((0..head.len()).all(|end| code(&head[..end]).is_none()));
        assert_eq!(code("\u{1}\u{2}\u{3}\u{4}"), Some(400));
        assert_eq!(code(&format!("GET /{} ", "x".repeat(MOST))), Some(431));
        let many = "X: y\r\n".repeat(LINES + 1);
        assert_eq!(code(&format!("GET / HTTP/1.1\r\n{many}\r\n")), Some(431));
    }

    #[test]
    fn a_reply_has_its_length_and_may_not_be_embedded() {
        let published = Published { revision: 3, page: "<p>ö</p>".into(), running: false };
        let head = b"GET /state HTTP/1.1\r\nHost: localhost:80\r\n\r\n";
        let reply = reply(head, 80, &published).unwrap();
        let (head, body) = reply.bytes();
        assert_eq!(body, b"{\"revision\": 3, \"running\": false}\n");
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
        for line in ["Content-Length: 34", "Connection: close", "Cross-Origin-Resource-Policy: same-origin"] {
            assert!(head.contains(&format!("{line}\r\n")), "{line}: {head}");
        }
        let page = Reply { status: (200, "OK"), content: Content::Page(published.page, 3) };
        assert!(page.bytes().0.contains("Content-Length: 9\r\n"));
    }
}
