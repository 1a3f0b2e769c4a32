//! Counts: what was checked, which condition of docs/design.md, section 2, the model saw, and who served, from pg_stat_cftrag.
//!
//! What counts, for the two assertions of --require-image:
//! - a check is one compared cft_context call made by the driver (checks inside the workload's triggers compare too, but are
//!   not counted);
//! - *all*: at least 60 % of the checks are served by the image;
//! - *free*: checks for which the model (model.rs) knows that no condition of section 2 applies: not disabled, not
//!   serializable, no pending trigger, no policy, no worker of a writing transaction, no own TRUNCATE or the like, the image
//!   is there, and the snapshot is younger than the build. Of these at least 95 % are served by the image.
//!   The reason that the server gives does not count, so a server that wrongly finds a reason fails this.

use std::collections::BTreeMap;

use postgres::{Client, Error};

/// One reading of pg_stat_cftrag, summed over our tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    pub image: i64,
    pub reference: i64,
    pub reasons: BTreeMap<String, i64>,
}

pub struct Stats {
    sql: String,
    reasons: Vec<String>,
    last: Served,
}

impl Stats {
    /// The columns are read from the view: the set of reasons may grow.
    pub fn new(client: &mut Client) -> Result<Stats, Error> {
        let columns = client.query(
            "SELECT attname::text FROM pg_attribute WHERE attrelid = 'pg_stat_cftrag'::regclass AND attname LIKE 'ref\\_%' ORDER BY attnum",
            &[],
        )?;
        let reasons: Vec<String> = columns.iter().map(|row| row.get(0)).collect();
        let sums: Vec<String> = std::iter::once("image_calls")
            .chain(std::iter::once("reference_calls"))
            .chain(reasons.iter().map(String::as_str))
            .map(|column| format!("coalesce(sum({column}), 0)::bigint"))
            .collect();
        let sql = format!(
            "SELECT {} FROM pg_stat_cftrag WHERE edges::oid IN (SELECT oid FROM pg_class WHERE relnamespace = 'exact'::regnamespace)",
            sums.join(", ")
        );
        let mut stats = Stats { sql, reasons, last: Served::default() };
        stats.since(client)?;
        Ok(stats)
    }

    fn read(&self, client: &mut Client) -> Result<Served, Error> {
        let row = client.query_one(self.sql.as_str(), &[])?;
        let reasons = self.reasons.iter().enumerate().map(|(i, name)| (name.clone(), row.get(i + 2)));
        Ok(Served { image: row.get(0), reference: row.get(1), reasons: reasons.collect() })
    }

    /// What was served since the last reading.
    pub fn since(&mut self, client: &mut Client) -> Result<Served, Error> {
        let now = self.read(client)?;
        let reasons = now.reasons.iter().map(|(name, n)| (name.clone(), n - self.last.reasons.get(name).unwrap_or(&0)));
        let difference = Served {
            image: now.image - self.last.image,
            reference: now.reference - self.last.reference,
            reasons: reasons.filter(|(_, n)| *n != 0).collect(),
        };
        self.last = now;
        Ok(difference)
    }
}

#[derive(Debug, Default)]
pub struct Tally {
    pub steps: u64,
    pub checks: u64,
    pub differences: u64,
    /// Checks by their mode.
    pub modes: BTreeMap<String, u64>,
    /// Steps that ended with an error the workload provokes, by SQLSTATE.
    pub provoked: BTreeMap<String, u64>,
    /// Checks by the model's condition ("none" = free) and by who served.
    pub served: BTreeMap<&'static str, (u64, u64, u64)>,
    /// The server's reasons, for all checks and for the free ones.
    pub reasons: BTreeMap<String, u64>,
    pub free_reasons: BTreeMap<String, u64>,
    pub verified: u64,
    /// Checks while snapshots overflow, and those of them beside somebody whose subtransactions are few.
    pub overflowed: u64,
    pub overflowed_beside_few: u64,
    pub imported: u64,
    pub imported_overflowed: u64,
    /// Warnings, by their text.
    pub warnings: BTreeMap<String, u64>,
    pub kinds: BTreeMap<&'static str, u64>,
}

const FREE: &str = "none";

impl Tally {
    /// `calls` calls of cft_context in one statement.
    pub fn check(&mut self, condition: Option<&'static str>, served: &Served, calls: u64) {
        self.checks += calls;
        let entry = self.served.entry(condition.unwrap_or(FREE)).or_default();
        match served {
            Served { image, reference, .. } if calls > 1 => {
                // The linker's calls count, too.
                let reference = reference.unsigned_abs().min(calls);
                let image = image.unsigned_abs().min(calls - reference);
                entry.0 += image;
                entry.1 += reference;
                entry.2 += calls - reference - image;
            }
            Served { image: 1.., reference: 0, .. } => entry.0 += 1,
            Served { reference: 1.., .. } => entry.1 += 1,
            // pg_stat_cftrag counts nothing (no shared memory), or was reset.
            _ => entry.2 += 1,
        }
        for reason in served.reasons.keys() {
            *self.reasons.entry(reason.clone()).or_default() += 1;
            if condition.is_none() {
                *self.free_reasons.entry(reason.clone()).or_default() += 1;
            }
        }
    }

