use super::{
    Ended, EndedBy, Execute, Failed, How, Message, ProcessLimits, Request, Response, Sizes, Spawn, Spawned,
    TREE_NAME_BYTES, Volumes,
};
use crate::Step;
use ambit_system_calls::SIGNS;

const SIZES: Sizes = Sizes { disk_bytes: 1 << 40, disk_files: 7 };
const VOLUMES: Volumes = Volumes { tree: [b'a'; TREE_NAME_BYTES], sizes: SIZES, declared: 5 };
const FAILED: Failed = Failed { step: Step::Filter, errno: 22 };

/// It reads back, and nothing shorter or longer does.
fn round_trip<'a, M: Message<'a> + PartialEq + core::fmt::Debug>(message: &M, buffer: &'a mut [u8; 512]) {
    let len = message.encode(buffer).unwrap();
    assert_eq!(message.encode(&mut [0; 512][..len - 1]), None, "{message:?} does not fit");
    let buffer: &'a [u8; 512] = buffer;
    assert_eq!(M::decode(&buffer[..len]).as_ref(), Some(message));
    assert!((0..len).all(|shorter| M::decode(&buffer[..shorter]).is_none()), "{message:?}");
    assert_eq!(M::decode(&buffer[..=len]), None, "{message:?}");
}

#[test]
fn every_request_reads_back() {
    let limits = ProcessLimits { cpu_seconds: 1, processes: 2, data_bytes: u64::MAX, open_files: 4 };
    let execute = Execute {
        volumes: VOLUMES,
        wall_ms: 5,
        limits,
        workdir: c"sub/dir",
        arguments: b"/bin/true\0--help\0",
        environment: b"A=b\0",
    };
    for request in [
        Request::Assemble { image: c"", share: c"/srv/share", filter: &[1, 2, 3] },
        Request::Bring { name: c"cargo", path: c"/srv/volume" },
        Request::Prepare(VOLUMES),
        Request::Execute(execute),
        Request::Stop,
        Request::Open { written: false, path: c"out/report.txt" },
        Request::Open { written: true, path: c"" },
        Request::Finish,
        Request::Tree([b'a'; TREE_NAME_BYTES]),
        Request::Lay(SIZES),
        Request::Prove { nonce: 1 << 60 },
    ] {
        round_trip(&request, &mut [0; 512]);
    }
    let spawn =
        Spawn { outer_uid: 1, outer_gid: 2, foreign: true, by_path: false, counted: true, placed: false };
    round_trip(&spawn, &mut [0; 512]);
}

#[test]
fn every_response_reads_back() {
    let hows = [
        How::Exited(255),
        How::Signalled(9),
        How::NotFound,
        How::NotExecutable,
        How::NoWorkdir,
        How::NotConfined(FAILED),
    ];
    for how in hows {
        round_trip(&how, &mut [0; 512]);
        for by in [EndedBy::Itself, EndedBy::Deadline, EndedBy::Request, EndedBy::Memory] {
            for signs in [None, Some([7; SIGNS])] {
                let ended = Ended {
                    how,
                    by,
                    killed: 3,
                    wall_us: 4,
                    cpu_us: 5,
                    disk_full: true,
                    memory_refusals: 6,
                    signs,
                };
                round_trip(&Response::Ended(ended), &mut [0; 512]);
            }
        }
    }
    for response in [
        Response::Born,
        Response::Assembled,
        Response::Prepared { copied: true },
        Response::Failed(FAILED),
        Response::Opened,
        Response::Unopened { errno: 2 },
        Response::Finished,
        Response::Proven { nonce: 1 << 60 },
    ] {
        round_trip(&response, &mut [0; 512]);
    }
    for spawned in [Spawned::Started { pid: 7 }, Spawned::Failed(FAILED)] {
        round_trip(&spawned, &mut [0; 512]);
    }
}

#[test]
fn a_path_with_a_second_end_is_no_message() {
    let mut buffer = [0; 64];
    let len = Request::Open { written: false, path: c"ab" }.encode(&mut buffer).unwrap();
    buffer[len - 2] = 0;
    assert_eq!(Request::decode(&buffer[..len]), None);
}

proptest::proptest! {
    #[test]
    fn no_bytes_upset_the_reader(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300)) {
        let mut buffer = [0; 512];
        if let Some(request) = Request::decode(&bytes) {
            let len = request.encode(&mut buffer).unwrap();
            proptest::prop_assert_eq!(&buffer[..len], &bytes[..]);
        }
        if let Some(response) = Response::decode(&bytes) {
            let len = response.encode(&mut buffer).unwrap();
            proptest::prop_assert_eq!(&buffer[..len], &bytes[..]);
        }
    }
}
