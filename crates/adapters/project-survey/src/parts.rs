use std::collections::BTreeSet;

use crate::gate::{ImageTool, ProposedGate};

/// What becomes a part of the documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) gates: Vec<ProposedGate>,
    pub(crate) tools: BTreeSet<ImageTool>,
    /// Tests in files of their own: no patch touches them.
    pub(crate) tests: BTreeSet<String>,
    /// Source that holds tests: a patch may touch it, and loses no assertion there.
    pub(crate) sources_with_tests: BTreeSet<String>,
    /// What else no patch touches.
    pub(crate) protected: BTreeSet<String>,
    /// Where new files of the project may appear.
    pub(crate) scope: BTreeSet<String>,
    /// Where dependencies are declared.
    pub(crate) manifests: BTreeSet<String>,
}

impl Parts {
    pub(crate) fn take(&mut self, other: Self) {
        self.gates.extend(other.gates);
        self.tools.extend(other.tools);
        self.tests.extend(other.tests);
        self.sources_with_tests.extend(other.sources_with_tests);
        self.protected.extend(other.protected);
        self.scope.extend(other.scope);
        self.manifests.extend(other.manifests);
    }

    /// The same in a directory of the repository, whose name is a plain word.
    pub(crate) fn moved_below(mut self, directory: &str) -> Self {
        for set in [
            &mut self.tests,
            &mut self.sources_with_tests,
            &mut self.protected,
            &mut self.scope,
            &mut self.manifests,
        ] {
            *set = set.iter().map(|pattern| format!("{directory}/{pattern}")).collect();
        }
        for gate in &mut self.gates {
            gate.workdir = Some(directory.to_owned());
            gate.id = format!("{directory}.{}", gate.id);
            for value in gate.environment.values_mut() {
                *value = value.replace("/workspace", &format!("/workspace/{directory}"));
            }
        }
        self
    }
}
