//! A program that is only a worker: for tests, and for library users whose own program cannot be
//! one.

fn main() {
    tunesmith_device::worker::enter_if_worker();
    // Reached only if someone starts it by hand.
    let explanation = "This program runs kernels for Tunesmith and is started by it; there is nothing to do by hand.\n";
    let _ = std::io::Write::write_all(&mut std::io::stderr(), explanation.as_bytes());
    std::process::exit(2);
}
