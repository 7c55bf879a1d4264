use super::{Rule, Way, runner, silenced};

pub(super) static RULES: &[Rule] = &[
    silenced(Way::Grows, &["golangci/linters/disable", "golangci/formatters/disable"]),
    silenced(Way::Shrinks, &["golangci/linters/enable"]),
    silenced(Way::On, &["golangci/linters/disable-all"]),
    silenced(
        Way::Grows,
        &[
            "golangci/issues/exclude",
            "golangci/issues/exclude-rules",
            "golangci/issues/exclude-dirs",
            "golangci/issues/exclude-files",
            "golangci/run/skip-dirs",
            "golangci/run/skip-files",
            "golangci/linters/exclusions/rules",
            "golangci/linters/exclusions/paths",
            "golangci/linters/exclusions/presets",
        ],
    ),
    silenced(Way::Denied, &["golangci/run/tests"]),
    silenced(Way::On, &["golangci/issues/new", "golangci/issues/exclude-use-default"]),
    runner(Way::Changed, &["golangci/run/issues-exit-code"]),
];
