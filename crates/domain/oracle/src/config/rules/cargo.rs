use super::{Rule, Way, moved, runner, silenced};

pub(super) static RULES: &[Rule] = &[
    runner(Way::Denied, &["test/*/test", "lib/test", "bin/*/test", "example/*/test"]),
    runner(Way::Denied, &["test/*/harness", "lib/harness", "bin/*/harness"]),
    runner(Way::Denied, &["lib/doctest"]),
    runner(Way::DeniedAlone("test"), &["package/autotests"]),
    runner(Way::Grows, &["test/*/required-features"]),
    runner(Way::Denied, &["profile/test/debug-assertions", "profile/dev/debug-assertions"]),
    runner(Way::Denied, &["profile/test/overflow-checks", "profile/dev/overflow-checks"]),
    runner(Way::Grows, &["workspace/exclude"]),
    runner(Way::Narrows(&[".", "*"]), &["workspace/default-members"]),
    runner(Way::Flags, &["config/build/rustflags", "config/target/*/rustflags", "config/build/rustdocflags"]),
    runner(Way::Changed, &["config/target/*/runner"]),
    runner(
        Way::Changed,
        &["config/build/rustc", "config/build/rustc-wrapper", "config/build/rustc-workspace-wrapper"],
    ),
    runner(Way::Changed, &["config/alias/*"]),
    runner(
        Way::Changed,
        &["config/env/RUSTFLAGS", "config/env/RUSTC_WRAPPER", "config/env/CARGO_ENCODED_RUSTFLAGS"],
    ),
    runner(Way::Rises, &["nextest/profile/*/retries", "nextest/profile/*/retries/count"]),
    runner(Way::Changed, &["nextest/profile/*/default-filter"]),
    runner(Way::Rises, &["nextest/profile/*/overrides/*/retries"]),
    silenced(Way::Severity, &["lints/*/*", "workspace/lints/*/*"]),
    silenced(
        Way::Rises,
        &[
            "clippy/too-many-arguments-threshold",
            "clippy/too-many-lines-threshold",
            "clippy/cognitive-complexity-threshold",
            "clippy/type-complexity-threshold",
            "clippy/large-error-threshold",
            "clippy/excessive-nesting-threshold",
        ],
    ),
    silenced(
        Way::Shrinks,
        &["clippy/disallowed-methods", "clippy/disallowed-types", "clippy/disallowed-macros"],
    ),
    moved(Way::Changed, &["config/source/*", "config/registries/*", "config/registry", "config/patch/*"]),
    moved(Way::Changed, &["config/paths"]),
];
