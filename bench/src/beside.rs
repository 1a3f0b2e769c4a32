//! Readers beside writers: does a reader wait? Server and client may use all CPUs here.

use std::error::Error;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::data::Forest;
use crate::lookup;
use crate::measure::Session;
use crate::report::Table;

type Told<T> = Result<T, String>;

/// The parent of a process; 0 if the kernel does not say.
fn parent(pid: i32) -> i32 {
    let told = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    told.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

/// Lets this process and the whole server, including cftrag's launcher, use all CPUs; new backends and threads inherit that.
pub fn unpin(session: &Session) {
    let postmaster = parent(session.pid);
    let names = std::fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
    let processes = names.filter_map(|name| name.to_str()?.parse::<i32>().ok());
    let client = i32::try_from(std::process::id()).unwrap_or(0);
    let of_server = |pid| postmaster > 0 && (pid == postmaster || parent(pid) == postmaster);
    for pid in processes.filter(|&pid| pid == client || of_server(pid)) {
        // Without taskset nothing was pinned either.
        let _ = Command::new("taskset").args(["-cp", "0-1023", &pid.to_string()]).output();
    }
}

/// What a reader saw: calls, backend CPU microseconds a call, the longest call in milliseconds.
struct Reader {
    calls: f64,
    cpu: f64,
    longest: f64,
}

fn reader(url: &str, table: &str, names: Vec<String>, stop: &Arc<AtomicBool>) -> JoinHandle<Told<Reader>> {
    let (url, stop) = (url.to_string(), Arc::clone(stop));
    let sql = format!("SELECT * FROM cft_context($1::text, 3, 3, '{table}')");
    std::thread::spawn(move || {
        let work = || -> Result<Reader, postgres::Error> {
            let mut session = Session::open(&url)?;
            let statement = session.client.prepare(&sql)?;
            session.client.query(&statement, &[&names[0]])?;
            let (before, mut told) = (session.cpu(), Reader { calls: 0.0, cpu: 0.0, longest: 0.0 });
            for name in names.iter().cycle() {
                let start = Instant::now();
                session.client.query(&statement, &[name])?;
                told.longest = told.longest.max(start.elapsed().as_secs_f64() * 1000.0);
                told.calls += 1.0;
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
            told.cpu = (session.cpu() - before) as f64 / 1000.0 / told.calls;
            Ok(told)
        };
        work().map_err(|e| e.to_string())
    })
}

/// Commits about 700 times a second, alternating an insert and a delete; returns the number of commits.
fn writer(url: &str, table: &str, stop: &Arc<AtomicBool>) -> JoinHandle<Told<f64>> {
    let (url, table, stop) = (url.to_string(), table.to_string(), Arc::clone(stop));
    std::thread::spawn(move || {
        let work = || -> Result<f64, postgres::Error> {
            let mut session = Session::open(&url)?;
            let insert =
                session.client.prepare(&format!("INSERT INTO {table} VALUES ('beside', 'beside 1', 'beside 2')"))?;
            let delete = session
                .client
                .prepare(&format!("DELETE FROM {table} WHERE child = 'beside 2' AND parent = 'beside 1'"))?;
            let mut commits = 0.0;
            while !stop.load(Ordering::Relaxed) {
                session.client.execute(&insert, &[])?;
                session.client.execute(&delete, &[])?;
                commits += 2.0;
                std::thread::sleep(Duration::from_millis(2));
            }
            Ok(commits)
        };
        work().map_err(|e| e.to_string())
    })
}

fn join<T>(thread: JoinHandle<Told<T>>) -> Result<T, Box<dyn Error>> {
    Ok(thread.join().map_err(|_| "a thread panicked")??)
}

/// Two readers: alone, beside a writer of another table (which takes its share of the CPUs), beside a writer of their own. Turns of two seconds.
pub fn writers(session: &mut Session, url: &str, forest: &Forest) -> Result<Table, Box<dyn Error>> {
    unpin(session);
    let table = format!("edges_{}", forest.name);
    session.client.batch_execute(
        "DROP TABLE IF EXISTS bench_other; CREATE TABLE bench_other (tree text, parent text, child text);
         CREATE INDEX ON bench_other (parent); CREATE INDEX ON bench_other (child)",
    )?;
    let kinds = [
        ("readers alone", None),
        ("beside a writer of another table, without cftrag", Some("bench_other")),
        ("beside a writer of their table", Some(table.as_str())),
    ];
    const TURNS: usize = 5;
    let mut figures = vec![vec![0.0; 4]; kinds.len()];
    for _ in 0..TURNS {
        for ((_, written), figures) in kinds.iter().zip(&mut figures) {
            let stop = Arc::new(AtomicBool::new(false));
            let writing = written.map(|table| writer(url, table, &stop));
            let readers: Vec<_> =
                (0..2).map(|r| reader(url, &table, lookup::uniform(forest, r, 5_000), &stop)).collect();
            let start = Instant::now();
            std::thread::sleep(Duration::from_secs(2));
            stop.store(true, Ordering::Relaxed);
            let seconds = start.elapsed().as_secs_f64() * TURNS as f64;
            for thread in readers {
                let told = join(thread)?;
                figures[0] += told.calls / seconds;
                figures[1] += told.cpu / (2 * TURNS) as f64;
                figures[2] = told.longest.max(figures[2]);
            }
            if let Some(thread) = writing {
                figures[3] += join(thread)? / seconds;
            }
        }
    }
    session.client.batch_execute("DROP TABLE bench_other")?;
    Ok(Table {
        title: format!("Two readers beside a writer, {} edges", forest.edges),
        file: "beside-writer".into(),
        unit: "calls a second",
        columns: vec!["calls a second", "backend CPU a call", "longest call, ms", "commits a second"],
        lines: kinds.iter().zip(figures).map(|((name, _), f)| ((*name).to_string(), f)).collect(),
        note: "Not pinned: readers, writer and the client's threads share all CPUs.".into(),
    })
}

/// The longest wait of a reader while rows are copied into its table and committed, compared with COPY into a table without cftrag.
pub fn copy(session: &mut Session, url: &str, rows: u64) -> Result<Table, Box<dyn Error>> {
    unpin(session);
    session.client.batch_execute(
        "DROP TABLE IF EXISTS copied, copied_plain; CREATE TABLE copied (tree text, parent text, child text);
         CREATE TABLE copied_plain (LIKE copied);
         INSERT INTO copied SELECT 't', 'parent ' || i / 10, 'child ' || i FROM generate_series(0, 99999) AS i;
         SELECT cft_attach('copied', tree => 'tree')",
    )?;
    session.client.batch_execute("SELECT cft_build('copied')")?;
    let names: Vec<String> = (0..5_000).map(|i| format!("parent {i}")).collect();
    let mut lines = Vec::new();
    // All three measure for as long as the first, since the maximum grows with time.
    let mut first = None;
    for (name, table) in [
        ("beside COPY into it", Some("copied")),
        ("beside COPY into another, without cftrag", Some("copied_plain")),
        ("alone", None),
    ] {
        let stop = Arc::new(AtomicBool::new(false));
        let reading = reader(url, "copied", names.clone(), &stop);
        let start = Instant::now();
        loop {
            match table {
                Some(table) => copy_rows(url, table, rows)?,
                None => std::thread::sleep(Duration::from_millis(10)),
            }
            let elapsed = start.elapsed();
            if elapsed >= *first.get_or_insert(elapsed) {
                break;
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        stop.store(true, Ordering::Relaxed);
        let told = join(reading)?;
        lines.push((name.to_string(), vec![told.longest, told.calls / seconds, told.cpu, seconds]));
    }
    session.client.batch_execute("DROP TABLE copied, copied_plain")?;
    Ok(Table {
        title: format!("A reader beside COPY of {rows} rows"),
        file: "beside-copy".into(),
        unit: "milliseconds, the longest call",
        columns: vec!["longest call, ms", "calls a second", "backend CPU a call", "seconds"],
        lines,
        note: "One reader and one COPY (without cftrag, several in a row to fill the same time); they and the client's two threads share all CPUs.".into(),
    })
}

fn copy_rows(url: &str, table: &str, rows: u64) -> Result<(), Box<dyn Error>> {
    let mut session = Session::open(url)?;
    let mut to = session.client.copy_in(&format!("COPY {table} FROM STDIN"))?;
    let mut text = String::new();
    for i in 0..rows {
        text += &format!("c\tcopied {}\tcopied child {i}\n", i / 10);
        if text.len() > 1 << 16 {
            std::io::Write::write_all(&mut to, text.as_bytes())?;
            text.clear();
        }
    }
    std::io::Write::write_all(&mut to, text.as_bytes())?;
    to.finish()?;
    Ok(())
}
