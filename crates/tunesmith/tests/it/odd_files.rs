//! A path may name a FIFO, a device or a directory. Every reader refuses them, and none waits.

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;
use tunesmith::choose::{self, Selector, TimingModel};
use tunesmith::device::{Given, contents};
use tunesmith::{Problem, cost, store};

/// A reader of paths. It returns its refusal.
type Read = fn(&Path) -> Option<String>;

const READERS: [(&str, Read); 10] = [
    ("problem", |path| refusal(Problem::load(path, &[]))),
    ("loop nest", nest),
    ("data", data),
    ("recording", |path| refusal(store::import(path))),
    ("journal", |path| refusal(store::read(path))),
    ("wisdom", |path| refusal(choose::read_wisdom(path))),
    ("appended wisdom", |path| refusal(choose::append_wisdom(path, &[]))),
    ("selector", |path| Selector::open([path]).warnings().first().cloned()),
    ("timing model", |path| refusal(TimingModel::read(path))),
    ("device file", |path| refusal(cost::read_device(path))),
];

fn refusal<T>(read: Result<T, impl ToString>) -> Option<String> {
    read.err().map(|error| error.to_string())
}

/// Reads a problem whose nest has a path that ends as a nest's does.
fn nest(path: &Path) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(path, folder.path().join("odd.nest")).unwrap();
    refusal(Problem::parse("[kernel]\nfile = \"odd.nest\"\n[parameters]\nA = [1]\n", folder.path()))
}

/// Reads the contents of a buffer.
fn data(path: &Path) -> Option<String> {
    let argument = format!("name = \"a\"\ntype = \"f32\"\nshape = [4]\nfill = \"file\"\npath = {path:?}\n");
    let text = format!("[kernel]\nfile = \"k.c\"\nfunction = \"k\"\n[parameters]\nA = [1]\n[[arguments]]\n{argument}");
    let problem = Problem::parse(&text, Path::new(".")).unwrap();
    refusal(contents(&problem.spec().arguments()[0], Given { seed: 0, sizes: &[] }))
}

#[test]
fn no_reader_waits_for_a_fifo_or_reads_a_device_or_a_directory() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    mkfifo(&fifo, Mode::S_IRWXU).unwrap();
    let cases =
        [(fifo, "a FIFO"), (PathBuf::from("/dev/zero"), "a device"), (folder.path().to_path_buf(), "a directory")];
    for (path, kind) in cases {
        for (name, read) in READERS {
            let (said, hears) = channel();
            let odd = path.clone();
            // A reader that waits would stop the test: only then does the time matter.
            std::thread::spawn(move || said.send(read(&odd)));
            let refused =
                hears.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("{name} waits for {kind}"));
            let wanted = format!("it is {kind}, not a regular file");
            assert!(refused.as_ref().is_some_and(|text| text.contains(&wanted)), "{name} of {kind}: {refused:?}");
        }
    }
}
