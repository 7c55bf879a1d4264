//! Tracebacks of Python.

use crate::Place;
use crate::failure::{Failure, Report};
use crate::place::workspace_path;

/// The exception at the end of a traceback; of chained ones the last, which is the one that got out.
#[derive(Clone, Debug)]
pub(super) struct Raised {
    pub(super) class: String,
    pub(super) message: String,
    pub(super) place: Option<Place>,
}

pub(crate) fn read(lines: &[String]) -> Report {
    let mut report = Report::default();
    if let Some(raised) = raised(lines) {
        report.push(Failure::new(None, &raised.class, &raised.message, raised.place));
    }
    report
}

/// The last exception whose traceback stands in `lines`.
pub(super) fn raised(lines: &[String]) -> Option<Raised> {
    let mut last = None;
    let mut open: Option<(usize, Option<Place>)> = None;
    for line in lines {
        let depth = super::lines::indent(line);
        let text = &line[depth..];
        if text.starts_with("Traceback (most recent call last)") || text.starts_with("Traceback:") {
            open = Some((depth, None));
        } else if let Some(frame) = text.strip_prefix("File \"") {
            let (base, place) = open.take().unwrap_or((depth.saturating_sub(2), None));
            open = Some((base, frame_place(frame).or(place)));
        } else if let Some((base, _)) = open
            && depth <= base
            && let Some((class, message)) = exception(text)
        {
            let place = open.take().and_then(|(_, place)| place);
            last = Some(Raised { class: class.to_owned(), message: message.to_owned(), place });
        }
    }
    last
}

/// The place of `path", line 3, in name`. Code of a module itself, and code that does not parse, is `<module>`.
fn frame_place(frame: &str) -> Option<Place> {
    let (path, rest) = frame.split_once("\", line ")?;
    let (line, function) = rest.split_once(", in ").unwrap_or((rest, "<module>"));
    Some(Place { path: workspace_path(path)?, line: line.parse().ok(), function: Some(function.to_owned()) })
}

/// Reads `package.Class: message` or `Class`.
pub(super) fn exception(text: &str) -> Option<(&str, &str)> {
    let (class, message) = text.split_once(':').unwrap_or((text, ""));
    let dotted = class
        .split('.')
        .all(|part| part.starts_with(|c: char| c.is_alphabetic() || c == '_') && part.chars().all(is_word));
    (dotted && class.len() <= 120).then(|| (class, message.trim()))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn of_chained_exceptions_the_one_that_got_out_counts() {
        let raised = raised(&lines(concat!(
            "Traceback (most recent call last):\n",
            "  File \"/workspace/app/cart.py\", line 2, in lookup\n    return d[k]\n           ~^^^\n",
            "KeyError: 'a'\n\n",
            "The above exception was the direct cause of the following exception:\n\n",
            "Traceback (most recent call last):\n",
            "  File \"/workspace/tests/test_a.py\", line 26, in test_err\n    raise ValueError(\"bad\") from e\n",
            "  File \"/usr/lib/python3.11/json/decoder.py\", line 3, in decode\n",
            "app.errors.BadCart: bad: worse\n",
        )))
        .unwrap();
        assert_eq!((raised.class.as_str(), raised.message.as_str()), ("app.errors.BadCart", "bad: worse"));
        let place = raised.place.unwrap();
        assert_eq!(
            (place.path.to_string().as_str(), place.function.as_deref()),
            ("tests/test_a.py", Some("test_err"))
        );
    }

    #[test]
    fn code_that_does_not_parse_lies_in_its_module() {
        let raised = raised(&lines(
            "  File \"/workspace/app/cart.py\", line 3\n    def f(:\n          ^\nSyntaxError: invalid syntax",
        ))
        .unwrap();
        assert_eq!(raised.class, "SyntaxError");
        assert_eq!(raised.place.unwrap().function.as_deref(), Some("<module>"));
    }
}
