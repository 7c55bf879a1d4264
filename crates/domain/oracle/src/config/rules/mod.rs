//! What settings mean to a check: which way of changing each one makes it say less.

mod cargo;
mod golang;
mod node;
mod python;

use ambit_policy::FactKind;

use super::kind::Family;

/// The way of changing a setting that is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// In any way.
    Changed,
    /// It has more elements.
    Grows,
    /// It has fewer elements.
    Shrinks,
    /// It names fewer places, or other ones: it loses elements, or is there where nothing limited the check before.
    /// These are what it finds when nothing is said.
    Narrows(&'static [&'static str]),
    /// The number rises, or is there where none was.
    Rises,
    /// The number falls, or is gone.
    Falls,
    /// The time is gone, nought, or more than ten times as long.
    Lifted,
    /// It is true now.
    On,
    /// It was true and is not now.
    Off,
    /// It is false now.
    Denied,
    /// It is false now, and nothing is listed under this name instead.
    DeniedAlone(&'static str),
    /// The severity of a lint is less, or the lint is switched off.
    Severity,
    /// Options of pytest.
    Options,
    /// Filters of warnings.
    Filters,
    /// A command line that a check is.
    Command,
    /// Options of a compiler.
    Flags,
}

/// One setting, by the names that tools and their versions have for it.
pub(super) struct Rule {
    pub(super) paths: &'static [&'static str],
    pub(super) way: Way,
    pub(super) kind: FactKind,
}

const fn runner(way: Way, paths: &'static [&'static str]) -> Rule {
    Rule { paths, way, kind: FactKind::RunnerChanged }
}

const fn silenced(way: Way, paths: &'static [&'static str]) -> Rule {
    Rule { paths, way, kind: FactKind::CheckSilenced }
}

const fn moved(way: Way, paths: &'static [&'static str]) -> Rule {
    Rule { paths, way, kind: FactKind::DependencyMoved }
}

/// The settings of a family.
pub(super) fn of(family: Family) -> &'static [Rule] {
    match family {
        Family::Python => python::RULES,
        Family::Node => node::RULES,
        Family::Cargo => cargo::RULES,
        Family::Go => golang::RULES,
        Family::Pipeline | Family::Recipes | Family::Lock | Family::Other => &[],
    }
}
