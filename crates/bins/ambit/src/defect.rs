//! A panic: a defect of this program or of a library. It is told as every other failure is, with an exit code that says so.

use std::any::Any;
use std::io::Write as _;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::{Mutex, PoisonError};

use crate::failure::Failure;
use crate::terminal::printable;

/// Where the last panic was, until it is told.
static PLACE: Mutex<Option<String>> = Mutex::new(None);

/// Does work whose panics become failures.
pub(crate) fn told<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let usual = panic::take_hook();
    let is_wanted = std::env::var_os("RUST_BACKTRACE").is_some();
    panic::set_hook(Box::new(move |panic| {
        heard(panic);
        if is_wanted {
            usual(panic);
        }
    }));
    caught(work)
}

fn caught<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|what| Err(failure(what.as_ref())))
}

/// A panic of another thread than the first is told at once: whoever waits for that thread tells only that it is gone.
fn heard(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(ToString::to_string);
    let thread = std::thread::current();
    if thread.name() == Some("main") {
        *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = place;
        return;
    }
    let (what, place) = (said(panic.payload()), place.unwrap_or_default());
    let line = format!("a defect stopped a thread: {what} ({place})\n");
    let _ = std::io::stderr().write_all(printable(&line).as_bytes());
}

fn said(what: &(dyn Any + Send)) -> &str {
    let text = what.downcast_ref::<&str>().copied();
    text.or_else(|| what.downcast_ref::<String>().map(String::as_str)).unwrap_or("nothing is known of it")
}

fn failure(what: &(dyn Any + Send)) -> Failure {
    let place = PLACE.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
    Failure::new("PROGRAM_DEFECT", format!("a defect of this program stopped it: {} ({place})", said(what)))
        .help("what was committed is kept; the same command may go further, and whoever makes the program should know of this")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::exit;

    #[test]
    fn a_panic_becomes_a_failure_with_a_code_and_an_exit_code_of_ours() {
        assert_eq!(caught(|| Ok(7)).unwrap(), 7);
        type Panicking = fn() -> Result<(), Failure>;
        let both: [Panicking; 2] = [|| panic!("this and that"), || panic!("{} and {}", "this", "that")];
        for panicking in both {
            let failure = caught(panicking).unwrap_err();
            assert_eq!((failure.code(), failure.exit()), ("PROGRAM_DEFECT", exit::INTERNAL));
            assert!(failure.parts().0.contains("this and that"), "{failure}");
        }
    }
}
