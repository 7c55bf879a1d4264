use std::sync::Mutex;

/// The tokens that a run has used, where it has a cap. What is underway is counted at its bound, and stays so where nobody
/// can tell what it used.
#[derive(Debug)]
pub(crate) struct TokenLedger {
    cap: Option<u64>,
    used: Mutex<u64>,
}

impl TokenLedger {
    pub(crate) const fn new(cap: Option<u64>, used: u64) -> Self {
        Self { cap, used: Mutex::new(used) }
    }

    /// Counts a call at its bound before it is made. `false` where the cap would be passed; then nothing is counted.
    pub(crate) fn reserve(&self, bound: u64) -> bool {
        let mut used = self.lock();
        let after = used.saturating_add(bound);
        let fits = self.cap.is_none_or(|cap| after <= cap);
        if fits {
            *used = after;
        }
        fits
    }

    /// Puts what a call used in the place of its bound.
    pub(crate) fn settle(&self, bound: u64, actual: u64) {
        let mut used = self.lock();
        *used = used.saturating_sub(bound).saturating_add(actual);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, u64> {
        self.used.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_is_passed_by_nothing() {
        let ledger = TokenLedger::new(Some(100), 30);
        assert!(ledger.reserve(70) && !ledger.reserve(1));
        ledger.settle(70, 10);
        assert!(!ledger.reserve(61) && ledger.reserve(60));
        let free = TokenLedger::new(None, u64::MAX);
        assert!(free.reserve(u64::MAX));
    }
}
