//! The suite of the port, check by check.

use ambit_conformance::sandbox::{
    Bench, answers, confinement, endings, lifecycle, limits, outputs, volumes, watching, written,
};

use crate::support::bench;

async fn hold(check: impl AsyncFnOnce(&Bench)) {
    let (bench, _directory) = bench();
    check(&bench).await;
}

// proves E-I03 E-I04
// break crates/adapters/sandbox-linux/src/probes/mod.rs: `probes.extend(failures::all(&subject).await);` -> `drop(failures::all(&subject).await);`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_manifest_is_measured() {
    hold(lifecycle::the_manifest_is_measured).await;
}

// proves E-I01
// break crates/ports/src/sandbox/lease.rs: `let digest = Digest::of(format!("ambit.lease/v1\n{scope}\n{run}\n").as_bytes());` -> `let digest = Digest::of(format!("ambit.lease/v1\n{scope}\n{}\n", run.as_str().len()).as_bytes());`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_has_one_sandbox() {
    hold(lifecycle::a_run_has_one_sandbox).await;
}

// proves E-J01
// break crates/adapters/sandbox-linux/src/verbs.rs: `let image = self.image_root(spec.image).await?;` -> `let image = self.empty_image()?;`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_is_named_by_its_digest() {
    hold(lifecycle::an_image_is_named_by_its_digest).await;
}

// proves E-I01
// break crates/adapters/sandbox-linux/src/execute.rs: `if !sandbox.has_tree(command.tree) {` -> `if false {`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_execution_starts_from_the_tree() {
    hold(lifecycle::every_execution_starts_from_the_tree).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tree_is_what_it_first_was() {
    hold(lifecycle::a_tree_is_what_it_first_was).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tree_arrives_whole_or_again() {
    hold(lifecycle::a_tree_arrives_whole_or_again).await;
}

// proves E-P03 E-P05
// break crates/adapters/sandbox-linux/src/retire.rs: `guest.kill().map_err(SandboxError::during("killing the guest"))?;` -> `let _ = &guest;`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancel_stops_everything() {
    hold(lifecycle::cancel_stops_everything).await;
}

// proves E-I12
// break crates/adapters/sandbox-linux/src/execute.rs: `() = abort.raised(), if !stopping => Event::Stop(Stop::Abort),` -> `() = abort.raised(), if !stopping => Event::Stop(Stop::Deadline),`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abort_ends_the_command() {
    hold(lifecycle::an_abort_ends_the_command).await;
}

// proves E-P04 E-P05 E-J11
// break crates/adapters/sandbox-linux/src/home.rs: `remove_all(&self.0)` -> `remove_all(&self.0.join("trees"))`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn destroy_leaves_nothing() {
    hold(lifecycle::destroy_leaves_nothing).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_askers_get_one_sandbox() {
    hold(lifecycle::fifty_askers_get_one_sandbox).await;
}

// proves E-I13 E-P05 C12
// break crates/adapters/sandbox-linux/src/verbs.rs: `Err(SandboxError::PreviewDenied)` -> `Err(SandboxError::Unavailable(Vec::new()))`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_preview_needs_a_grant() {
    hold(lifecycle::a_preview_needs_a_grant).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_lease_is_gone() {
    hold(lifecycle::an_unknown_lease_is_gone).await;
}

// proves E-I01
// break crates/adapters/sandbox-linux/src/backend.rs: `.filter(|sandbox| sandbox.lease.incarnation == lease.incarnation)` -> `.filter(|sandbox| sandbox.lease.lease == lease.lease)`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_names_its_life() {
    hold(answers::every_answer_names_its_life).await;
}

