use std::io::Read as _;
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use ambit_git_mirror::{CommitName, Source, Wanted};

use crate::world::World;

/// How a connection to a server that never answers ended.
#[derive(Debug, PartialEq, Eq)]
enum Ended {
    /// The other side is gone.
    Left,
    /// The other side was still there when the server lost patience.
    Stayed,
}

/// A server that takes one connection and never says a word.
fn silent() -> (SocketAddr, Receiver<Ended>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap();
    let (tell, told) = channel();
    thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut buffer = [0; 4096];
        let ended = loop {
            match client.read(&mut buffer) {
                Ok(0) => break Ended::Left,
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break Ended::Stayed,
                Err(_) => break Ended::Left,
            }
        };
        let _ = tell.send(ended);
    });
    (place, told)
}

// proves D6 E-S06
// break crates/adapters/git-mirror/src/repository.rs: `self.started + self.deadline)` -> `self.started + self.deadline * 1_000)`
#[test]
fn a_source_that_never_answers_is_left_at_the_deadline_with_all_that_was_started() {
    let Some(world) = World::new("a_source_that_never_answers") else { return };
    let (place, told) = silent();
    let source = Source::parse(&format!("https://{place}/a.git")).unwrap();
    let mut wanted = Wanted::new(CommitName::parse("0123456789abcdef0123456789abcdef01234567").unwrap());
    wanted.deadline = Duration::from_millis(2_000);
    let error = world.mirrors().obtain(&source, &wanted).unwrap_err();
    if error.to_string().contains("remote-https") {
        println!("skipped: GIT_REMOTE_HTTPS_ABSENT a_source_that_never_answers");
        return;
    }
    assert_eq!(error.code(), "MIRROR_DEADLINE", "{error}");
    assert_eq!(error.call().unwrap().exit, None);
    // The connection was that of a program which git had started.
    assert_eq!(told.recv_timeout(Duration::from_secs(30)), Ok(Ended::Left));
}
