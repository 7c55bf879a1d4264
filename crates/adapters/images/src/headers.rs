//! The headers of a compiler and of the C library.
//!
//! The directories in which a compiler looks for headers hold those of every library that is installed. Of a directory that
//! belongs to the compiler everything is taken. Of the others the headers of C, POSIX and Linux are, and what these
//! include as the compiler reads them; a subdirectory of which one is read is taken whole, since another option would
//! make the compiler read its neighbours.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::closure::Closure;
use crate::driver::{Driver, Language};
use crate::error::CaptureError;

/// What lies around the list of directories in the answer.
const LIST: [&str; 2] = ["#include <...> search starts here:", "End of search list."];
/// Parts of the path of a directory that belongs to a compiler.
const COMPILERS: [&str; 3] = ["c++", "clang", "gcc"];

/// The headers of C, of POSIX, and of Linux with the GNU C library. One that is not there is passed over.
const STANDARD: &str = "aio.h alloca.h ar.h argp.h arpa/inet.h asm/unistd.h assert.h byteswap.h complex.h cpio.h ctype.h \
    dirent.h dlfcn.h elf.h endian.h envz.h err.h errno.h error.h execinfo.h fcntl.h features.h fenv.h float.h fmtmsg.h \
    fnmatch.h fstab.h fts.h ftw.h getopt.h glob.h gnu/libc-version.h grp.h iconv.h ifaddrs.h inttypes.h iso646.h langinfo.h \
    libgen.h libintl.h limits.h link.h linux/limits.h locale.h malloc.h math.h memory.h mntent.h monetary.h mqueue.h \
    net/if.h netdb.h netinet/in.h netinet/tcp.h netpacket/packet.h nl_types.h obstack.h paths.h poll.h printf.h pthread.h \
    pty.h pwd.h regex.h resolv.h sched.h search.h semaphore.h setjmp.h shadow.h signal.h spawn.h stdalign.h stdarg.h \
    stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdio_ext.h stdlib.h stdnoreturn.h string.h strings.h sys/types.h \
    syscall.h sysexits.h syslog.h tar.h termios.h tgmath.h threads.h time.h uchar.h ucontext.h unistd.h utime.h utmp.h \
    utmpx.h values.h wait.h wchar.h wctype.h wordexp.h";

/// Takes the headers for one language.
pub(crate) fn take(
    closure: &mut Closure<'_>,
    driver: &Driver<'_>,
    language: Language,
) -> Result<(), CaptureError> {
    let (_, list) = driver.hear(&["-E", "-v", "-x", language.option(), "/dev/null"])?;
    let directories: Vec<PathBuf> = listed(&list).into_iter().filter(|path| path.is_dir()).collect();
    let (own, shared): (Vec<PathBuf>, Vec<PathBuf>) =
        directories.into_iter().partition(|directory| is_of_compiler(directory));
    for directory in &own {
        closure.tree(directory, |_, _| true)?;
    }
    let mut arguments = vec!["-M", "-D_GNU_SOURCE", "-x", language.option(), "/dev/null"];
    let is_there = |name: &&str| shared.iter().any(|directory| directory.join(name).is_file());
    for name in STANDARD.split_ascii_whitespace().filter(is_there) {
        arguments.extend(["-include", name]);
    }
    let (rule, _) = driver.hear(&arguments)?;
    let mut trees = BTreeSet::new();
    for header in prerequisites(&rule) {
        let Some((directory, below)) = within(&shared, &header) else { continue };
        match subdirectory(&below) {
            Some(first) => drop(trees.insert(directory.join(first))),
            None => drop(closure.plan.take(&header)?),
        }
    }
    for tree in trees {
        closure.tree(&tree, |child, kind| kind.is_dir() || child.path().extension().is_some())?;
    }
    Ok(())
}

/// The directories that a compiler lists beside its output.
fn listed(said: &[u8]) -> Vec<PathBuf> {
    let [start, end] = LIST;
    let lines = said.split(|byte| *byte == b'\n').skip_while(|line| *line != start.as_bytes()).skip(1);
    let entries = lines.take_while(|line| *line != end.as_bytes()).map(<[u8]>::trim_ascii);
    entries.map(|entry| PathBuf::from(OsStr::from_bytes(entry))).filter(|path| path.is_absolute()).collect()
}

fn is_of_compiler(directory: &Path) -> bool {
    directory.components().any(|part| COMPILERS.iter().any(|name| part.as_os_str() == *name))
}

/// The files of a rule of make: words behind a colon, with `\` before the end of a line.
fn prerequisites(rule: &[u8]) -> Vec<PathBuf> {
    let words = rule.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty() && *word != b"\\");
    words.map(|word| PathBuf::from(OsStr::from_bytes(word))).filter(|path| path.is_absolute()).collect()
}

/// The innermost of `directories` in which `header` lies, and its path there.
fn within(directories: &[PathBuf], header: &Path) -> Option<(PathBuf, PathBuf)> {
    let around = directories.iter().filter(|directory| header.starts_with(directory));
    let directory = around.max_by_key(|directory| directory.components().count())?;
    Some((directory.clone(), header.strip_prefix(directory).ok()?.to_path_buf()))
}

/// The first part of a path that has more than one.
fn subdirectory(below: &Path) -> Option<PathBuf> {
    let mut parts = below.components();
    let first = parts.next()?;
    let is_plain = |part: &Component<'_>| matches!(part, Component::Normal(_));
    parts.next().filter(is_plain).map(|_| PathBuf::from(first.as_os_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_read_between_the_two_lines() {
        let said = b"Using built-in specs.\nignoring nonexistent directory \"/usr/local/include\"\n\
            #include \"...\" search starts here:\n#include <...> search starts here:\n \
            /usr/lib/gcc/x86_64-linux-gnu/12/include\n /usr/include\n relative\nEnd of search list.\n /not/this\n";
        let expected = ["/usr/lib/gcc/x86_64-linux-gnu/12/include", "/usr/include"].map(PathBuf::from);
        assert_eq!(listed(said), expected);
        assert!(is_of_compiler(&expected[0]) && !is_of_compiler(&expected[1]));
        assert_eq!(listed(b"cc: error\n"), [] as [PathBuf; 0]);
    }

    #[test]
    fn a_rule_names_headers_and_each_belongs_to_the_innermost_directory() {
        let rule =
            b"null.o: /dev/null /usr/include/stdio.h \\\n /usr/include/x86_64-linux-gnu/bits/types.h\\\n";
        let headers = prerequisites(b"null.o: /usr/include/stdio.h \\\n /usr/include/m/bits/a.h\n");
        assert_eq!(headers, ["/usr/include/stdio.h", "/usr/include/m/bits/a.h"].map(PathBuf::from));
        assert_eq!(prerequisites(rule).len(), 3);
        let directories = ["/usr/include", "/usr/include/m"].map(PathBuf::from);
        let (directory, below) = within(&directories, &headers[1]).unwrap();
        assert_eq!(
            (directory.as_path(), below.as_path()),
            (Path::new("/usr/include/m"), Path::new("bits/a.h"))
        );
        assert_eq!(subdirectory(&below), Some("bits".into()));
        assert_eq!(subdirectory(Path::new("stdio.h")), None);
        assert_eq!(within(&directories, Path::new("/opt/a.h")), None);
    }
}
