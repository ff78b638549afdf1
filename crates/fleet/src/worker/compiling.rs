//! A worker that compiles for those that measure. It opens no device.
//!
//! Each thread compiles one configuration at a time. This thread alone speaks to the coordinator.

use super::desk::Desk;
use super::{Assignment, Served, failed, ready, unexpected};
use crate::FleetError;
use crate::digest::digest_of;
use crate::secure::Speaking;
use crate::threads::caught;
use crate::wire::{FromCoordinator, FromWorker, Parcel, Task, say, write_content};
use serde_json::{Map, Value as Json};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use tunesmith::{Machine, Problem};
use tunesmith_backend::table::described;
use tunesmith_backend::{BackendMessage, Target};
use tunesmith_core::Interrupt;
use tunesmith_device::{Packer, Unpacked};
use tunesmith_kernel::DeviceError;
use tunesmith_space::{ConfigId, Space, Value};

/// Time between looks at what the threads have made.
const LOOK: Duration = Duration::from_millis(5);

/// The work of a thread that compiles.
const PURPOSE: &str = "compiles";

/// A lease, and what came of it. `None` if it was interrupted.
type Compiled = (u64, Option<Result<Vec<u8>, String>>);

/// Finds the compilers for the device of others and answers leases, until the worker is to end.
pub(super) fn serve(assignment: Assignment<'_>, speaking: &mut Speaking) -> Result<Served, FleetError> {
    let Assignment { problem, machine, listening, interrupt, options, tell } = assignment;
    say(speaking, &FromWorker::Offer { target: None, limits: Map::new() })?;
    let mut desk = Desk::open(listening, interrupt, options)?;
    let (target, limits) = match desk.next() {
        Some(FromCoordinator::Compile { target, limits }) => (target, limits),
        Some(_) => return Err(unexpected()),
        None => return Ok(desk.ended(0)),
    };
    let limits = limits.iter().filter_map(|(name, json)| Some((name.clone(), Value::of_document(json)?)));
    let space = problem.space(&limits.collect::<Vec<_>>()).map_err(|error| failed(error.into()))?.space;
    let packer = open(&problem, &space, target, &machine)?;
    let identity = packer.identity().iter().map(|(name, value)| (name.clone(), Json::from(value.as_str())));
    let room = machine.jobs();
    let readiness = ready(identity.collect(), &problem, &space, room);
    let name = readiness.identity.get("device").and_then(Json::as_str).unwrap_or_default();
    tell(&format!("ready: compiles {} for {name}", problem.spec().name()));
    say(speaking, &FromWorker::Ready(readiness))?;
    answer_all(&mut desk, &packer, &space, room, speaking)
}

/// Finds the compilers for a device. Without a description, it is the processor.
fn open(
    problem: &Problem,
    space: &Space,
    target: Option<BackendMessage>,
    machine: &Machine,
) -> Result<Packer, FleetError> {
    let located = |error: DeviceError| failed(problem.located(error));
    let target = target.as_ref().map_or_else(|| Ok(Target::processor()), described).map_err(FleetError::Protocol)?;
    let target = machine.compiler_for(&target).map_err(located)?;
    let options = problem.live_options(&target, machine).map_err(failed)?;
    Packer::open(space, options).map_err(located)
}

/// Answers leases on several threads until the worker is to end.
fn answer_all(
    desk: &mut Desk<'_>,
    packer: &Packer,
    space: &Space,
    room: usize,
    speaking: &mut Speaking,
) -> Result<Served, FleetError> {
    let (leases, waiting) = channel::<(u64, ConfigId)>();
    let (done, made) = channel();
    let (waiting, interrupt) = (Mutex::new(waiting), desk.interrupt);
    thread::scope(|threads| {
        for at in 0..room {
            let (waiting, done) = (&waiting, done.clone());
            let compile = move || compile_all(packer, waiting, &done, interrupt);
            match thread::Builder::new().spawn_scoped(threads, compile) {
                // Those that there are do the work of others that the system does not start.
                Err(source) if at == 0 => return Err(FleetError::Thread { purpose: PURPOSE, source }),
                Err(_) => break,
                Ok(_) => {}
            }
        }
        let served = pass_on(desk, space, &leases, &made, speaking);
        // The threads end: there is nothing more to compile, and what runs is not needed.
        interrupt.raise();
        drop(leases);
        served
    })
}

/// Hands leases to the threads, and what they made to the coordinator.
fn pass_on(
    desk: &mut Desk<'_>,
    space: &Space,
    leases: &Sender<(u64, ConfigId)>,
    made: &Receiver<Result<Compiled, DeviceError>>,
    speaking: &mut Speaking,
) -> Result<Served, FleetError> {
    let mut answers = 0;
    while !desk.interrupt.is_raised() {
        if let Some(message) = desk.next_within(LOOK) {
            // The threads live as long as this function runs.
            let _ = leases.send(lease(message, space)?);
        }
        while let Ok(compiled) = made.try_recv() {
            let (job, result) = compiled.map_err(|error| failed(error.into()))?;
            let Some(result) = result else { continue };
            desk.pause();
            send(speaking, job, result)?;
            answers += 1;
        }
    }
    Ok(desk.ended(answers))
}

/// Returns the number of a lease and its configuration.
fn lease(message: FromCoordinator, space: &Space) -> Result<(u64, ConfigId), FleetError> {
    let FromCoordinator::Lease { job, task: Task::Compile { config }, .. } = message else {
        return Err(unexpected());
    };
    let config = config.parse().ok().and_then(|rank| space.id(rank));
    let config = config.ok_or_else(|| FleetError::Protocol("a lease names no configuration".to_string()))?;
    Ok((job, config))
}

/// Sends a parcel by its digest, or the reason why there is none.
fn send(speaking: &mut Speaking, job: u64, result: Result<Vec<u8>, String>) -> Result<(), FleetError> {
    let content = match result {
        Ok(content) => content,
        Err(reason) => return say(speaking, &FromWorker::Compiled { job, parcel: Err(reason) }),
    };
    let parcel = Parcel { digest: digest_of(&content), bytes: content.len() as u64 };
    say(speaking, &FromWorker::Compiled { job, parcel: Ok(parcel) })?;
    write_content(speaking, &content)
}

/// Compiles one configuration after the other.
fn compile_all(
    packer: &Packer,
    waiting: &Mutex<Receiver<(u64, ConfigId)>>,
    done: &Sender<Result<Compiled, DeviceError>>,
    interrupt: &Interrupt,
) {
    loop {
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((job, config)) = next else { return };
        // Whoever waits for this answer would wait for ever.
        let packed = caught(PURPOSE, || packer.pack(config, interrupt))
            .unwrap_or_else(|problem| Err(Unpacked::Broken(DeviceError::Machine { problem })));
        let compiled = match packed {
            Ok(parcel) => Ok((job, Some(Ok(parcel)))),
            Err(Unpacked::Failed(reason)) => Ok((job, Some(Err(reason)))),
            Err(Unpacked::Interrupted) => Ok((job, None)),
            Err(Unpacked::Broken(error)) => Err(error),
        };
        if done.send(compiled).is_err() {
            return;
        }
    }
}
