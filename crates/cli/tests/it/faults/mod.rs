//! The fault laboratory: configurations and requests that misbehave in every way known, each with
//! the status that it must get. The cases are in the `.cases` files of this folder, and
//! docs/trust.md lists them.
//!
//! The cases of a family are configurations of one problem. A family thus costs one run, and every
//! case is followed by others that must not feel it.

use crate::common;

mod cases;
mod list;
mod problems;
mod running;

use cases::Family;
use common::has_opencl;
use running::{check_cheats, check_family, check_requests, has_program, has_sandbox};

macro_rules! family {
    ($name:ident, $title:literal, $file:literal, $build:path) => {
        const $name: Family = Family { title: $title, text: include_str!($file), build: $build };
    };
}

family!(CRASHES, "C: crashes and exits", "c_crashes.cases", problems::c);
family!(STRAY, "C: stray reads and writes", "c_stray.cases", problems::c);
family!(WRONG, "C: wrong results", "c_wrong.cases", problems::c);
family!(CHEATS, "C: cheats, which must not win", "cheats.cases", problems::cheats);
family!(STATE, "C: what a configuration leaves behind", "c_state.cases", problems::c);
family!(HANGS, "C: configurations that never end", "c_hangs.cases", problems::c);
family!(OPENMP, "C with OpenMP", "c_openmp.cases", problems::openmp);
family!(CPP, "C++", "cpp.cases", problems::cpp);
family!(COMPILERS, "Compilers", "compilers.cases", problems::compilers);
family!(OPENCL, "OpenCL", "opencl.cases", problems::opencl);
family!(OPENCL_HANGS, "OpenCL: configurations that never end", "opencl_hangs.cases", problems::opencl);
family!(COMMAND, "Commands", "command.cases", problems::command);
family!(COMMAND_HANGS, "Commands that never end", "command_hangs.cases", problems::command);
family!(CUDA, "CUDA, on a driver that follows a script", "cuda.cases", problems::cuda);
family!(SANDBOX, "C: what the sandbox stops", "sandbox.cases", problems::sandbox);
family!(REQUESTS, "Requests", "requests.cases", problems::request);

/// Returns all families in the order of the list.
fn families() -> [Family; 16] {
    [
        CRASHES,
        STRAY,
        WRONG,
        CHEATS,
        STATE,
        HANGS,
        OPENMP,
        CPP,
        COMPILERS,
        OPENCL,
        OPENCL_HANGS,
        COMMAND,
        COMMAND_HANGS,
        CUDA,
        SANDBOX,
        REQUESTS,
    ]
}

#[test]
fn crashes_and_exits_are_told_from_each_other() {
    check_family(&CRASHES);
}

#[test]
fn stray_reads_and_writes_are_found() {
    check_family(&STRAY);
}

#[test]
fn wrong_results_are_found() {
    check_family(&WRONG);
}

#[test]
fn cheats_do_not_win() {
    check_cheats(&CHEATS);
}

#[test]
fn what_a_configuration_leaves_behind_harms_no_other() {
    check_family(&STATE);
}

#[test]
fn configurations_that_never_end_are_ended() {
    check_family(&HANGS);
}

#[test]
fn openmp_of_one_configuration_does_not_reach_another() {
    check_family(&OPENMP);
}

#[test]
fn faults_of_cpp_are_told_from_each_other() {
    check_family(&CPP);
}

#[test]
fn faults_of_compilers_are_those_of_their_configuration() {
    check_family(&COMPILERS);
}

#[test]
fn faults_of_opencl_are_told_from_each_other() {
    if has_opencl() {
        check_family(&OPENCL);
    }
}

#[test]
fn kernels_of_opencl_that_never_end_are_ended() {
    if has_opencl() {
        check_family(&OPENCL_HANGS);
    }
}

#[test]
fn faults_of_commands_are_told_from_each_other() {
    check_family(&COMMAND);
}

#[test]
fn commands_that_never_end_are_ended() {
    check_family(&COMMAND_HANGS);
}

#[test]
fn faults_of_cuda_are_told_from_each_other() {
    check_family(&CUDA);
}

#[test]
fn the_sandbox_stops_what_it_promises() {
    if has_sandbox() {
        check_family(&SANDBOX);
    }
}

/// The folder of the run must be out of reach of kernels that may write shared memory.
#[test]
fn the_sandbox_stops_what_it_promises_of_kernels_that_clang_compiled() {
    if has_sandbox() && has_program("clang") {
        check_family(&Family {
            title: "C by clang: what the sandbox stops",
            build: problems::sandbox_of_clang,
            ..SANDBOX
        });
    }
}

#[test]
fn faulty_requests_end_with_their_exit_code() {
    check_requests(&REQUESTS);
}
