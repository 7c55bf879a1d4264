//! The calls that the filter leaves to the guest.
//!
//! Two kinds: memory that nobody else counts, which is allowed until its sum is the limit, and signs of an attempt to get
//! out, which are refused and counted. A call is made after its question only where [`Memory`] has counted it, and what
//! decides about it is a register that nobody can change any more; everything else that arrives here is refused, whatever
//! it is.
//!
//! One question is answered between two looks at the clock, the adapter and the children, so a command that asks without
//! end neither gains time nor keeps anybody waiting but itself: its processes stand still until they are answered, and what
//! the guest spends on them counts as theirs. The counts stop at their highest value.

use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::io::Errno;

use crate::roles::memory::Memory;
use crate::roles::raw::{self, Answer};
use ambit_system_calls::{Counts, SIGNS, Sign};

/// The questions of one command.
pub(crate) struct Questions {
    listener: Option<OwnedFd>,
    /// Whether nobody is left who could ask.
    is_over: bool,
    memory: Option<Memory>,
    signs: Counts,
}

impl Questions {
    /// Answers what is asked at `listener`. Without one nothing is known of what the kernel refused.
    pub(crate) const fn new(listener: Option<OwnedFd>, memory: Option<Memory>) -> Self {
        Self { listener, is_over: false, memory, signs: [0; SIGNS] }
    }

    /// What is readable when a call waits for an answer; `None` where none can come.
    pub(crate) fn listener(&self) -> Option<BorrowedFd<'_>> {
        self.listener.as_ref().filter(|_| !self.is_over).map(|listener| listener.as_fd())
    }

    /// No call will ask any more.
    pub(crate) const fn nobody_asks(&mut self) {
        self.is_over = true;
    }

    /// The memory that the command has left, where no control group bounds it.
    pub(crate) const fn memory(&self) -> Option<&Memory> {
        self.memory.as_ref()
    }

    /// How often each class of calls was refused; `None` where nobody could count.
    pub(crate) fn signs(&self) -> Option<Counts> {
        self.listener.as_ref().map(|_| self.signs)
    }

    /// Answers the call that waits.
    pub(crate) fn answer(&mut self) {
        let Some(listener) = &self.listener else { return };
        let Ok(asked) = raw::receive(listener.as_fd()) else { return };
        let counted = self.memory.as_mut().and_then(|memory| memory.ask(&asked));
        let answer = counted.unwrap_or_else(|| {
            let sign = Sign::of(u32::try_from(asked.number).unwrap_or(u32::MAX));
            if let Some(count) = self.signs.get_mut(usize::from(sign as u8)) {
                *count = count.saturating_add(1);
            }
            Answer::Refused(Errno::PERM)
        });
        let answered = raw::answer(listener.as_fd(), &asked, answer);
        if answered.is_err()
            && answer == Answer::Made
            && let Some(memory) = &mut self.memory
        {
            // The caller was interrupted, and asks again.
            memory.take_back(&asked);
        }
    }
}
