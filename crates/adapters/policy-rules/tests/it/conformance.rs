//! What every engine answers to the same rules.

use ambit_policy_rules::RuleEngine;

// proves E-H06
#[test]
fn the_engine_answers_as_every_engine_does() {
    ambit_conformance::policy::suite(|policy, rules| {
        RuleEngine::new(policy, rules).map_err(|error| error.code().to_owned())
    });
}
