use ambit_broker::Ground;
use ambit_run::Dossier;

use crate::conversation::Conversation;
use crate::live::SharedAgent;

/// An open turn, with everything that answering it needs.
pub(crate) struct Turn {
    pub(crate) number: u32,
    pub(crate) dossier: Dossier,
    pub(crate) ground: Ground,
    pub(crate) agent: SharedAgent,
    pub(crate) conversation: Conversation,
}
