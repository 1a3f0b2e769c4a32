//! The driver: sends each call's statements, checks the replies, and regularly checks that all tables are still sound.

use std::collections::BTreeMap;
use std::time::Instant;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::Options;
use crate::client::{Client, Complaint, Lost, Reply};
use crate::round::{self, Round, SESSIONS, Sent};
use crate::world::{self, Callable};

/// The server's own timeouts end every statement that runs longer, or waits longer for a lock.
const LIMITS: &str = "-c statement_timeout=3s -c lock_timeout=100ms -c client_min_messages=error -c idle_in_transaction_session_timeout=0";
/// How many calls lie between two checks of the tables.
const CHECK_EVERY: u64 = 100;
/// A run of so many calls must have called every function and used every place; a run of `PLENTY` must have seen every function both
/// succeed and fail. Shorter runs may miss that by chance.
const ENOUGH: u64 = 1500;
const PLENTY: u64 = 5000;
/// UTF-8, and an encoding in which any byte is text.
const DATABASES: [(&str, &str); 2] = [("hostile_utf8", "UTF8"), ("hostile_ascii", "SQL_ASCII")];

#[derive(Default)]
struct Tally {
    statements: u64,
    codes: BTreeMap<String, u64>,
    /// Successes and errors of statements, by place.
    places: BTreeMap<&'static str, (u64, u64)>,
    /// Successes and errors by function; an expected error of a trigger function counts as a success.
    functions: BTreeMap<String, (u64, u64)>,
}

struct World {
    database: &'static str,
    maintenance: Client,
    sessions: Vec<Client>,
    callables: Vec<Callable>,
    parallel: &'static str,
}

pub fn run(options: &Options) -> Result<String, String> {
    let start = Instant::now();
    let mut tally = Tally::default();
    let mut worlds =
        DATABASES.iter().map(|(name, encoding)| open(options, name, encoding)).collect::<Result<Vec<_>, _>>()?;
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    for n in 0..options.calls {
        let world = &mut worlds[(n / CHECK_EVERY % 2) as usize];
        let next = round::next(&mut rng, &world.callables, world.parallel, n);
        if options.only.as_ref().is_none_or(|only| next.place.contains(only.as_str())) {
            perform(world, &next, n, &mut tally, options)?;
        }
        if (n + 1).is_multiple_of(CHECK_EVERY) || n + 1 == options.calls {
            end_all(world)?;
            world::check(&mut world.maintenance)
                .map_err(|text| format!("NOT SOUND after call {n} in {}: {text}", world.database))?;
        }
    }
    let missing = missing(&worlds[0], &tally, options);
    if options.verbose || !missing.is_empty() {
        tally.places.iter().for_each(|(name, (good, bad))| println!("{name:28} {good:6} succeeded {bad:6} failed"));
        tally.functions.iter().for_each(|(name, (good, bad))| println!("{name:90.90} {good:6} {bad:6}"));
        tally.codes.iter().for_each(|(code, count)| println!("{code} {count}"));
    }
    if !missing.is_empty() {
        return Err(format!("NOT REACHED: {}", missing.join("; ")));
    }
    Ok(format!(
        "seed {}: {} calls in {:.0} s, {} statements, {} SQLSTATEs; no internal error, no lost connection, all sound",
        options.seed,
        options.calls,
        start.elapsed().as_secs_f64(),
        tally.statements,
        tally.codes.len(),
    ))
}

fn open(options: &Options, database: &'static str, encoding: &str) -> Result<World, String> {
    let connect = |database: &str, limits: &str| {
        Client::open(&options.host, options.port, "postgres", database, limits)
            .map_err(|Lost(text)| format!("cannot connect to {database}: {text}"))
    };
    let mut postgres = connect("postgres", "")?;
    let prepared =
        world::must(&mut postgres, &format!("SELECT gid FROM pg_prepared_xacts WHERE database = '{database}'"))?;
    if !prepared.rows.is_empty() {
        return Err(format!("prepared transactions of an earlier run are left in {database}: roll them back"));
    }
    world::must(&mut postgres, &format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)"))?;
    world::must(
        &mut postgres,
        &format!("CREATE DATABASE {database} TEMPLATE template0 ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'"),
    )?;
    let mut maintenance = connect(database, "-c lock_timeout=10s")?;
    let callables = world::set_up(&mut maintenance)?;
    let mut sessions = (0..SESSIONS).map(|_| connect(database, LIMITS)).collect::<Result<Vec<_>, _>>()?;
    world::must(&mut sessions[0], "CREATE TEMP TABLE theirs (parent text, child text)")?;
    let version: u32 = world::must(&mut maintenance, "SHOW server_version_num")?.text().parse().unwrap_or(0);
    let parallel = if version >= 160_000 { "debug_parallel_query" } else { "force_parallel_mode" };
    Ok(World { database, maintenance, sessions, callables, parallel })
}

