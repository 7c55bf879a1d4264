use std::collections::VecDeque;
use std::sync::Arc;

use crate::ObjectKind;
use crate::limits::{KEPT_BASE_BYTES, KEPT_BASES_BYTES};

/// Unpacked objects on which deltas were made, by pack and offset. Neighbours in a directory are often deltas on the same
/// one.
#[derive(Default)]
pub(crate) struct Bases {
    kept: VecDeque<Base>,
    bytes: usize,
}

struct Base {
    /// The number of the pack, and the offset in it.
    place: (usize, u64),
    kind: ObjectKind,
    bytes: Arc<Vec<u8>>,
}

impl Bases {
    pub(super) fn get(&self, pack: usize, offset: u64) -> Option<(ObjectKind, Arc<Vec<u8>>)> {
        let base = self.kept.iter().rev().find(|base| base.place == (pack, offset))?;
        Some((base.kind, Arc::clone(&base.bytes)))
    }

    /// Keeps a small one until others need the room.
    pub(super) fn keep(
        &mut self,
        pack: usize,
        offset: u64,
        kind: ObjectKind,
        bytes: Vec<u8>,
    ) -> Arc<Vec<u8>> {
        let bytes = Arc::new(bytes);
        if bytes.len() <= KEPT_BASE_BYTES && self.get(pack, offset).is_none() {
            self.bytes += bytes.len();
            self.kept.push_back(Base { place: (pack, offset), kind, bytes: Arc::clone(&bytes) });
            while self.bytes > KEPT_BASES_BYTES || self.kept.len() > 512 {
                let Some(oldest) = self.kept.pop_front() else { break };
                self.bytes -= oldest.bytes.len();
            }
        }
        bytes
    }
}
