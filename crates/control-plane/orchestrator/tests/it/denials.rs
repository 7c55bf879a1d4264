//! What a denial tells the agent, and what it leaves in the trace.

use ambit_policy::{DenialKind, Verdict};
use ambit_run::{CallOutcome, Event, Observation};
use ambit_simulation::{Setup, creation, edit, simulate};

use crate::invariants::check_ended;
use crate::policies::world;

// proves E-E12 E-N03 D2
// break crates/control-plane/broker/src/assess.rs: `(*named != ground.scope().project).then(|| Fact::ForeignProject { project: named.clone() })` -> `(*named == ground.scope().project).then(|| Fact::ForeignProject { project: named.clone() })`
#[test]
fn a_read_of_another_project_is_denied_and_recorded() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent =
            world.script([|turn| turn.read_of("ledger", "src/word.txt"), |turn| turn.read("src/word.txt")]);
        let run = world.start(&agent).await;
        let state = world.drive(&run, &agent).await.ended();
        let decided: Vec<_> = world
            .links(&run)
            .await
            .into_iter()
            .filter_map(|link| match link.record.event() {
                Ok(Event::CallDecided(decided)) => Some(*decided),
                _ => None,
            })
            .collect();
        assert_eq!(decided[0].decision.verdict, Verdict::Deny(DenialKind::Call));
        assert!(matches!(&decided[0].outcome, CallOutcome::Denied(_)), "{:?}", decided[0].outcome);
        assert!(world.blob(decided[0].decision.input).is_some(), "the exact request is kept");
        assert_eq!(decided[1].outcome, CallOutcome::Perform, "its own project can be read");
        let last = state.dossier().unwrap().last_observation.clone();
        assert!(matches!(last, Some(Observation::FileRead { .. })), "{last:?}");
        assert_eq!(agent.heard()[2]["content"], "undone\n");
        check_ended(&world, &run, &state, "another project").await;
    });
}

// proves E-H06 E-B03
// break crates/control-plane/orchestrator/src/turn.rs: `Ok((decision, instead))` -> `Ok((decision, String::new()))`
// break crates/control-plane/orchestrator/src/reply.rs: `CallOutcome::Denied(denial) => Some(denial_view(denial)),` -> `CallOutcome::Denied(_) => None,`
#[test]
fn a_denied_call_tells_its_agent_the_rule_and_what_is_possible_instead() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = world.script([
            |turn| turn.plan(&["AC-1"]),
            |turn| turn.patch(&creation("deploy/production.yaml", "live: true\n")),
            |turn| turn.gate_once("deploy.production"),
            |turn| turn.patch(&edit("src/word.txt", "another\n", "right\n")),
            |turn| turn.gate_once("integration"),
        ]);
        let run = world.start(&agent).await;
        let state = world.drive(&run, &agent).await.ended();
        let heard = agent.heard();
        for (turn, code, rules) in [
            (2, "POLICY_DENIED", vec!["forbid-leaving-scope"]),
            (3, "GATE_UNKNOWN", vec![]),
            (4, "PATCH_REFUSED", vec![]),
        ] {
            let denied = &heard[turn]["denied"];
            assert_eq!(denied["code"], code, "{denied}");
            assert_eq!(denied["rules"], serde_json::json!(rules), "{denied}");
            assert!(!denied["instead"].as_str().unwrap().is_empty(), "{denied}");
        }
        let words = heard[2]["denied"]["instead"].as_str().unwrap();
        assert!(words.contains("Touch only paths within the scope"), "the rule's own words: {words}");
        assert!(world.sandbox.executed().is_empty());
        check_ended(&world, &run, &state, "denials").await;
    });
}

// proves E-E04 E-D12
// break crates/domain/run/src/step/judge.rs: `return if record.gate == *gate && record.tree == dossier.head {` -> `return if record.gate != *gate && record.tree == dossier.head {`
#[test]
fn one_key_is_one_execution_and_another_use_of_it_is_a_conflict() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let agent = world.script([
            |turn| turn.plan(&["AC-1"]),
            |turn| turn.patch(&edit("src/word.txt", "undone\n", "right\n")),
            |turn| turn.gate("unit", "k-1"),
            |turn| turn.gate("unit", "k-1"),
            |turn| turn.patch(&creation("src/more.txt", "more\n")),
            |turn| turn.gate("unit", "k-1"),
        ]);
        let run = world.start(&agent).await;
        let state = world.drive(&run, &agent).await.ended();
        let heard = agent.heard();
        assert_eq!(heard[3]["exitCode"], 0);
        assert_eq!(heard[4]["replayed"]["artifactId"], heard[3]["artifactId"], "the same artifact");
        assert_eq!(heard[6]["denied"]["code"], "IDEMPOTENCY_CONFLICT");
        assert_eq!(world.sandbox.executed().len(), 1);
        check_ended(&world, &run, &state, "one key").await;
    });
}

// proves E-C05 E-C07
// break crates/domain/run/src/step/judge.rs: `if expected != dossier.head {` -> `if expected != dossier.head && false {`
// break crates/domain/run/src/step/judge.rs: `Some(failed) if hypothesis.is_none_or(|text| text.trim().is_empty()) => Err(Denial::new(` -> `Some(failed) if hypothesis.is_none_or(|text| text.trim().is_empty()) && false => Err(Denial::new(`
#[test]
fn a_patch_against_an_old_tree_and_one_without_a_cause_are_refused() {
    simulate(async {
        let world = world(Setup::standard()).await;
        let base = world.base_tree.digest().to_string();
        let agent = world.agent(move |turn| {
            let mut stale = turn.patch(&creation("src/more.txt", "more\n"));
            stale["input"]["expectedBaseSha"] = serde_json::json!(base);
            ambit_simulation::Reply::Say(match turn.proposals() {
                0 => turn.plan(&["AC-1"]),
                1 => turn.patch(&edit("src/word.txt", "undone\n", "wrong\n")),
                2 => stale,
                3 => turn.gate_once("unit"),
                4 => turn.patch(&edit("src/word.txt", "wrong\n", "right\n")),
                5 => turn.explained(&edit("src/word.txt", "wrong\n", "right\n")),
                _ => return ambit_simulation::Reply::Finished,
            })
        });
        let run = world.start(&agent).await;
        let state = world.drive(&run, &agent).await.ended();
        let heard = agent.heard();
        assert_eq!(heard[3]["denied"]["code"], "BASE_CONFLICT");
        assert_eq!(heard[5]["denied"]["code"], "HYPOTHESIS_MISSING");
        assert!(heard[6]["revisionSha"].is_string(), "{}", heard[6]);
        assert_eq!(state.dossier().unwrap().patches.len(), 2);
        check_ended(&world, &run, &state, "two refusals").await;
    });
}