// proves E-I01
// break crates/adapters/sandbox-linux/src/pool.rs: `tokio::spawn(async move { pool.make(&fittings).await })` -> `std::future::ready(Ok::<_, tokio::task::JoinError>(pool.make(&fittings).await))`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_answer_is_learned_by_asking_again() {
    hold(answers::a_lost_answer_is_learned_by_asking_again).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_ends_from_every_state() {
    hold(answers::a_lease_ends_from_every_state).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_grant_opens_a_disabled_preview() {
    hold(answers::no_grant_opens_a_disabled_preview).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_is_told_as_it_is() {
    hold(endings::an_end_is_told_as_it_is).await;
}

// proves D20
// break crates/mechanisms/verdict/src/lib.rs: `(EndedBy::Itself, How::Signalled(signal)) => Ending::Signalled { signal },` -> `(EndedBy::Itself, How::Signalled(_)) => Ending::Exited { code: 0 },`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn output_forges_nothing() {
    hold(endings::output_forges_nothing).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_start_says_why() {
    hold(endings::what_cannot_start_says_why).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_largest_command_starts() {
    hold(endings::the_largest_command_starts).await;
}

// proves E-P04
// break crates/adapters/sandbox-linux/guest/src/roles/supervisor.rs: `killed += kill_the_rest()?;` -> `killed += 0;`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn children_do_not_outlive_the_answer() {
    hold(endings::children_do_not_outlive_the_answer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_is_nothing_to_wait_for() {
    hold(endings::there_is_nothing_to_wait_for).await;
}

// proves E-J09
// break crates/mechanisms/capture/src/lib.rs: `self.tail.extend(&rest[rest.len().saturating_sub(WINDOW_BYTES)..]);` -> `self.tail.clear();`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn output_is_kept_whole() {
    hold(endings::output_is_kept_whole).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_are_not_text_survive() {
    hold(endings::bytes_that_are_not_text_survive).await;
}

// proves E-J10 D10 D6
// break crates/mechanisms/verdict/src/lib.rs: `(EndedBy::Deadline, _) => reached(ResourceLimit::Timeout),` -> `(EndedBy::Deadline, _) => Ending::Aborted,`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn time_by_the_clock() {
    hold(limits::time_by_the_clock).await;
}

// proves E-J05
// break crates/mechanisms/verdict/src/lib.rs: `Some(Stop::Cpu) => return reached(ResourceLimit::Cpu),` -> `Some(Stop::Cpu) => return Ending::Aborted,`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processor_time() {
    hold(limits::processor_time).await;
}

// proves E-J05 E-J14
// break crates/mechanisms/control-groups/src/group.rs: `let quota_us = (limits.cpu_millis.saturating_mul(PERIOD_US) / 1000).max(LEAST_QUOTA_US);` -> `let quota_us = limits.cpu_millis.saturating_mul(PERIOD_US).max(LEAST_QUOTA_US);`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processor_share() {
    hold(limits::processor_share).await;
}

// proves E-J06 E-J14
// break crates/mechanisms/verdict/src/lib.rs: `(EndedBy::Itself, _) if self.memory_kills > 0 => reached(ResourceLimit::Memory),` -> `(EndedBy::Itself, _) if self.memory_kills > 99 => reached(ResourceLimit::Memory),`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory() {
    hold(limits::memory).await;
}

// proves E-J08
// break crates/mechanisms/verdict/src/lib.rs: `(ResourceLimit::Pids, self.process_refusals > 0),` -> `(ResourceLimit::Pids, false),`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes() {
    hold(limits::processes).await;
}

// proves E-J07
// break crates/mechanisms/verdict/src/lib.rs: `(ResourceLimit::Disk, self.disk_full),` -> `(ResourceLimit::Disk, false),`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disk() {
    hold(limits::disk).await;
}

// proves E-J09
// break crates/mechanisms/verdict/src/lib.rs: `Some(Stop::Output) => return reached(ResourceLimit::Output),` -> `Some(Stop::Output) => return Ending::Aborted,`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn output() {
    hold(limits::output).await;
}

// proves E-J11
// break crates/mechanisms/outputs/src/content.rs: `Ok(_) => Ok(Bytes::from(content)),` -> `Ok(_) => Ok(Bytes::new()),`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_declared_file_is_kept() {
    hold(outputs::a_declared_file_is_kept).await;
}

// proves E-J11
// break crates/adapters/sandbox-linux/guest/src/roles/volumes.rs: `| ResolveFlags::NO_SYMLINKS` -> `| ResolveFlags::CACHED`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_a_file_is_refused() {
    hold(outputs::what_is_not_a_file_is_refused).await;
}

// proves E-J11
// break crates/mechanisms/outputs/src/directory.rs: `Some(FileType::Symlink) => Some(OutputRefusal::Link),` -> `Some(FileType::Symlink) => Some(OutputRefusal::Absent),`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_declared_directory_is_kept() {
    hold(outputs::a_declared_directory_is_kept).await;
}

