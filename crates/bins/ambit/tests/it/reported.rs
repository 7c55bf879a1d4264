//! The failures that users of other platforms reported, and the tests here that play them again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::cases::cases;

/// The concerns whose rows are all played again: what a sandbox, its streams, its limits and its end are about.
const CONCERNS: &[&str] = &[
    "timeout",
    "cancel",
    "cleanup",
    "exec",
    "stream",
    "lifecycle",
    "resource",
    "isolation",
    "sandbox",
    "output",
    "artifact",
    "visibility",
];

/// The other concerns, and why their rows stand in no table here.
const ELSEWHERE: &[(&str, &str)] = &[
    ("approval", "a matter of decisions, not of sandboxes"),
    ("budget", "a matter of the run's ledger"),
    ("egress", "no sandbox has a network yet, so that there is no list of destinations to be wrong about"),
    ("evidence", "a matter of records and their chain"),
    ("files", "a matter of source trees"),
    ("gates", "a matter of the catalog"),
    ("idempotency", "a matter of starts and calls"),
    ("oracle", "a matter of what a patch does to tests"),
    ("patch", "a matter of the patch engine"),
    ("paths", "a matter of the tools that read"),
    ("policy", "a matter of egress decisions, of which there are none yet"),
    (
        "secrets",
        "no secret is bound to a sandbox yet; what is planted around one is looked for by the hostile commands",
    ),
];

/// Rows of these concerns that nothing here can play, and why.
const NOT_HERE: &[(&str, &str)] = &[
    ("iss-039", "output is kept as it comes, and shown once its gate has ended; nothing shows it before"),
    ("iss-118", "a destination is never allowed, so that none is denied one by one"),
];

/// A row, and the tests that play it.
#[rustfmt::skip]
const ROWS: &[(&str, &[&str])] = &[
    ("iss-001", &["hostile_commands_are_contained", "time_by_the_clock"]),
    ("iss-002", &["hostile_commands_are_contained"]),
    ("iss-003", &["hostile_commands_are_contained"]),
    ("iss-005", &["hostile_commands_are_contained"]),
    ("iss-006", &["time_by_the_clock", "children_do_not_outlive_the_answer"]),
    ("iss-007", &["hostile_commands_are_contained"]),
    ("iss-008", &["hostile_commands_are_contained"]),
    ("iss-010", &["hostile_commands_are_contained"]),
    ("iss-012", &["cancel_stops_everything"]),
    ("iss-013", &["another_process_ends_a_sandbox_by_its_lease"]),
    ("iss-015", &["an_abort_ends_the_command", "another_process_ends_a_sandbox_by_its_lease"]),
    ("iss-016", &["hostile_commands_are_contained"]),
    ("iss-017", &["sandboxes_end_with_the_control_plane", "a_control_plane_killed_at_any_moment_leaves_one_sandbox_or_none"]),
    ("iss-018", &["a_gate_call_with_limits_of_its_own_begins_nothing"]),
    ("iss-019", &["a_gate_over_its_limit_is_one_verdict", "every_fault_of_a_backend_has_one_end"]),
    ("iss-020", &["silence_alone_ends_no_gate"]),
    ("iss-021", &["sixty_lives"]),
    ("iss-023", &["a_gate_over_its_limit_is_one_verdict"]),
    ("iss-024", &["every_fault_of_a_backend_has_one_end"]),
    ("iss-025", &["the_environment_is_given_whole"]),
    ("iss-026", &["hostile_commands_are_contained"]),
    ("iss-027", &["hostile_commands_are_contained"]),
    ("iss-028", &["what_is_left_of_every_limit_is_shown", "time_by_the_clock"]),
    ("iss-029", &["hostile_commands_are_contained"]),
    ("iss-030", &["a_guest_that_vanishes_is_no_success", "every_fault_of_a_backend_has_one_end"]),
    ("iss-033", &["hostile_commands_are_contained"]),
    ("iss-034", &["destroy_leaves_nothing"]),
    ("iss-035", &["sixty_lives"]),
    ("iss-037", &["output_is_kept_whole", "a_long_stream_keeps_both_ends_and_a_long_line_its_start"]),
    ("iss-038", &["who_stops_watching_leaves_the_run_as_it_is"]),
    ("iss-040", &["output_is_kept_whole", "what_cannot_start_says_why"]),
    ("iss-041", &["a_program_gets_a_line_an_event_and_then_the_run", "an_answer_that_is_cut_anywhere_is_never_a_success"]),
    ("iss-042", &["hostile_commands_are_contained", "every_fault_of_a_backend_has_one_end"]),
    ("iss-044", &["hostile_commands_are_contained"]),
    ("iss-045", &["hostile_commands_are_contained"]),
    ("iss-047", &["an_exit_after_the_time_is_a_limit_whatever_its_code"]),
    ("iss-048", &["keeping_the_outputs_takes_no_verdict_away"]),
    ("iss-049", &["a_bad_gateway_right_after_the_start_costs_nothing"]),
    ("iss-050", &["storage_that_stumbles_decides_nothing_and_the_same_start_succeeds_later"]),
    ("iss-051", &["a_full_disk_loses_nothing_and_the_run_goes_on_once_there_is_space"]),
    ("iss-052", &["hostile_commands_are_contained", "output_is_kept_whole"]),
    ("iss-053", &["a_character_on_the_edge_of_a_window_is_left_out_of_it"]),
    ("iss-054", &["a_character_on_the_edge_of_a_window_is_left_out_of_it"]),
    ("iss-055", &["any_bytes_are_read_without_harm"]),
    ("iss-087", &["a_machine_without_user_namespaces_is_refused", "whatever_falls_short_of_a_profile_is_named_and_nothing_is_filled_in"]),
    ("iss-088", &["a_machine_without_user_namespaces_is_refused", "whatever_falls_short_of_a_profile_is_named_and_nothing_is_filled_in"]),
    ("iss-089", &["the_manifest_is_measured"]),
    ("iss-092", &["whatever_falls_short_of_a_profile_is_named_and_nothing_is_filled_in"]),
    ("iss-094", &["a_hostile_document_is_refused_with_its_place_and_a_snippet_and_nothing_is_kept_of_it", "every_problem_of_a_document_is_told_once_with_its_place"]),
    ("iss-095", &["a_directory_that_only_its_owner_can_list_is_no_obstacle"]),
    ("iss-097", &["hostile_commands_are_contained"]),
    ("iss-099", &["fifty_askers_get_one_sandbox", "a_lost_answer_is_learned_by_asking_again"]),
    ("iss-100", &["every_fault_of_a_backend_has_one_end", "a_sandbox_that_vanishes_between_two_gates_is_replaced"]),
    ("iss-101", &["sandboxes_end_with_the_control_plane", "a_gate_that_runs_when_time_is_up_is_stopped"]),
    ("iss-102", &["whatever_falls_short_of_a_profile_is_named_and_nothing_is_filled_in"]),
    ("iss-103", &["hostile_commands_are_contained", "there_is_no_way_out"]),
    ("iss-124", &["what_is_not_a_file_is_refused"]),
    ("iss-125", &["hostile_commands_are_contained"]),
    ("iss-126", &["hostile_commands_are_contained"]),
];

