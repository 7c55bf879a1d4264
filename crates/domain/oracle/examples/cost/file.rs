//! Files that come out of templates and numbers alone.

/// As many lines as a file has at least.
const LINES: usize = 2_000;
/// As many lines of the file as a patch changes, at most, and as many as it adds.
const RENAMED_LINES: usize = 100;
const ADDED_LINES: usize = 100;
/// In so many places.
const HUNKS: usize = 5;
/// What things are called, before a patch and after it.
const NAMES: [(&str, &str); 6] = [
    ("entry", "booked"),
    ("answer", "reply"),
    ("sums", "totals"),
    ("line", "posting"),
    ("outcome", "result"),
    ("rest", "remaining"),
];

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Tests.
    Test,
    /// What tests are about.
    Source,
}

/// A file on both sides of a patch.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) before: String,
    pub(crate) after: String,
    /// As many lines as the patch changes or adds.
    pub(crate) patch_lines: usize,
}

/// The templates of a kind of file.
#[derive(Default)]
struct Templates<'a> {
    head: &'a str,
    units: Vec<&'a str>,
    tail: &'a str,
}

impl<'a> Templates<'a> {
    fn of(text: &'a str, kind: Kind) -> Self {
        let kind = if kind == Kind::Test { "test" } else { "source" };
        let mut templates = Self::default();
        for part in text.split("==== ").skip(1) {
            let (title, body) = part.split_once('\n').unwrap_or((part, ""));
            match title.strip_prefix(kind).map(str::trim) {
                Some("head") => templates.head = body,
                Some("tail") => templates.tail = body,
                Some("") => templates.units.push(body),
                _ => {}
            }
        }
        templates
    }

    /// One unit: things in it bear one of both names.
    fn unit(&self, number: usize, is_patched: bool) -> String {
        let (before, after) = NAMES[number % NAMES.len()];
        let template = self.units[number % self.units.len()];
        let value = 10 + number * 37 % 90;
        template
            .replace("~n", &number.to_string())
            .replace("~v", &value.to_string())
            .replace("~w", if is_patched { after } else { before })
    }
}

impl File {
    /// A patch gives other names to things and adds functions, in a few places of the file, and takes no check from a test.
    pub(crate) fn of(templates: &str, kind: Kind) -> Self {
        let templates = Templates::of(templates, kind);
        let mut units = Vec::new();
        let mut lines = templates.head.lines().count() + templates.tail.lines().count();
        while lines < LINES {
            let unit = templates.unit(units.len(), false);
            lines += unit.lines().count();
            units.push(unit);
        }
        let mut patched = units.clone();
        let (mut renamed, mut added, stride) = (0, 0, units.len() / HUNKS);
        // The first unit of each hunk, then the second of each.
        let places = (0..stride).flat_map(|step| (0..HUNKS).map(move |hunk| hunk * stride + step));
        for place in places {
            let unit = templates.unit(place, true);
            let differing =
                units[place].lines().zip(unit.lines()).filter(|(one, other)| one != other).count();
            if renamed + differing <= RENAMED_LINES {
                renamed += differing;
                patched[place] = unit;
            }
            let new = templates.unit(units.len() + place, false);
            let lines = new.lines().count();
            if added + lines <= ADDED_LINES {
                added += lines;
                patched[place].push_str(&new);
            }
        }
        let whole = |units: Vec<String>| format!("{}{}{}", templates.head, units.concat(), templates.tail);
        Self { before: whole(units), after: whole(patched), patch_lines: renamed + added }
    }
}
