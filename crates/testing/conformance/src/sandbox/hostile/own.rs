//! What the suite asks beside the cases: after what was planted where no case looks.

use super::case::Case;
use super::row::{Row, row};

struct Own {
    id: &'static str,
    command: &'static str,
    row: Row,
}

/// The suite's own cases, each with its row.
pub(super) fn all() -> impl Iterator<Item = (Case, Row)> {
    OWN.iter().map(|own| {
        let case = Case { id: own.id.into(), command: own.command.into(), expect: String::new() };
        (case, own.row)
    })
}

/// By which a machine is known until it is started again.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Whether what `own-host` printed tells nothing of the machine that was started as `boot`. A kernel of the sandbox's own
/// has an id of its own, which is no secret.
fn tells_nothing_of(boot: &str, printed: &str) -> bool {
    let lines: Vec<&str> = printed.lines().collect();
    let [id, host_bytes, memory_lines] = lines[..] else { return false };
    !boot.is_empty() && !id.contains(boot) && host_bytes == "0" && memory_lines != "0"
}

static OWN: [Own; 6] = [
    Own {
        id: "own-descriptors",
        command: "ls /proc/self/fd; cat <&9; for f in /proc/[0-9]*/fd/*; do \
            [ -f \"$f\" ] && timeout 1 head -c 200 \"$f\"; done 2>/dev/null; true",
        // The fourth is the directory that is being listed.
        row: row(&["own-descriptors"], |seen| seen.stdout == "0\n1\n2\n3\n"),
    },
    Own {
        id: "own-environments",
        command: "for f in /proc/[0-9]*; do tr '\\0' '\\n' <$f/environ; tr '\\0' '\\n' <$f/cmdline; done 2>/dev/null; \
            tr '\\0' '\\n' </proc/self/environ",
        row: row(&["own-environments"], |seen| {
            seen.stdout.contains("PROBE=") && !seen.stdout.contains("rival-") && !seen.stdout.contains("HOME=")
        }),
    },
    Own {
        id: "own-neighbour",
        command: "grep -l \"rival-[0-9a-f]\" /proc/[0-9]*/environ 2>/dev/null | wc -l; \
            grep -l PROBE /proc/[0-9]*/environ 2>/dev/null | head -1 | wc -l",
        row: row(&["own-neighbour"], |seen| seen.stdout == "0\n1\n"),
    },
    Own {
        id: "own-sockets",
        command: "python3 -c \"import socket,os
for at in (os.environ['SOCKET'], '\\0'+os.environ['NAME']):
  s=socket.socket(socket.AF_UNIX)
  try: s.connect(at); print('OPEN')
  except OSError as e: print('no',e.errno)
here=socket.socket(socket.AF_UNIX); here.bind('\\0here'); here.listen(); s=socket.socket(socket.AF_UNIX); s.connect('\\0here')
print('control')\"",
        row: row(&["own-sockets"], |seen| {
            seen.stdout.ends_with("\ncontrol\n") && seen.stdout.matches("no ").count() == 2
        }),
    },
    Own {
        id: "own-host",
        command: "echo \"[$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)]\"; cat /proc/diskstats /proc/partitions \
            /proc/zoneinfo /proc/buddyinfo /proc/softirqs /proc/interrupts /proc/iomem /proc/modules 2>/dev/null | wc -c; \
            wc -l </proc/meminfo",
        row: row(&["own-host"], |seen| {
            std::fs::read_to_string(BOOT_ID).is_ok_and(|ours| tells_nothing_of(ours.trim(), &seen.stdout))
        }),
    },
    Own {
        id: "own-home",
        command: "cat $HOMES/.ssh/id_rsa $HOMES/.netrc 2>/dev/null | wc -c; echo x >/tmp/x; cat /tmp/x",
        row: row(&["own-home"], |seen| seen.stdout == "0\nx\n"),
    },
];

#[cfg(test)]
mod tests {
    use super::tells_nothing_of;

    #[test]
    fn the_id_of_another_kernel_is_no_secret_and_that_of_the_host_is() {
        let host = "0d4c9d0e-8a71-4d6e-9c0e-3a1a2f0f3b11";
        assert!(tells_nothing_of(host, "[]\n0\n48\n"));
        assert!(tells_nothing_of(host, "[5b7b1d6e-0f4c-4a56-8b3b-0a2f2e7d9c55]\n0\n48\n"));
        for told in
            ["[0d4c9d0e-8a71-4d6e-9c0e-3a1a2f0f3b11]\n0\n48\n", "[]\n310\n48\n", "[]\n0\n0\n", "[]\n0\n", ""]
        {
            assert!(!tells_nothing_of(host, told), "{told:?}");
        }
        assert!(!tells_nothing_of("", "[]\n0\n48\n"));
    }
}
