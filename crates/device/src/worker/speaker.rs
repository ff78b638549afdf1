//! The processes that speak about a job, and what the tuner believes each of them.
//!
//! A kernel in C can find its process's connection and the envelope of its messages. It can then
//! send whatever it likes as the process of its job. The tuner therefore takes from that process only
//! what a job says. Whatever else comes from it is forged, and the configuration is to blame.

use crate::worker::protocol::{Ending, JobReport, Message};
use tunesmith_backend::SessionKind;

/// A process that sends messages about the present job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    /// A worker that forks for its jobs. The user's code never runs in it.
    Forker,
    /// The process that the worker forked for the job. Before its first message, the user's code
    /// has not run in it.
    Job { is_first: bool },
    /// A worker that runs the job itself. Only the drivers of GPUs know the troubles of a device.
    Runner { knows_troubles: bool },
}

impl Speaker {
    /// Returns the worker of a session as a speaker.
    pub(super) fn worker(session: &SessionKind) -> Self {
        if session.forks { Self::Forker } else { Self::Runner { knows_troubles: session.knows_troubles } }
    }

    /// Returns true if the process may send `message` about a job that runs.
    pub(super) fn may_say(self, message: &Message) -> bool {
        match message {
            Message::Forked(_) | Message::JobEnded(_) => self == Self::Forker,
            Message::Machine(_) => matches!(self, Self::Forker | Self::Job { is_first: true }),
            Message::Phase(_) | Message::Outputs { .. } => self != Self::Forker,
            Message::Finished(report) => self != Self::Forker && (self.knows_troubles() || !is_troubled(report)),
            Message::Changed(_) => matches!(self, Self::Runner { .. }),
            Message::Ready
            | Message::Loaded { .. }
            | Message::NotLoaded
            | Message::Unusable(_)
            | Message::Answer(_)
            | Message::Compiled(_) => false,
        }
    }

    fn knows_troubles(self) -> bool {
        self == Self::Runner { knows_troubles: true }
    }
}

fn is_troubled(report: &JobReport) -> bool {
    matches!(report.ending, Ending::Troubled(_))
}

/// Returns the failure of a configuration that forged a message.
pub(crate) fn forged(what: &str) -> String {
    format!("the kernel forged a message of its worker: {what}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::protocol::Phase;
    use tunesmith_backend::BackendMessage;
    use tunesmith_backend::energy::Trouble;

    fn finished(ending: Ending) -> Message {
        Message::Finished(Box::new(JobReport { ending, ..JobReport::new() }))
    }

    fn driver() -> SessionKind {
        SessionKind::of_driver(BackendMessage::new("opencl", &0))
    }

    fn machine() -> Message {
        Message::Machine("the disk is full".to_owned())
    }

    #[test]
    fn a_job_says_its_steps_its_outputs_and_its_end_and_nothing_else() {
        let job = Speaker::Job { is_first: false };
        let said = [Message::Phase(Phase::Launching), Message::Outputs { launch: 1 }, finished(Ending::Correct)];
        assert!(said.iter().all(|message| job.may_say(message) && !Speaker::Forker.may_say(message)));
        let forged = [
            Message::Ready,
            Message::NotLoaded,
            Message::Unusable("no device".to_owned()),
            Message::Forked(1),
            Message::JobEnded(0),
            Message::Changed(Vec::new()),
            machine(),
            finished(Ending::Troubled(Trouble::Memory)),
        ];
        assert!(!forged.iter().any(|message| job.may_say(message)));
    }

    #[test]
    fn a_job_speaks_of_the_machine_only_before_the_users_code_runs() {
        assert!(Speaker::Job { is_first: true }.may_say(&machine()) && Speaker::Forker.may_say(&machine()));
        let runner = Speaker::worker(&driver());
        assert!(!Speaker::Job { is_first: false }.may_say(&machine()) && !runner.may_say(&machine()));
    }

    #[test]
    fn only_workers_of_gpus_know_the_troubles_of_their_device() {
        let gpu = SessionKind { knows_troubles: true, ..driver() };
        let forking = SessionKind::forking(BackendMessage::new("c", &()));
        let may_say =
            |session: &SessionKind| Speaker::worker(session).may_say(&finished(Ending::Troubled(Trouble::Memory)));
        assert_eq!([may_say(&gpu), may_say(&driver()), may_say(&forking)], [true, false, false]);
    }

    #[test]
    fn a_worker_that_runs_its_jobs_forks_none() {
        let runner = Speaker::worker(&driver());
        assert!(!runner.may_say(&Message::Forked(1)) && !runner.may_say(&Message::JobEnded(0)));
        assert!(runner.may_say(&Message::Changed(Vec::new())) && runner.may_say(&finished(Ending::Correct)));
        assert!(Speaker::Forker.may_say(&Message::Forked(1)) && Speaker::Forker.may_say(&Message::JobEnded(0)));
    }
}
