//! A terminal, as far as the program uses one.

/// What stands on a terminal after these bytes, with everything that has scrolled away above it.
pub(crate) struct Screen {
    rows: Vec<Vec<char>>,
    at: (usize, usize),
    columns: usize,
    pub(crate) cursor_is_seen: bool,
}

impl Screen {
    pub(crate) fn new(columns: usize) -> Self {
        Self { rows: vec![Vec::new()], at: (0, 0), columns, cursor_is_seen: true }
    }

    pub(crate) fn text(&self) -> String {
        self.rows.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned() + "\n").collect()
    }

    pub(crate) fn feed(&mut self, text: &str) {
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\r' => self.at.1 = 0,
                '\n' => self.down(),
                '\u{1b}' => {
                    assert_eq!(chars.next(), Some('['), "an escape that nobody knows");
                    let mut parameters = String::new();
                    let end = loop {
                        let c = chars.next().expect("an escape ends");
                        if c.is_ascii_alphabetic() {
                            break c;
                        }
                        parameters.push(c);
                    };
                    self.obey(&parameters, end);
                }
                c => self.put(c),
            }
        }
    }

    fn obey(&mut self, parameters: &str, end: char) {
        let (row, column) = self.at;
        match (parameters, end) {
            ("", 'K') => self.rows[row].truncate(column),
            ("", 'J') => {
                self.rows.truncate(row + 1);
                self.rows[row].truncate(column);
            }
            (number, 'A') => self.at.0 = row.checked_sub(number.parse().unwrap()).expect("above the top"),
            ("?25", 'l' | 'h') => self.cursor_is_seen = end == 'h',
            ("?2026", 'l' | 'h') | (_, 'm') => {}
            other => panic!("an escape that nobody knows: {other:?}"),
        }
    }

    fn put(&mut self, c: char) {
        if self.at.1 == self.columns {
            self.down();
            self.at.1 = 0;
        }
        let (row, column) = self.at;
        if self.rows[row].len() <= column {
            self.rows[row].resize(column + 1, ' ');
        }
        self.rows[row][column] = c;
        self.at.1 += 1;
    }

    fn down(&mut self) {
        self.at.0 += 1;
        if self.rows.len() <= self.at.0 {
            self.rows.push(Vec::new());
        }
    }
}
