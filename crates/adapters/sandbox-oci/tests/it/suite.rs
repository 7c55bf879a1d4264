//! The suite of the port, check by check, for each runtime that is on this machine.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use ambit_conformance::sandbox::{
    Bench, confinement, endings, lifecycle, limits, outputs, volumes, watching, written,
};

use crate::ordinary_user::is_root;
use crate::support::{QUICKEST, bench, is_left_out, is_there};

/// A check that a runtime cannot pass, and why that is a limit of the runtime.
struct Exception {
    runtime: &'static str,
    check: &'static str,
    why: &'static str,
}

const fn exception(runtime: &'static str, check: &'static str, why: &'static str) -> Exception {
    Exception { runtime, check, why }
}

/// Every exception. One that a runtime passes after all fails its test, so that it is taken away.
const EXCEPTIONS: [Exception; 9] = [
    exception("runsc", "a_command_has_no_power", "its kernel lists neither CapAmb nor NoNewPrivs"),
    exception("runsc", "a_volume_is_executable_and_never_written", "its kernel lists no nosuid on a mount"),
    exception("runsc", "files_give_no_power", "its kernel lists no nosuid on a mount"),
    exception(
        "runsc",
        "the_file_system_is_reduced",
        "its kernel shows the environment of other processes of a user",
    ),
    exception(
        "runsc",
        "proc_tells_nothing_of_the_host",
        "its kernel has a command line of its own, which tells nothing of the host",
    ),
    exception("runsc", "the_kernel_is_out_of_reach", "its kernel does not tell the personality"),
    exception("runsc", "there_is_no_way_out", "its kernel says that a host, not a network, is unreachable"),
    exception(
        "runsc",
        "there_is_nothing_to_wait_for",
        "its kernel has a terminal device that fails otherwise",
    ),
    exception("runsc", "what_is_not_a_file_is_refused", "its kernel keeps named pipes to itself"),
];

/// Those of an ordinary user's containers alone.
const OF_ORDINARY_USERS: [Exception; 2] = [
    exception(
        "runc",
        "a_command_has_no_power",
        "it needs the number of root in a user namespace, and there is one number to be had",
    ),
    exception("runsc", "memory", "its kernel does not bound the memory of a process: the command is ended"),
];

/// Checks that measure the backend first, which another one does as well: by its probes it meets the same limits, and so do
/// the hostile commands.
const MEASURE_FIRST: [&str; 3] = ["memory", "processes", "processor_share"];

/// The checks that every runtime runs every time. The quickest one runs nearly all of them.
const EVERY_TIME: [&str; 11] = [
    "a_run_has_one_sandbox",
    "an_unknown_lease_is_gone",
    "an_abort_ends_the_command",
    "cancel_stops_everything",
    "destroy_leaves_nothing",
    "output_forges_nothing",
    "a_declared_file_is_kept",
    "a_command_has_no_power",
    "there_is_no_way_out",
    "node_modules_are_found_from_anywhere",
    "output_is_seen_while_a_command_runs",
];

/// Runs a check under a runtime, or says why it does not.
fn hold(runtime: &str, check: &str, run: impl AsyncFnOnce(&Bench)) {
    let is_brief = runtime == QUICKEST || EVERY_TIME.contains(&check);
    let is_long = !is_brief || MEASURE_FIRST.contains(&check);
    if is_long && is_left_out(runtime, check) || !is_there(runtime) {
        return;
    }
    let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (bench, _directory) = bench(runtime);
    let of_this_user = if is_root() { &[][..] } else { &OF_ORDINARY_USERS };
    let mut exceptions = EXCEPTIONS.iter().chain(of_this_user);
    let exception = exceptions.find(|exception| (exception.runtime, exception.check) == (runtime, check));
    let outcome = catch_unwind(AssertUnwindSafe(|| threads.block_on(run(&bench))));
    match (outcome, exception) {
        (Ok(()), None) => {}
        (Ok(()), Some(_)) => panic!("{runtime} passes {check}: it is no exception any more"),
        (Err(_), Some(exception)) => println!("{runtime} does not pass {check}: {}", exception.why),
        (Err(found), None) => resume_unwind(found),
    }
}

macro_rules! suite {
    ($runtime:ident: $($family:ident::$check:ident)+) => {
        mod $runtime {
            use super::*;

            $(
                #[test]
                fn $check() {
                    hold(stringify!($runtime), stringify!($check), $family::$check);
                }
            )+
        }
    };
}

macro_rules! every_check {
    ($($runtime:ident)+) => {
        $(suite! {
            $runtime:
            lifecycle::the_manifest_is_measured
            lifecycle::a_run_has_one_sandbox
            lifecycle::an_image_is_named_by_its_digest
            lifecycle::every_execution_starts_from_the_tree
            lifecycle::a_tree_is_what_it_first_was
            lifecycle::a_tree_arrives_whole_or_again
            lifecycle::cancel_stops_everything
            lifecycle::an_abort_ends_the_command
            lifecycle::destroy_leaves_nothing
            lifecycle::fifty_askers_get_one_sandbox
            lifecycle::a_preview_needs_a_grant
            lifecycle::an_unknown_lease_is_gone
            endings::an_end_is_told_as_it_is
            endings::output_forges_nothing
            endings::what_cannot_start_says_why
            endings::the_largest_command_starts
            endings::children_do_not_outlive_the_answer
            endings::there_is_nothing_to_wait_for
            endings::output_is_kept_whole
            endings::bytes_that_are_not_text_survive
            limits::processor_time
            limits::processor_share
            limits::memory
            limits::processes
            limits::disk
            limits::output
            outputs::a_declared_file_is_kept
            outputs::what_is_not_a_file_is_refused
            written::what_is_written_at_watched_places_is_told
            written::what_cannot_be_told_cannot_be_done
            confinement::a_command_has_no_power
            confinement::the_environment_is_given_whole
            confinement::the_file_system_is_reduced
            confinement::proc_tells_nothing_of_the_host
            confinement::there_is_no_way_out
            confinement::the_kernel_is_out_of_reach
            confinement::the_init_is_out_of_reach
            confinement::files_give_no_power
            volumes::a_command_sees_the_volumes_that_it_names
            volumes::a_sandbox_without_volumes_has_none
            volumes::a_volume_is_executable_and_never_written
            volumes::node_modules_are_found_from_anywhere
            volumes::a_volume_is_what_its_digest_says_or_nothing
            watching::output_is_seen_while_a_command_runs
            watching::what_is_seen_is_what_is_kept
            watching::what_is_missed_is_counted
            watching::a_watcher_changes_nothing
        })+
    };
}

every_check! { crun runc runsc }

// proves E-J10
// break crates/mechanisms/verdict/src/lib.rs: `(EndedBy::Deadline, _) => reached(ResourceLimit::Timeout),` -> `(EndedBy::Deadline, _) => Ending::Aborted,`
#[test]
fn crun_ends_a_command_by_the_clock() {
    hold("crun", "time_by_the_clock", limits::time_by_the_clock);
}

#[test]
fn runc_ends_a_command_by_the_clock() {
    hold("runc", "time_by_the_clock", limits::time_by_the_clock);
}

#[test]
fn runsc_ends_a_command_by_the_clock() {
    hold("runsc", "time_by_the_clock", limits::time_by_the_clock);
}