fn rows() -> Option<Vec<Value>> {
    let text = fs::read_to_string(cases("issues/issues.jsonl")?).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// The names of all functions in the sources.
fn functions(directory: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            functions(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let lines = text.lines().filter_map(|line| line.split_once("fn ")?.1.split_once('('));
            names.extend(lines.map(|(name, _)| name.to_owned()));
        }
    }
}

#[test]
fn every_reported_failure_of_a_sandbox_is_played_again() {
    let Some(rows) = rows() else { return };
    let played: BTreeMap<&str, &[&str]> = ROWS.iter().copied().collect();
    let excused: BTreeMap<&str, &str> = NOT_HERE.iter().copied().collect();
    let elsewhere: BTreeMap<&str, &str> = ELSEWHERE.iter().copied().collect();
    let mut names = BTreeSet::new();
    functions(Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap(), &mut names);
    let mut wrong = Vec::new();
    let mut known = BTreeSet::new();
    for row in &rows {
        let (id, area) = (row["id"].as_str().unwrap(), row["area"].as_str().unwrap());
        known.insert(id);
        let tests = played.get(id).copied().unwrap_or_default();
        let is_played = !tests.is_empty();
        match (CONCERNS.contains(&area), elsewhere.get(area)) {
            (true, _) if is_played == excused.contains_key(id) => {
                wrong.push(format!("{id}: no test plays it"));
            }
            (false, None) => wrong.push(format!("{id}: nobody knows the concern {area}")),
            _ => {}
        }
        let absent = tests.iter().filter(|test| !names.contains(**test));
        wrong.extend(absent.map(|test| format!("{id}: there is no test {test}")));
    }
    wrong.extend(
        played.keys().filter(|id| !known.contains(*id)).map(|id| format!("{id}: there is no such row")),
    );
    assert_eq!(wrong, Vec::<String>::new());
    assert!(names.len() > 1_000, "the sources were read");
}
