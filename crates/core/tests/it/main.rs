//! The integration tests of this crate, in one program: a module for each subject.

mod ask_tell;
mod common;
mod compile_limits;
mod finals;
mod in_flight;
mod judging;
mod limits_of_time;
mod regret;
mod starts;
mod tuning_loop;