fn perform(world: &mut World, round: &Round, n: u64, tally: &mut Tally, options: &Options) -> Result<(), String> {
    let client = &mut world.sessions[round.session];
    let called = &world.callables[round.callable];
    let told = |what: &str, at: usize| {
        let shown: Vec<String> = round.sent[..=at].iter().map(show).collect();
        format!(
            "{what}\nseed {}, call {n}, database {}, session {}, place {}; the statements:\n{}",
            options.seed,
            world.database,
            round.session,
            round.place,
            shown.join(";\n")
        )
    };
    for (at, sent) in round.sent.iter().enumerate() {
        let reply = send(client, sent).map_err(|Lost(text)| told(&format!("LOST CONNECTION: {text}"), at))?;
        count(tally, round.place, called, sent, &reply);
        if let Some(error) = reply.errors.iter().find(|error| internal(error, round.place)) {
            return Err(told(&format!("INTERNAL ERROR: {} {}", error.code, error.text), at));
        }
        if options.verbose {
            let said = reply.errors.first().map_or("ok".into(), |e| format!("{} {}", e.code, e.text));
            println!("{n} [{}] {:.300}\n        {said:.200}", round.session, show(sent));
        }
    }
    let last = round.sent.len() - 1;
    let lost = |Lost(text)| told(&format!("LOST CONNECTION after the call: {text}"), last);
    if client.state == b'E' || (client.state == b'T' && !round.leaves_open) {
        client.query(b"ROLLBACK").map_err(lost)?;
    }
    for sql in ["RESET SESSION AUTHORIZATION", "RESET ROLE", "RESET ALL"] {
        client.query(sql.as_bytes()).map_err(lost)?;
    }
    Ok(())
}

fn send(client: &mut Client, sent: &Sent) -> Result<Reply, Lost> {
    match sent {
        Sent::Query(sql) => client.query(sql),
        Sent::Extended { sql, parameters, binary } => client.extended(sql, parameters, *binary),
        Sent::FastPath { function, arguments, binary } => client.call(*function, arguments, *binary),
    }
}

/// SQLSTATE XX... means a bug. Three such errors are PostgreSQL's own and need no function of ours: two sessions update one catalog row, a
/// binary jsonb is malformed, or an index expression reads the table whose index is being built (the planner reads the index's first page).
fn internal(error: &Complaint, place: &str) -> bool {
    let own = error.text.starts_with("tuple concurrently ")
        || error.text.starts_with("unsupported jsonb version number")
        || (place == "index of an edges table" && error.text.starts_with("could not read block"));
    error.code.starts_with("XX") && !own
}

fn count(tally: &mut Tally, place: &'static str, called: &Callable, sent: &Sent, reply: &Reply) {
    tally.statements += 1;
    let text = show(sent);
    let short = called.name.rsplit('.').next().unwrap_or_default();
    let theirs = text.contains(short) || matches!(sent, Sent::FastPath { .. });
    let failed = reply.errors.first();
    if let Some(error) = failed {
        *tally.codes.entry(error.code.clone()).or_default() += 1;
    }
    let add = |entry: &mut (u64, u64), good: bool| if good { entry.0 += 1 } else { entry.1 += 1 };
    add(tally.places.entry(place).or_default(), failed.is_none());
    if theirs {
        let protocol = called.trigger && failed.is_some_and(|error| error.code == "39P01");
        add(tally.functions.entry(called.signature()).or_default(), failed.is_none() || protocol);
    }
}

/// The functions and places that a run of this length should have reached and has not: without them it proves nothing.
fn missing(world: &World, tally: &Tally, options: &Options) -> Vec<String> {
    let mut missing = Vec::new();
    if options.calls < ENOUGH || options.only.is_some() {
        return missing;
    }
    for callable in &world.callables {
        let (good, bad) = tally.functions.get(&callable.signature()).copied().unwrap_or_default();
        if good + bad == 0 || (options.calls >= PLENTY && (good == 0 || bad == 0)) {
            missing.push(format!("both a success and an error of {}", callable.signature()));
        }
    }
    let places =
        crate::places::PLACES.iter().map(|(name, _)| *name).chain(["trigger", "extended protocol", "fast path"]);
    for place in places {
        if !tally.places.contains_key(place) {
            missing.push(format!("place {place:?}"));
        }
    }
    missing
}

fn end_all(world: &mut World) -> Result<(), String> {
    for client in &mut world.sessions {
        if client.state != b'I' {
            client.query(b"ROLLBACK").map_err(|Lost(text)| format!("LOST CONNECTION at ROLLBACK: {text}"))?;
        }
    }
    Ok(())
}

/// What was sent, shortened for a person to read.
fn show(sent: &Sent) -> String {
    match sent {
        Sent::Query(sql) => format!("{:.3000}", String::from_utf8_lossy(sql)),
        Sent::Extended { sql, parameters, binary } => {
            format!("extended, binary {binary}: {} with {}", String::from_utf8_lossy(sql), values(parameters))
        }
        Sent::FastPath { function, arguments, binary } => {
            format!("fast path, binary {binary}: function {function} with {}", values(arguments))
        }
    }
}

fn values(all: &[Option<Vec<u8>>]) -> String {
    let one = |value: &Option<Vec<u8>>| match value {
        None => "NULL".to_string(),
        Some(bytes) => format!("{} bytes {:?}", bytes.len(), &bytes[..bytes.len().min(60)]),
    };
    all.iter().map(one).collect::<Vec<_>>().join(", ")
}
