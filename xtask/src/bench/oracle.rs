//! What the facts of a patch cost beside one parse of the file after it.

use super::operations::{ArmPlan, Goal, NOTHING, Operation, Role, at_most};

/// The package whose example performs these arms, and the example.
const EXAMPLE: (&str, &str) = ("ambit-oracle", "cost");

/// For each kind of file the arm that parses it once, and the one that tells the facts of a patch of it.
macro_rules! measured {
    ($($language:literal $kind:literal),+ $(,)?) => {
        static FACTS: &[ArmPlan] = &[$(
            ArmPlan {
                name: concat!($language, "-", $kind, "-parse"),
                role: Role::Limit,
                lacks: "the side before, and all that is told of either",
                program: |ground| ground.example(EXAMPLE, &[$language, $kind, "parse"]),
            },
            ArmPlan {
                name: concat!($language, "-", $kind),
                role: Role::Ours,
                lacks: "",
                program: |ground| ground.example(EXAMPLE, &[$language, $kind, "facts"]),
            },
        )+];
        static GOALS: &[Goal] = &[$(
            at_most(concat!($language, "-", $kind), concat!($language, "-", $kind, "-parse"), 2.5),
        )+];
    };
}

measured!(
    "python" "test",
    "python" "source",
    "javascript" "test",
    "javascript" "source",
    "typescript" "test",
    "typescript" "source",
    "rust" "test",
    "rust" "source",
    "go" "test",
    "go" "source",
    "java" "test",
    "java" "source",
);

pub(super) static OPERATIONS: &[Operation] = &[Operation {
    name: "oracle-facts",
    says: "all facts of a patch of 200 lines of a file of 2,000, beside one parse of the file after it",
    rounds: 30,
    performances: 5,
    traced: false,
    isolates: false,
    before: NOTHING,
    arms: FACTS,
    goals: GOALS,
}];
