//! Chooses one hostile call: session, function, arguments, place and protocol. The choice depends on the seed alone.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::client::Bytes;
use crate::places::{PLACES, SETTINGS};
use crate::triggers;
use crate::values::{self, one_in, pick};
use crate::world::Callable;

pub const SESSIONS: usize = 3;

#[derive(Debug)]
pub enum Sent {
    Query(Vec<u8>),
    Extended { sql: Vec<u8>, parameters: Vec<Bytes>, binary: bool },
    FastPath { function: u32, arguments: Vec<Bytes>, binary: bool },
}

#[derive(Debug)]
pub struct Round {
    pub session: usize,
    pub callable: usize,
    pub place: &'static str,
    pub sent: Vec<Sent>,
    /// If the call leaves a transaction open, it stays open.
    pub leaves_open: bool,
}

pub fn next(rng: &mut ChaCha8Rng, callables: &[Callable], parallel: &str, n: u64) -> Round {
    let session = rng.random_range(0..SESSIONS);
    let callable = rng.random_range(0..callables.len());
    let called = &callables[callable];
    let mut before = Vec::new();
    if one_in(rng, 6) {
        before.push(format!("SET ROLE {}", pick(rng, &["hostile_owner", "hostile_reader", "hostile_nobody"])));
    }
    while one_in(rng, 3) {
        before.push(format!("SET {}", pick(rng, SETTINGS)));
    }
    let (place, sent) = match rng.random_range(0..20) {
        0 | 1 => ("extended protocol", vec![extended(rng, called)]),
        2 if !called.view => ("fast path", vec![fast_path(rng, called)]),
        3..14 if called.trigger => {
            ("trigger", triggers::statements(rng, &called.name, n).into_iter().map(query).collect())
        }
        _ => {
            let (name, statements) = PLACES[rng.random_range(0..PLACES.len())];
            let call = call(rng, called);
            let fill = |text: &&str| {
                let q = format!("$h${}$h$", "SELECT * FROM {call}");
                text.replace("{q}", &q)
                    .replace("{call}", &call)
                    .replace("{n}", &n.to_string())
                    .replace("{parallel}", parallel)
            };
            (name, statements.iter().map(fill).map(query).collect())
        }
    };
    let leaves_open = place == "left open" || one_in(rng, 40);
    let sent = before.into_iter().map(query).chain(sent).collect();
    Round { session, callable, place, sent, leaves_open }
}

fn query(sql: String) -> Sent {
    Sent::Query(sql.into_bytes())
}

/// The SQL of the call.
fn call(rng: &mut ChaCha8Rng, called: &Callable) -> String {
    if called.view {
        return called.name.clone();
    }
    let mut count = called.types.len();
    // Most functions have defaults, so some arguments are left out; now and then there is one too many.
    match rng.random_range(0..12) {
        0..4 => count = rng.random_range(0..=count),
        4 => count += 1,
        _ => {}
    }
    let friendly = one_in(rng, 4);
    let mut argument = |i: usize| {
        let type_name = called.types.get(i).map_or("text", String::as_str);
        if friendly { values::friendly(rng, type_name) } else { values::argument(rng, type_name) }
    };
    let mut arguments: Vec<String> = (0..count).map(&mut argument).collect();
    if friendly {
        return format!("{}({})", called.name, arguments.join(", "));
    }
    if one_in(rng, 3) {
        let positional = rng.random_range(0..=count);
        for (i, argument) in arguments.iter_mut().enumerate().skip(positional) {
            let name = called.names.get(i).map_or("nothing", String::as_str);
            let name = if one_in(rng, 12) { "no_such_argument" } else { name };
            let arrow = if one_in(rng, 4) { ":=" } else { "=>" };
            *argument = format!("{name} {arrow} {argument}");
        }
    }
    if one_in(rng, 20)
        && let Some(last) = arguments.last_mut()
    {
        *last = format!("VARIADIC {last}");
    }
    let (first, last) = match rng.random_range(0..40) {
        0 => ("DISTINCT ", ""),
        1 => ("", " ORDER BY 1"),
        2 => ("ALL ", ""),
        _ => ("", ""),
    };
    let name = if one_in(rng, 8) { called.name.rsplit('.').next().unwrap_or_default() } else { &called.name };
    format!("{name}({first}{}{last})", arguments.join(", "))
}

fn extended(rng: &mut ChaCha8Rng, called: &Callable) -> Sent {
    let binary = one_in(rng, 2);
    let count = if one_in(rng, 10) { called.types.len() + 1 } else { called.types.len() };
    let places: Vec<String> = (1..=count).map(|i| format!("${i}")).collect();
    let mut sql = match called.view {
        true => format!("SELECT * FROM {}", called.name),
        false => format!("SELECT * FROM {}({})", called.name, places.join(", ")),
    }
    .into_bytes();
    if one_in(rng, 10) {
        sql.extend([b'-', b'-', 0xff, 0xc3]);
    }
    let given = if one_in(rng, 10) { rng.random_range(0..=count) } else { count };
    Sent::Extended { sql, parameters: parameters(rng, called, given, binary), binary }
}

fn fast_path(rng: &mut ChaCha8Rng, called: &Callable) -> Sent {
    let binary = one_in(rng, 2);
    let count = if one_in(rng, 5) { rng.random_range(0..6) } else { called.types.len() };
    Sent::FastPath { function: called.oid, arguments: parameters(rng, called, count, binary), binary }
}

fn parameters(rng: &mut ChaCha8Rng, called: &Callable, count: usize, binary: bool) -> Vec<Bytes> {
    (0..count).map(|i| values::bytes(rng, called.types.get(i).map_or("text", String::as_str), binary)).collect()
}
