use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use crate::limits;

/// Runs a tool of this machine and answers what it wrote to its standard output, or in words why there is no answer.
pub(crate) fn ask(command: &mut Command) -> Result<Vec<u8>, String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("it could not be started ({error})"))?;
    let answer = drain(child.stdout.take());
    let complaint = drain(child.stderr.take());
    let Ok(answer) = answer.recv_timeout(limits::ANSWER_WAIT) else {
        // A process that ended by itself cannot be killed any more, which is as well.
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("no answer within {} s", limits::ANSWER_WAIT.as_secs()));
    };
    let status = child.wait().map_err(|error| format!("its end is not known ({error})"))?;
    if !status.success() {
        let complaint = complaint.recv_timeout(limits::ANSWER_WAIT).unwrap_or_default();
        let complaint = String::from_utf8_lossy(&complaint);
        return Err(format!("{status}, saying {:?}", complaint.lines().next().unwrap_or_default()));
    }
    if answer.len() as u64 > limits::ANSWER_BYTES {
        return Err(format!("an answer of more than {} bytes", limits::ANSWER_BYTES));
    }
    Ok(answer)
}

/// Reads a pipe in a thread of its own, so that a full pipe never stops the process that writes to it.
fn drain(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // What was read before a failure is still the best answer; a cut-off one is refused where it is parsed.
            let _ = pipe.take(limits::ANSWER_BYTES + 1).read_to_end(&mut bytes);
        }
        // Nobody listens any more where the wait was given up.
        let _ = sender.send(bytes);
    });
    receiver
}
