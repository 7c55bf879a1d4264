//! The command line from outside: the real binary, real sandboxes, a real home.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "these are tests, helpers included"
)]
#![allow(clippy::print_stdout, reason = "a test that skips something says so")]

mod admitting;
mod approvals;
mod bad_home;
mod bad_input;
mod bad_usage;
mod bare_machine;
mod bundles;
mod by_hand;
mod canaries;
mod cases;
mod cheats;
mod comparing;
mod crash;
mod doctor;
mod editors;
mod elsewhere;
mod evidence;
mod example_gates;
mod exit_codes;
mod first_steps;
mod from_git;
mod gate_a;
mod gate_b;
mod git_export;
mod grants;
mod host;
mod hostile_agents;
mod images;
mod kept_credentials;
mod known_attacks;
mod lab;
mod leaks;
mod left_alone;
mod limits;
mod live;
mod observed;
mod oracle;
mod ordinary_run;
mod own_documents;
mod own_repository;
mod packages;
mod passphrases;
mod patch_cases;
mod patches;
mod planted;
mod policy_verbs;
mod quickstart;
mod readme;
mod refused_patches;
mod reported;
mod rig;
mod screen;
mod secrets;
mod silenced;
mod stable;
mod tamper;
mod tenants;
mod terminal;
mod told_outputs;
mod views;
mod volumes;
