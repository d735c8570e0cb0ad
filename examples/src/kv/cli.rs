//! The command line of `kv`.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use lexopt::prelude::*;

use super::server::Settings;

/// What `--help` prints.
pub const HELP: &str = "\
A Redis-compatible in-memory store: one shard per core, each with its own listener and its own part of the keys.

Usage: kv [OPTIONS]

Options:
      --port <PORT>               Port to listen at; 0 is any free one [default: 6399]
      --bind <ADDRESS>            Address to listen at [default: 127.0.0.1]
      --cores <N>                 Number of shards [default: one for each core this process may use]
      --pin                       Pin each shard to its core: for a machine that runs nothing else
      --reuse-port                Share the port with other servers instead of refusing one that is in use
      --write-timeout <SECONDS>   Drop a client that takes no reply for so long [default: 30]
      --demo                      Serve on a free loopback port, measure itself for some seconds, and exit
  -h, --help                      Print this

SIGTERM and Ctrl-C end it once everything is answered that was asked.
";

/// What to do.
#[derive(Debug)]
pub enum Invocation {
    /// Serve.
    Serve(Options),
    /// Measure itself.
    Demo(Options),
    /// Print [`HELP`].
    Help,
}

/// How to do it.
#[derive(Debug)]
pub struct Options {
    /// Where and how to serve.
    pub settings: Settings,
    /// How many shards; `None` for as many as there are cores.
    pub cores: Option<usize>,
    /// Whether each shard stays on its core. A shard that shares its core with clients waits for them, and everybody who
    /// needs that shard waits with it, so this is for machines that run nothing else.
    pub pin: bool,
}

/// Reads the command line, without the name of the program.
///
/// # Errors
///
/// An option that there is not, or a value that does not fit.
pub fn parse(args: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Invocation, lexopt::Error> {
    let mut parser = lexopt::Parser::from_args(args);
    let (mut port, mut ip) = (6399, IpAddr::V4(Ipv4Addr::LOCALHOST));
    let (mut cores, mut pin, mut demo) = (None, false, false);
    let mut write_timeout = Duration::from_secs(30);
    let mut reuse_port = false;
    while let Some(arg) = parser.next()? {
        match arg {
            Long("port") => port = parser.value()?.parse()?,
            Long("bind") => ip = parser.value()?.parse()?,
            Long("cores") => cores = Some(parser.value()?.parse_with(positive)?),
            Long("pin") => pin = true,
            Long("reuse-port") => reuse_port = true,
            Long("write-timeout") => write_timeout = parser.value()?.parse_with(seconds)?,
            Long("demo") => demo = true,
            Long("help") | Short('h') => return Ok(Invocation::Help),
            other => return Err(other.unexpected()),
        }
    }
    let address = if demo { SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0) } else { SocketAddr::new(ip, port) };
    let options = Options { settings: Settings { address, reuse_port, write_timeout }, cores, pin };
    Ok(if demo { Invocation::Demo(options) } else { Invocation::Serve(options) })
}

fn positive(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|value| *value > 0).ok_or("not a number above 0")
}

fn seconds(text: &str) -> Result<Duration, &'static str> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds")?;
    Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero()).ok_or("not a number of seconds above 0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_defaults() {
        let Ok(Invocation::Serve(options)) = parse([""; 0]) else { panic!("serves") };
        assert_eq!(options.settings.address, "127.0.0.1:6399".parse().unwrap());
        assert_eq!((options.cores, options.pin, options.settings.reuse_port), (None, false, false));
        assert_eq!(options.settings.write_timeout, Duration::from_secs(30));
        let all = ["--port=0", "--bind", "::1", "--cores", "3", "--pin", "--reuse-port", "--write-timeout", "0.5"];
        let Ok(Invocation::Serve(options)) = parse(all) else { panic!("serves") };
        assert_eq!(options.settings.address, "[::1]:0".parse().unwrap());
        assert_eq!((options.cores, options.pin, options.settings.reuse_port), (Some(3), true, true));
        assert_eq!(options.settings.write_timeout, Duration::from_millis(500));
        assert!(matches!(parse(["--demo"]), Ok(Invocation::Demo(_))));
        assert!(matches!(parse(["--help"]), Ok(Invocation::Help)));
    }

    #[test]
    fn everything_else_is_an_error() {
        for args in [
            &["--nope"][..],
            &["x"],
            &["--port"],
            &["--port", "70000"],
            &["--cores", "0"],
            &["--write-timeout", "0"],
            &["-p"],
        ] {
            parse(args.iter()).unwrap_err();
        }
        assert!(parse(["--nope"]).unwrap_err().to_string().contains("--nope"));
    }
}
