//! Chromium without a window, driven by its own protocol (Chrome DevTools Protocol) over a pair of
//! pipes.

use serde_json::{Value as Json, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Maximum number of times that a condition is looked at.
const MOST_ROUNDS: usize = 6_000;

/// Returns true if there is Chromium. Without it, prints that the test is skipped, or fails if `CI`
/// is set, since it has one.
#[allow(clippy::disallowed_methods, clippy::print_stderr)] // the environment tells whether this is CI
pub(crate) fn has_browser() -> bool {
    let has = Command::new("chromium").arg("--version").output().is_ok_and(|output| output.status.success());
    assert!(has || std::env::var_os("CI").is_none(), "CI has Chromium");
    if !has {
        eprintln!("skipped: no browser; install chromium");
    }
    has
}

/// A browser with one page.
pub(crate) struct Browser {
    process: Child,
    to: File,
    from: BufReader<File>,
    session: Option<String>,
    calls: u64,
    /// The faults of the page: exceptions, messages of errors, and files that were not found.
    pub(crate) errors: Vec<String>,
    loaded: bool,
    _folder: tempfile::TempDir,
}

/// The browser that the tests of this program share, for one after the other: its start takes longer than most tests.
pub(crate) struct SharedBrowser(Arc<Mutex<Browser>>);

impl SharedBrowser {
    /// Returns the browser that another test uses, or starts one.
    pub(crate) fn new() -> Self {
        static SHARED: Mutex<Weak<Mutex<Browser>>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(browser) = shared.upgrade() {
            return Self(browser);
        }
        let browser = Arc::new(Mutex::new(Browser::start()));
        *shared = Arc::downgrade(&browser);
        Self(browser)
    }

    /// Waits until no other test uses the browser, and returns it as it was at its start.
    pub(crate) fn wait(&self) -> MutexGuard<'_, Browser> {
        let mut browser = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        browser.allow_scripts(true);
        browser.open_address("about:blank", 1280, "light");
        browser.errors.clear();
        browser
    }
}

impl Browser {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [to, from] = ["to", "from"].map(|name| folder.path().join(name));
        assert!(Command::new("mkfifo").args([&to, &from]).status().unwrap().success());
        // The browser reads messages from descriptor 3 and writes them to descriptor 4. It ends with this
        // process, or by itself if it hangs: far later than all tests need on the busiest machine.
        let process = Command::new("sh")
            .args(["-c", "to=$1 from=$2; shift 2; exec timeout 7200 chromium \"$@\" 3<\"$to\" 4>\"$from\"", "sh"])
            .args([&to, &from])
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
            .args(["--hide-scrollbars", "--disable-background-networking", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .arg("about:blank")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // In the order in which the shell opens them.
        let to = OpenOptions::new().write(true).open(to).unwrap();
        let from = BufReader::new(File::open(from).unwrap());
        let (session, errors) = (None, Vec::new());
        let mut browser = Self { process, to, from, session, calls: 0, errors, loaded: false, _folder: folder };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", &attach);
        browser.session = attached["sessionId"].as_str().map(str::to_string);
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Opens a file in a view of this width, in light or in dark mode.
    pub(crate) fn open(&mut self, page: &Path, width: u32, mode: &str) {
        self.open_address(&format!("file://{}", page.canonicalize().unwrap().display()), width, mode);
    }

    /// Opens an address in a view of this width, in light or in dark mode.
    pub(crate) fn open_address(&mut self, address: &str, width: u32, mode: &str) {
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
        let features = json!([{ "name": "prefers-color-scheme", "value": mode }]);
        self.call("Emulation.setEmulatedMedia", &json!({ "features": features }));
        self.loaded = false;
        self.call("Page.navigate", &json!({ "url": address }));
        while !self.loaded {
            self.read();
        }
    }

    /// Forbids scripts from the next page on, or allows them.
    pub(crate) fn allow_scripts(&mut self, are_allowed: bool) {
        self.call("Emulation.setScriptExecutionDisabled", &json!({ "value": !are_allowed }));
    }

    /// Returns the value of an expression, after its promise is kept.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Json {
        let wanted = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut answer = self.call("Runtime.evaluate", &wanted);
        assert!(answer["exceptionDetails"].is_null(), "{answer:#}");
        answer["result"]["value"].take()
    }

    /// Evaluates an expression again and again until its value is true in the sense of JavaScript, also
    /// while the page loads itself again. Returns that value. Fails after [`MOST_ROUNDS`], five minutes at least.
    pub(crate) fn wait_for(&mut self, expression: &str) -> Json {
        let expression = format!("new Promise((resolve) => setTimeout(() => resolve({expression}), 50))");
        let wanted = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        for _ in 0..MOST_ROUNDS {
            // An expression of a page that is gone has no value.
            let mut answer = self.try_call("Runtime.evaluate", &wanted).unwrap_or_default();
            assert!(answer["exceptionDetails"].is_null(), "{answer:#}");
            let value = answer["result"]["value"].take();
            if !matches!(&value, Json::Null | Json::Bool(false)) {
                return value;
            }
        }
        panic!("`{expression}` does not become true");
    }

    /// Returns a picture of a part of the page from `top` on, in base64. The part is in view, and its
    /// frame is on the screen, before the picture is taken: a browser need not have painted what lies
    /// outside of its window.
    pub(crate) fn screenshot(&mut self, top: f64, (width, height): (f64, f64), scale: f64) -> String {
        let metrics =
            json!({ "width": width as u64, "height": height as u64, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
        let frame = "new Promise(requestAnimationFrame)";
        self.evaluate(&format!("scrollTo(0, {top}), {frame}.then(() => {frame})"));
        let clip = json!({ "x": 0, "y": top, "width": width, "height": height, "scale": scale });
        let wanted = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        self.call("Page.captureScreenshot", &wanted)["data"].as_str().unwrap().to_string()
    }

    fn call(&mut self, method: &str, parameters: &Json) -> Json {
        self.try_call(method, parameters).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Calls a method. Returns the browser's error if it cannot do it.
    fn try_call(&mut self, method: &str, parameters: &Json) -> Result<Json, Json> {
        self.calls += 1;
        let mut message = json!({ "id": self.calls, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut answer = self.read();
            if answer["id"] == self.calls {
                return if answer["error"].is_null() { Ok(answer["result"].take()) } else { Err(answer) };
            }
        }
    }

    /// Reads a message, and keeps what it tells about the page.
    fn read(&mut self) -> Json {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).unwrap();
        assert_eq!(bytes.pop(), Some(0), "the browser ended");
        let message: Json = serde_json::from_slice(&bytes).unwrap();
        let parameters = &message["params"];
        match message["method"].as_str() {
            Some("Page.loadEventFired") => self.loaded = true,
            Some("Runtime.exceptionThrown") => self.errors.push(parameters["exceptionDetails"].to_string()),
            Some("Runtime.consoleAPICalled") if parameters["type"] == "error" || parameters["type"] == "warning" => {
                self.errors.push(parameters["args"].to_string());
            }
            Some("Log.entryAdded") if parameters["entry"]["level"] == "error" => {
                self.errors.push(parameters["entry"].to_string());
            }
            _ => {}
        }
        message
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.to.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let _ = self.process.wait();
    }
}
