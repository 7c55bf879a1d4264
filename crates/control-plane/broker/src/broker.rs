use std::sync::Arc;

use ambit_ports::runtime::Clock;
use ambit_redaction::Redactor;
use ambit_revisions::Revisions;
use ambit_sandboxes::Sandboxes;

use crate::source::Source;

/// The broker.
#[derive(Clone)]
pub struct Broker {
    pub(crate) source: Source,
    pub(crate) sandboxes: Sandboxes,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Broker {
    /// A broker over the source service and the sandboxes.
    #[must_use]
    pub fn new(revisions: Revisions, sandboxes: Sandboxes, clock: Arc<dyn Clock>) -> Self {
        Self { source: Source::new(revisions), sandboxes, clock }
    }

    /// The same broker, which takes these secrets out of whatever it keeps or tells of a call's effect.
    #[must_use]
    pub fn withholding(mut self, redactor: Redactor) -> Self {
        self.source.redactor = redactor;
        self
    }

    /// What takes secrets out of text.
    #[must_use]
    pub fn redactor(&self) -> &Redactor {
        &self.source.redactor
    }

    /// The sandboxes behind it.
    #[must_use]
    pub fn sandboxes(&self) -> &Sandboxes {
        &self.sandboxes
    }

    /// The source service behind it.
    #[must_use]
    pub fn revisions(&self) -> &Revisions {
        &self.source.revisions
    }
}
