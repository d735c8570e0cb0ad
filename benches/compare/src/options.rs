//! What the command line says.

use lexopt::{Arg, Parser, ValueExt};

const HELP: &str = "\
compare: handles against other actor frameworks, raw channels and the machine's limits

    --rounds N    rounds, each of which runs every subject once [7]
    --only A,B    only the rows whose name begins so, for instance W1-X,busy
    --subject A   only this subject; may be given several times
    --quick       one round of a twentieth: shows that it runs, and no more
    --human       a table instead of JSON lines
    --list        the rows";

pub struct Options {
    pub rounds: usize,
    pub human: bool,
    pub list: bool,
    only: Vec<String>,
    subjects: Vec<String>,
    quick: bool,
}

impl Options {
    pub fn parse() -> Result<Self, lexopt::Error> {
        let mut rounds = None;
        let mut options =
            Self { rounds: 0, human: false, list: false, only: Vec::new(), subjects: Vec::new(), quick: false };
        let mut parser = Parser::from_env();
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Long("rounds") => rounds = Some(parser.value()?.parse::<usize>()?.max(1)),
                Arg::Long("only") => options.only.extend(parser.value()?.string()?.split(',').map(str::to_owned)),
                Arg::Long("subject") => options.subjects.push(parser.value()?.string()?),
                Arg::Long("quick") => options.quick = true,
                Arg::Long("human") => options.human = true,
                Arg::Long("list") => options.list = true,
                Arg::Long("help") | Arg::Short('h') => {
                    println!("{HELP}");
                    std::process::exit(0);
                }
                _ => return Err(arg.unexpected()),
            }
        }
        options.rounds = rounds.unwrap_or(if options.quick { 1 } else { 7 });
        Ok(options)
    }

    pub fn wants(&self, row: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|prefix| row.starts_with(prefix.as_str()))
    }

    pub fn wants_subject(&self, subject: &str) -> bool {
        self.subjects.is_empty() || self.subjects.iter().any(|name| name == subject)
    }

    pub fn scale(&self) -> Scale {
        Scale { divisor: if self.quick { 20 } else { 1 } }
    }
}

/// How much of a measurement is run.
#[derive(Clone, Copy)]
pub struct Scale {
    divisor: u32,
}

impl Scale {
    /// Of `full` operations, those to run.
    pub fn of(self, full: u32) -> u32 {
        (full / self.divisor).max(20)
    }
}
