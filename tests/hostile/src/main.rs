//! cftrag-hostile: checks that no call, however hostile, breaks the server or the answers.
//!
//!     cftrag-hostile --host SOCKETDIR --port P --seed S --calls N [--only TEXT] [--verbose]
//!
//! Every SQL function and view of the extension, as pg_depend lists them, is called in N hostile ways: wrong and extreme arguments
//! (values.rs) in every place a call can stand (places.rs), by several sessions and roles, some of them in the middle of
//! transactions; by the simple and the extended protocol and by OID; the trigger functions are used in triggers of every kind.
//! Half of the calls go to a database in UTF-8, half to one in SQL_ASCII, where any byte is text.
//!
//! Ends with 1 and the failing statements at the first internal error (SQLSTATE XX...), lost connection or hang; if cft_verify
//! finds something or the image's answer differs from the reference query's; and if a function or a place was never really
//! tested. A crash shows as a lost connection; tools/test also checks the server's log. Needs a superuser.

mod client;
mod places;
mod round;
mod run;
mod triggers;
mod values;
mod world;

use std::process::ExitCode;

pub struct Options {
    host: String,
    port: u16,
    seed: u64,
    calls: u64,
    only: Option<String>,
    verbose: bool,
}

fn options() -> Result<Options, String> {
    let mut options = Options { host: "/tmp".into(), port: 5432, seed: 1, calls: 10_000, only: None, verbose: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        if name == "--verbose" {
            options.verbose = true;
            continue;
        }
        let value = arguments.next().ok_or(format!("{name} needs a value, or is not an option"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{name} {value}: not a number"));
        match name.as_str() {
            "--host" => options.host = value,
            "--port" => options.port = u16::try_from(number()?).map_err(|e| e.to_string())?,
            "--seed" => options.seed = number()?,
            "--calls" => options.calls = number()?,
            "--only" => options.only = Some(value),
            _ => return Err(format!("{name}: no such option")),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(text) => {
            eprintln!("cftrag-hostile: {text}");
            return ExitCode::from(2);
        }
    };
    match run::run(&options) {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(text) => {
            println!("{text}\nto reproduce: --seed {} --calls {}", options.seed, options.calls);
            ExitCode::FAILURE
        }
    }
}
