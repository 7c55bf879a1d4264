//! Processes of the prober that do nothing but be there.

use rustix::event::poll;
use rustix::io::Errno;

use crate::roles::raw::{self, Fork};

/// Forks until the number or an error; the children sleep. Says how many there are.
pub(super) fn fork_sleepers(count: usize) -> Result<usize, Errno> {
    for made in 0..count {
        match raw::fork() {
            Ok(Fork::Child) => {
                let _ = sleep();
                raw::exit(0)
            }
            Ok(Fork::Parent(_)) => {}
            Err(Errno::AGAIN) => return Ok(made),
            Err(errno) => return Err(errno),
        }
    }
    Ok(count)
}

/// Does nothing until it is ended.
pub(super) fn sleep() -> Result<usize, Errno> {
    loop {
        poll(&mut [], None)?;
    }
}
