//! Objects of System V, which outlive whoever made them.

use linux_raw_sys::general as sys;

use super::call;

/// A kind of object: how it is controlled, and the numbers of the questions for all of them and for one by its index.
struct Kind {
    control: u32,
    all: usize,
    one: usize,
}

const SEGMENTS: Kind = Kind { control: sys::__NR_shmctl, all: 14, one: 13 };
const QUEUES: Kind = Kind { control: sys::__NR_msgctl, all: 12, one: 11 };
const SEMAPHORES: Kind = Kind { control: sys::__NR_semctl, all: 19, one: 18 };
const REMOVE: usize = 0;

/// Removes every object of the namespace. The end of the namespace does so as well, but some time later, and until then
/// what they hold counts as memory of whoever comes next.
pub fn remove_objects() {
    for kind in [SEGMENTS, QUEUES, SEMAPHORES] {
        let Some(highest) = kind.ask(0, kind.all) else { continue };
        for index in 0..=highest {
            if let Some(id) = kind.ask(index, kind.one) {
                kind.ask(id, REMOVE);
            }
        }
    }
}

impl Kind {
    fn ask(&self, of: usize, question: usize) -> Option<usize> {
        // More than any of the structures that the kernel may write.
        let mut answer = [0_u64; 32];
        let at = answer.as_mut_ptr() as usize;
        let arguments = match self.control {
            sys::__NR_semctl => [of, 0, question, at, 0],
            _ => [of, question, at, 0, 0],
        };
        // SAFETY: each of the questions writes one structure of at most 256 bytes; a removal writes nothing.
        unsafe { call(self.control, arguments) }.ok()
    }
}
