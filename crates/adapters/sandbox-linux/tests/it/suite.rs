//! The suite of the port, check by check.

use ambit_conformance::sandbox::{confinement, endings, lifecycle, limits, outputs};

use crate::support::bench;

macro_rules! checks {
    ($($module:ident::$check:ident)+) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $check() {
                let (bench, _directory) = bench();
                $module::$check(&bench).await;
            }
        )+
    };
}

checks! {
    lifecycle::the_manifest_is_measured
    limits::processor_share
    limits::memory
    limits::processes
    lifecycle::a_run_has_one_sandbox
    lifecycle::every_execution_starts_from_the_tree
    lifecycle::a_tree_is_what_it_first_was
    lifecycle::cancel_stops_everything
    lifecycle::an_abort_ends_the_command
    lifecycle::destroy_leaves_nothing
    lifecycle::fifty_askers_get_one_sandbox
    lifecycle::a_preview_needs_a_grant
    lifecycle::an_unknown_lease_is_gone
    endings::an_end_is_told_as_it_is
    endings::output_forges_nothing
    endings::what_cannot_start_says_why
    endings::children_do_not_outlive_the_answer
    endings::there_is_nothing_to_wait_for
    endings::output_is_kept_whole
    endings::bytes_that_are_not_text_survive
    limits::time_by_the_clock
    limits::processor_time
    limits::disk
    limits::output
    outputs::a_declared_file_is_kept
    outputs::what_is_not_a_file_is_refused
    confinement::a_command_has_no_power
    confinement::the_environment_is_given_whole
    confinement::the_file_system_is_reduced
    confinement::there_is_no_way_out
    confinement::the_kernel_is_out_of_reach
    confinement::the_init_is_out_of_reach
    confinement::files_give_no_power
}