    /// `calls` calls under a snapshot that overflows, beside others with few subtransactions (model.rs `overflow`).
    pub fn beside(&mut self, (overflowed, few): (bool, bool), calls: u64) {
        self.overflowed += if overflowed { calls } else { 0 };
        self.overflowed_beside_few += if few { calls } else { 0 };
    }

    pub fn provoked(&mut self, error: &str) {
        *self.provoked.entry(error.chars().take(5).collect()).or_default() += 1;
    }

    fn by_image(&self) -> (u64, u64, u64) {
        let image = self.served.values().map(|s| s.0).sum();
        let free = self.served.get(FREE).copied().unwrap_or_default();
        (image, free.0, free.0 + free.1 + free.2)
    }

    pub fn print(&self) {
        println!("  {:34} {:>8} {:>10} {:>9}", "condition the model saw", "image", "reference", "uncounted");
        for (condition, (image, reference, neither)) in &self.served {
            println!("  {condition:34} {image:8} {reference:10} {neither:9}");
        }
        println!(
            "  while snapshots overflow:   {} checks, {} of them beside few subtransactions; {} snapshots imported, {} of them overflowed",
            self.overflowed, self.overflowed_beside_few, self.imported, self.imported_overflowed
        );
        println!("  reasons by pg_stat_cftrag: {}", list(&self.reasons));
        println!("  reasons of free checks:    {}", list(&self.free_reasons));
        println!("  checks by mode:            {}", list(&self.modes));
        println!("  steps by kind:             {}", list(&self.kinds));
        println!("  provoked errors:           {}", list(&self.provoked));
        println!("  warnings:                  {}", list(&self.warnings));
    }

    /// The summary, in one line.
    pub fn summary(&self) -> String {
        let (image, free_image, free) = self.by_image();
        format!(
            "{} checks in {} steps, {} differences, {} warnings, {} times cft_verify; by the image: {} of all, {} of {free} free of conditions",
            self.checks,
            self.steps,
            self.differences,
            self.warnings.values().sum::<u64>(),
            self.verified,
            percent(image, self.checks),
            percent(free_image, free)
        )
    }

    /// The promises of --require-image that do not hold.
    pub fn broken_promises(&self) -> Vec<String> {
        let (image, free_image, free) = self.by_image();
        let mut broken = Vec::new();
        if image * 100 < self.checks * 60 {
            broken.push(format!(
                "{} of all checks were served by the image, 60 % are required",
                percent(image, self.checks)
            ));
        }
        if free_image * 100 < free * 95 {
            broken.push(format!(
                "{} of the free checks were served by the image, 95 % are required",
                percent(free_image, free)
            ));
        }
        // Several checks in a hundred run under each kind; fewer mean that nothing overflows any more.
        if self.overflowed_beside_few * 50 < self.checks || self.imported >= 100 && self.imported_overflowed == 0 {
            broken.push(
                "too few checks beside transactions of many subtransactions and of few, or under such snapshots"
                    .to_string(),
            );
        }
        if free * 2 < self.checks {
            broken.push(format!("only {free} of {} checks are free: the schedule says too little", self.checks));
        }
        broken
    }
}

fn percent(part: u64, whole: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "printed with one digit")]
    let value = if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 };
    format!("{value:.1} %")
}

fn list<K: std::fmt::Display>(counts: &BTreeMap<K, u64>) -> String {
    if counts.is_empty() {
        return "none".to_string();
    }
    counts.iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(image: i64, reference: i64) -> Served {
        Served { image, reference, reasons: BTreeMap::new() }
    }

    #[test]
    fn too_few_free_checks_by_the_image_break_the_promise() {
        let mut tally = Tally::default();
        tally.beside((true, true), 10);
        (0..94).for_each(|_| tally.check(None, &served(1, 0), 1));
        (0..6).for_each(|_| tally.check(None, &served(0, 1), 1));
        assert_eq!(tally.broken_promises().len(), 1);
        (0..100).for_each(|_| tally.check(None, &served(1, 0), 1));
        assert!(tally.broken_promises().is_empty());
    }

    #[test]
    fn uncounted_calls_are_not_served_by_the_image() {
        let mut tally = Tally::default();
        tally.check(None, &served(0, 0), 1);
        assert!(!tally.broken_promises().is_empty());
    }
}
