//! What a decision of the policy costs.

use super::operations::{ArmPlan, NOTHING, Operation, Role, at_least, at_most};

const WHOLE: &str = "slicing: every policy of the bundle is evaluated";

const fn arm(
    name: &'static str,
    role: Role,
    lacks: &'static str,
    program: fn(&super::operations::Ground) -> Result<std::process::Command, crate::failure::Failure>,
) -> ArmPlan {
    ArmPlan { name, role, lacks, program }
}

static DECIDE: [ArmPlan; 7] = [
    arm("digest", Role::Limit, "the decision: the request is written down and digested", |ground| {
        ground.product(&["decide", "10", "small", "nothing"])
    }),
    arm("ambit", Role::Ours, "", |ground| ground.product(&["decide", "10", "small", "cedar"])),
    arm("ambit-10000", Role::Ours, "", |ground| ground.product(&["decide", "10000", "small", "cedar"])),
    arm("ambit-large", Role::Ours, "", |ground| ground.product(&["decide", "10", "large", "cedar"])),
    arm("cedar-whole", Role::Peer, WHOLE, |ground| ground.product(&["decide", "10", "small", "whole"])),
    arm("cedar-whole-large", Role::Peer, WHOLE, |ground| ground.product(&["decide", "10", "large", "whole"])),
    arm("rules", Role::Peer, "a language that is read, validated and proven by others", |ground| {
        ground.product(&["decide", "10", "small", "rules"])
    }),
];

pub(super) static OPERATIONS: &[Operation] = &[Operation {
    name: "policy-decide",
    says: "1,000 decisions about patches that add a dependency, each with its rules and the digest of its request: runs of 10 projects or of 10,000, under the bundle that comes along or one of 256 rules",
    rounds: 30,
    performances: 5,
    traced: false,
    isolates: false,
    before: NOTHING,
    arms: &DECIDE,
    goals: &[
        at_most("ambit-10000", "ambit", 1.1),
        at_most("ambit-large", "ambit", 1.1),
        at_least("cedar-whole-large", "ambit-large", 4.0),
    ],
}];
