//! Workers of other kinds: they wait until their pool has its turn.

use super::Fleet;
use super::calibration::Calibration;
use super::compilers::Compilers;
use super::likeness::{VERSION, difference};
use super::member::{Member, Waiting};
use crate::hall::Connection;
use crate::lease::Leases;
use crate::wire::FromCoordinator;
use serde_json::{Map, Value as Json};
use tunesmith_core::Bound;
use tunesmith_store::{FleetReport, WorkerRole, WorkerState};

impl Fleet {
    /// Returns true if a worker that differs may wait for a pool of its own: it has another device, with
    /// the same problem and the same version of this program.
    pub(super) fn may_wait(&self, own: &Waiting) -> bool {
        let is_same = |name: &str| {
            let known = self.identity.as_ref().and_then(|known| known.get(name));
            known.is_none_or(|known| own.identity.get(name) == Some(known))
        };
        let problem = self.subject.get("problem").and_then(Json::as_str);
        let is_done = self.finished.iter().any(|kind| difference(kind, &own.identity).is_none());
        self.options.pools && is_same(VERSION) && problem.is_none_or(|known| known == own.problem) && !is_done
    }

    /// Keeps a worker until its pool has its turn.
    pub(super) fn keep_waiting(&mut self, connection: Connection, own: Waiting, difference: &str) {
        let Some(member) = self.members.get_mut(&connection) else { return };
        member.waiting = Some(own);
        let text = format!("{} waits for a pool of its own: its {difference}", member.name);
        self.note(text);
        self.count_others();
    }

    /// Counts the workers that wait.
    pub(super) fn count_others(&self) {
        self.report.set_others(self.members.values().filter(|member| member.waiting.is_some()).count());
    }

    /// Ends the present pool and begins with the largest kind of workers that wait. Returns false if
    /// nobody waits.
    pub(crate) fn next_pool(&mut self) -> bool {
        self.finish_report();
        self.finished.extend(self.identity.take());
        let served: Vec<Connection> = self
            .members
            .iter()
            .filter(|(_, member)| member.id.is_some() || member.offer.who.role == WorkerRole::Compiles)
            .map(|(connection, _)| *connection)
            .collect();
        for connection in served {
            if let Some(member) = self.members.remove(&connection) {
                member.outbox.send(FromCoordinator::End { reason: None });
            }
        }
        let kinds = self.members.values().filter_map(|member| member.waiting.as_ref());
        let kinds: Vec<Map<String, Json>> = kinds.map(|waiting| waiting.identity.clone()).collect();
        let count = |kind: &Map<String, Json>| kinds.iter().filter(|other| difference(kind, other).is_none()).count();
        let Some(next) = kinds.iter().rev().max_by_key(|kind| count(kind)).cloned() else { return false };
        self.kind = Some(next);
        (self.leases, self.calibration) = (Leases::new(self.options.terms), Calibration::default());
        self.compilers = Compilers::new(self.options.terms);
        self.measuring.clear();
        self.compiling.clear();
        (self.space, self.subject, self.bar_ms) = (None, Map::new(), None);
        (self.bounds, self.shares_bounds) = ([Bound::Open; 2], false);
        self.ended.clear();
        (self.alone_since, self.first_ready, self.most_idle) = (None, None, 0);
        let spec = self.options.spec.to_string();
        self.report.change(|report| *report = FleetReport { spec, ..FleetReport::default() });
        true
    }

    /// Returns true if a worker belongs to the pool that has its turn.
    pub(super) fn is_of_pool(&self, waiting: Option<&Waiting>) -> bool {
        match (&self.kind, waiting) {
            (None, waiting) => waiting.is_none(),
            (Some(kind), Some(waiting)) => difference(kind, &waiting.identity).is_none(),
            (Some(_), None) => false,
        }
    }

    /// Lets those of the pool serve that were ready before its turn.
    pub(super) fn let_pool_serve(&mut self) {
        let own = |fleet: &Self| {
            let of_pool = |(_, member): &(&Connection, &Member)| {
                member.waiting.is_some() && fleet.is_of_pool(member.waiting.as_ref())
            };
            fleet.members.iter().filter(of_pool).map(|(connection, _)| *connection).collect::<Vec<_>>()
        };
        for connection in own(self) {
            let waiting = self.members.get_mut(&connection).and_then(|member| member.waiting.take());
            if let Some(own) = waiting {
                self.compare_kind(connection, own);
            }
        }
        self.count_others();
    }

    /// Keeps the last state of the present pool.
    pub(crate) fn finish_report(&mut self) {
        self.update_report(self.door.now());
        self.report.change(|report: &mut FleetReport| {
            for worker in &mut report.workers {
                worker.holds = 0;
                if worker.state == WorkerState::Ready {
                    worker.state = WorkerState::Ended;
                }
            }
        });
        // At the end of the run there is nobody left to tell.
        let _ = self.report.write(self.door.now(), true);
        self.report.close();
    }
}
