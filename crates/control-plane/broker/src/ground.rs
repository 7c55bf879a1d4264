use std::collections::BTreeSet;
use std::sync::Arc;

use ambit_blueprint::{Blueprint, CatalogCommand, NamedCommandCatalog};
use ambit_ids::{Digest, GateId, PathSet, Scope};
use ambit_oracle::Guard;
use ambit_run::{Pins, Rules};

/// What a run stands on. Pinned by digest at its admission, and the same for its whole life.
#[derive(Clone, Debug)]
pub struct Ground {
    /// The pins.
    pub pins: Arc<Pins>,
    /// The blueprint that the pins name.
    pub blueprint: Arc<Blueprint>,
    /// The catalog that the pins name.
    pub catalog: Arc<NamedCommandCatalog>,
}

impl Ground {
    pub(crate) fn scope(&self) -> &Scope {
        &self.pins.scope
    }

    pub(crate) fn command(&self, id: &GateId) -> Option<&CatalogCommand> {
        self.catalog.command(id)
    }

    /// The command of a gate whose report is read. Under earlier rules none was.
    #[must_use]
    pub fn reporting(&self, id: &GateId) -> Option<&CatalogCommand> {
        self.command(id).filter(|command| command.report.is_some() && self.pins.rules >= Rules::Guarded)
    }

    /// The files that the hidden check of a gate brings.
    #[must_use]
    pub fn hidden_files(&self, id: &GateId) -> Option<Digest> {
        self.blueprint.hidden_files().find(|(gate, _)| *gate == id).map(|(_, files)| files.digest)
    }

    /// What the oracle guard looks out for under this blueprint.
    pub(crate) fn guard(&self) -> Guard {
        let spec = &self.blueprint.spec;
        Guard {
            protected: spec.protected_oracles.paths.clone(),
            opened: PathSet(spec.authorizes.iter().map(|opened| opened.path.clone()).collect()),
            tests: spec.protected_oracles.test_paths.clone(),
            scope: spec.scope.paths.clone(),
            manifests: spec.dependencies.manifests.clone(),
            approved_dependencies: spec.dependencies.approved.iter().cloned().collect::<BTreeSet<_>>(),
        }
    }
}
