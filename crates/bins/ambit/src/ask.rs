//! Questions to a person at the terminal.

use std::io::{BufRead as _, Write as _};

use tokio::sync::oneshot;

use crate::failure::Failure;
use crate::interrupt::Signals;
use crate::terminal::{columns, folded, printable};

/// A line that is typed at the terminal, or the exit code of what interrupted it.
pub(crate) async fn line(prompt: &str) -> Result<std::io::Result<String>, u8> {
    // Before the prompt: whoever sees it may interrupt at once.
    line_until(prompt, &mut Signals::to_end()).await
}

/// The same with signals that are listened to already.
pub(crate) async fn line_until(prompt: &str, signals: &mut Signals) -> Result<std::io::Result<String>, u8> {
    let _ = write!(std::io::stderr(), "{prompt}");
    let (tell, told) = oneshot::channel();
    // A thread that still reads does not keep an interrupted program from ending, as a task of the runtime would.
    let reading = std::thread::Builder::new().spawn(move || {
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        let _ = tell.send(read.map(|_| line));
    });
    if let Err(error) = reading {
        return Ok(Err(error));
    }
    tokio::select! {
        biased;
        signal = signals.next() => Err(signal.exit()),
        line = told => Ok(line.unwrap_or_else(|_| Err(std::io::ErrorKind::UnexpectedEof.into()))),
    }
}

async fn answered(prompt: &str) -> Result<String, Failure> {
    match line(prompt).await {
        Err(code) => {
            let _ = writeln!(std::io::stderr());
            Err(Failure::new("INTERRUPTED", "interrupted; nothing was changed").exiting(code))
        }
        Ok(read) => read.map_err(|error| Failure::of("TERMINAL_UNREADABLE", &error)),
    }
}

/// Whether a person agrees. The end of what is typed is no; what is neither yes nor no is asked again.
pub(crate) async fn agrees(question: &str) -> Result<bool, Failure> {
    show(&format!("\n{question}"));
    loop {
        let answer = answered("[y/N] ").await?;
        match answer.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return Ok(true),
            "" | "n" | "no" => return Ok(false),
            _ => show("y for yes, n for no"),
        }
    }
}

/// Which of several answers a person chooses, counted from 0. An empty answer is the first.
pub(crate) async fn which(question: &str, choices: &[&str]) -> Result<usize, Failure> {
    let mut page = format!("{question}\n");
    for (index, choice) in choices.iter().enumerate() {
        page.push_str(&format!("  {}  {choice}\n", index + 1));
    }
    loop {
        show(&page);
        let answer = answered("[1] ").await?;
        match answer.trim() {
            // The end of what is typed is no choice between things that matter.
            "" if answer.is_empty() => {
                return Err(Failure::new("ANSWER_MISSING", "no answer came; nothing was changed"));
            }
            "" => return Ok(0),
            text => match text.parse::<usize>() {
                Ok(number) if (1..=choices.len()).contains(&number) => return Ok(number - 1),
                Ok(_) | Err(_) => show(&format!("a number from 1 to {}", choices.len())),
            },
        }
    }
}

/// Shows a page to the person at the terminal, whatever else is silent.
pub(crate) fn show(page: &str) {
    let page = folded(&printable(page.trim_end()), columns(std::io::stderr()));
    let _ = writeln!(std::io::stderr(), "{page}");
}