// proves E-J11
// break crates/mechanisms/outputs/src/directory.rs: `if depth >= limits::OUTPUT_DIRECTORY_DEPTH {` -> `if depth > limits::OUTPUT_DIRECTORY_DEPTH {`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_has_bounds() {
    hold(outputs::a_directory_has_bounds).await;
}

// proves E-F04
// break crates/mechanisms/outputs/src/written.rs: `Ok(path) if self.watched.contains(&path) => self.found.files.push(path),` -> `Ok(path) if self.watched.contains(&path) => {}`
// break crates/adapters/sandbox-linux/guest/src/roles/volumes.rs: `Self::open_below(&Self::open_below(&self.blank.upper, upper)?, path)` -> `Self::open_below(&self.workspace, path)`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_at_watched_places_is_told() {
    hold(written::what_is_written_at_watched_places_is_told).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_told_cannot_be_done() {
    hold(written::what_cannot_be_told_cannot_be_done).await;
}

// proves E-J02 E-J13 E-Q03
// break crates/adapters/sandbox-linux/guest/src/roles/guest.rs: `pub(crate) const SANDBOX_ID: u32 = 1000;` -> `pub(crate) const SANDBOX_ID: u32 = 0;`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_has_no_power() {
    hold(confinement::a_command_has_no_power).await;
}

// proves E-J12
// break crates/adapters/sandbox-linux/src/handover.rs: `environment: &self.environment,` -> `environment: &self.arguments,`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_environment_is_given_whole() {
    hold(confinement::the_environment_is_given_whole).await;
}

// proves E-J03 E-J12
// break crates/adapters/sandbox-linux/guest/src/roles/root.rs: `c"dev/stderr"` -> `c"dev/kmsg"`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_file_system_is_reduced() {
    hold(confinement::the_file_system_is_reduced).await;
}

// proves E-J12 E-J14
// break crates/adapters/sandbox-linux/guest/src/roles/spawner.rs: `| sys::CLONE_NEWNET` -> `| 0`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_is_no_way_out() {
    hold(confinement::there_is_no_way_out).await;
}

// proves E-J13
// break crates/adapters/sandbox-linux/guest/src/roles/launcher.rs: `raw::set_filter(filter).at(Step::Filter)` -> `raw::set_filter(&[6, 0, 0, 0, 0, 0, 0xff, 0x7f]).at(Step::Filter)`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_kernel_is_out_of_reach() {
    hold(confinement::the_kernel_is_out_of_reach).await;
}

// proves E-J13
// break crates/mechanisms/system-calls/src/policy.rs: `(call!(__NR_prlimit64), Rule::Where(&NOT_INIT)),` -> `(call!(__NR_prlimit64), Rule::Allow),`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_init_is_out_of_reach() {
    hold(confinement::the_init_is_out_of_reach).await;
}

// proves E-J03 E-J04
// break crates/adapters/sandbox-linux/guest/src/roles/mounts.rs: `const READ_ONLY: u32 = sys::MOUNT_ATTR_RDONLY | sys::MOUNT_ATTR_NOSUID | sys::MOUNT_ATTR_NODEV;` -> `const READ_ONLY: u32 = sys::MOUNT_ATTR_NOSUID | sys::MOUNT_ATTR_NODEV;`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_give_no_power() {
    hold(confinement::files_give_no_power).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_sees_the_volumes_that_it_names() {
    hold(volumes::a_command_sees_the_volumes_that_it_names).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_without_volumes_has_none() {
    hold(volumes::a_sandbox_without_volumes_has_none).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_volume_is_executable_and_never_written() {
    hold(volumes::a_volume_is_executable_and_never_written).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn node_modules_are_found_from_anywhere() {
    hold(volumes::node_modules_are_found_from_anywhere).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_volume_is_what_its_digest_says_or_nothing() {
    hold(volumes::a_volume_is_what_its_digest_says_or_nothing).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn output_is_seen_while_a_command_runs() {
    hold(watching::output_is_seen_while_a_command_runs).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_seen_is_what_is_kept() {
    hold(watching::what_is_seen_is_what_is_kept).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_missed_is_counted() {
    hold(watching::what_is_missed_is_counted).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watcher_changes_nothing() {
    hold(watching::a_watcher_changes_nothing).await;
}
