//! The aims and what was measured, most of them ratios of two figures of this run. Beside each, if its table has a floor, stands the same
//! ratio with the floor in cftrag's place: if the floor clearly misses an aim, no answer sent through PostgreSQL's executor can reach it.

use std::fmt::Write as _;

use crate::lookup::{FIRST, NOTHING};
use crate::report::{Table, round};
use crate::{floor, insert, recognise};

enum Goal {
    Most(f64),
    Least(f64),
}

use Goal::{Least, Most};

impl Goal {
    fn is_met(&self, value: f64) -> bool {
        match self {
            Most(most) => value <= *most,
            Least(least) => value >= *least,
        }
    }
}

/// Contenders that look nothing up, the one closest to an answer first.
const FLOORS: [&str; 4] = [floor::NAME, NOTHING, recognise::ALONE, insert::FLOOR];

const FLOOR_TOLD: &str = "Floor: the same ratio with a baseline in cftrag's place: the constant answer, or else a name lookup, the statement alone, or a \
    trigger that does nothing; for the longest call or insert, the same work without cftrag. If the floor clearly misses an aim, no answer sent \
    through PostgreSQL's executor can reach it on this machine. Runs differ by a tenth, some by more.";

/// Where a figure stands: the file of the table, the contender, the column.
#[derive(Clone, Copy)]
struct Figure<'a>(&'a str, &'a str, &'a str);

struct Line {
    what: String,
    goal: Goal,
    value: Option<f64>,
    floor: Option<f64>,
}

struct Targets<'a> {
    tables: &'a [Table],
    lines: Vec<Line>,
}

impl Targets<'_> {
    fn figure(&self, Figure(file, line, column): Figure) -> Option<f64> {
        let table = self.tables.iter().find(|t| t.file == file)?;
        let column = table.columns.iter().position(|c| *c == column)?;
        let (_, figures) = table.lines.iter().find(|(name, _)| name == line)?;
        figures.get(column).copied().filter(|f| f.is_finite())
    }

    /// The floor's figure in place of cftrag's; None if the table has no floor, or for another contender.
    fn floor(&self, Figure(file, line, column): Figure) -> Option<f64> {
        if line != "cftrag" {
            return None;
        }
        FLOORS.iter().find_map(|floor| self.figure(Figure(file, floor, column)))
    }

    fn ratio(&mut self, what: String, goal: Goal, above: Figure, below: Figure) {
        let value = self.figure(above).zip(self.figure(below)).map(|(a, b)| a / b);
        let in_place = |of, floor: Option<f64>| floor.or_else(|| self.figure(of).filter(|_| of.1 != "cftrag"));
        let floors = (self.floor(above), self.floor(below));
        let floor = match floors {
            (None, None) => None,
            (a, b) => in_place(above, a).zip(in_place(below, b)).map(|(a, b)| a / b),
        };
        self.lines.push(Line { what, goal, value, floor });
    }

    fn value(&mut self, what: &str, goal: Goal, figure: Figure, unit: f64) {
        let [value, floor] = [self.figure(figure), self.floor(figure)].map(|f| f.map(|f| f * unit));
        self.lines.push(Line { what: what.to_string(), goal, value, floor });
    }

    /// A maximum; its floor is the same work without cftrag, which shows the machine's own delays.
    fn longest(&mut self, what: &str, goal: Goal, of: Figure, without: Figure, unit: f64) {
        let [value, floor] = [of, without].map(|figure| self.figure(figure).map(|f| f * unit));
        self.lines.push(Line { what: what.to_string(), goal, value, floor });
    }

    fn lookups(&mut self) {
        for size in ["small", "medium", "large"] {
            let (rows, text) = (format!("one-uniform-{size}-rows"), format!("one-uniform-{size}-text"));
            let at = |line| Figure(&rows, line, "p50");
            let said = |line| Figure(&text, line, "p50");
            self.ratio(format!("one entity, {size}, rows / a name lookup"), Most(1.6), at("cftrag"), at(NOTHING));
            self.ratio(format!("one entity, {size}, text / a name lookup"), Most(1.25), said("cftrag"), said(NOTHING));
            if size != "small" {
                for (peer, goal) in [("CTE, covering", 2.5), ("closure table", 1.0), ("flat table", 1.0)] {
                    self.ratio(
                        format!("one entity, {size}, rows: {peer} / cftrag"),
                        Least(goal),
                        at(peer),
                        at("cftrag"),
                    );
                }
            }
        }
        let (rows, text) = ("hundred-uniform-medium-rows", "hundred-uniform-medium-text");
        for (column, when) in [("p50", ""), (FIRST, ", first of a turn")] {
            for (file, peer, goal) in
                [(rows, "CTE, covering", 10.0), (rows, "closure table", 4.0), (text, "CTE, covering", 25.0)]
            {
                let what = if file == rows { "rows" } else { "text" };
                let at = |line| Figure(file, line, column);
                let what = format!("100 entities, medium, {what}{when}: {peer} / cftrag");
                self.ratio(what, Least(goal), at(peer), at("cftrag"));
            }
        }
        for column in ["p50", "mean"] {
            for (what, peer, goal) in [
                ("rows", "CTE, covering", 5.0),
                ("rows", "closure table", 1.0),
                ("text", "CTE, covering", 20.0),
                ("text", "closure table", 4.0),
            ] {
                let file = format!("one-Zipf-large-{what}");
                let at = |line| Figure(&file, line, column);
                self.ratio(
                    format!("Zipf, large, {what}, {column}: {peer} / cftrag"),
                    Least(goal),
                    at(peer),
                    at("cftrag"),
                );
            }
        }
        for (column, when) in [("median of 5", ""), (FIRST, ", first of a turn")] {
            let at = |line| Figure("lateral-medium", line, column);
            let what = format!("LATERAL, medium{when}, backend CPU a call / constant rows in C");
            self.ratio(what, Most(1.6), at("cftrag"), at("constant rows in C"));
        }
    }

    fn recognition(&mut self) {
        for (size, names) in [("10k", "10k"), ("doid", "12k real"), ("medium", "100k"), ("large", "1M")] {
            let file = format!("recognise-{size}");
            let at = |line| Figure(&file, line, "p50");
            for (peer, goal) in
                [("windows = ANY, btree", 60.0), ("dict in Python", 15.0), ("ILIKE", 1000.0), ("pg_trgm", 1000.0)]
            {
                self.ratio(format!("recognition, {names} names: {peer} / cftrag"), Least(goal), at(peer), at("cftrag"));
            }
        }
        let at = |file| Figure(file, "cftrag", "backend CPU");
        self.ratio(
            "recognition, backend CPU, 1M names / 10k names".into(),
            Most(2.0),
            at("recognise-large"),
            at("recognise-10k"),
        );
        self.value("recognition, backend CPU, 1M names, microseconds", Most(25.0), at("recognise-large"), 1.0);
    }

    fn keeping(&mut self) {
        let of = |line, column| Figure("build-large", line, column);
        self.ratio(
            "memory, large / the covering CTE's two indexes".into(),
            Most(0.5),
            of("cftrag", "MB"),
            of("its two indexes alone", "MB"),
        );
        self.ratio("build, large / two btrees".into(), Most(1.0), of("cftrag", "seconds"), of("two btrees", "seconds"));
        self.value("build, huge, seconds", Most(60.0), Figure("build-huge", "cftrag", "seconds"), 1.0);
        let bulk = |line| Figure("insert-bulk", line, "median");
        self.ratio(
            "INSERT of 100,000 rows: trigger and two btrees / two btrees".into(),
            Most(1.3),
            bulk("cftrag"),
            bulk("two btrees"),
        );
        self.ratio(
            "INSERT of 100,000 rows: trigger alone / two btrees".into(),
            Most(1.3),
            bulk("cftrag, no index"),
            bulk("two btrees"),
        );
        for (file, how) in [("insert-durable", "committed"), ("insert-single", "committed, fsync off")] {
            let single = |line| Figure(file, line, "p50");
            self.ratio(
                format!("INSERT of one row, {how}: trigger and two btrees / two btrees"),
                Most(1.05),
                single("cftrag"),
                single("two btrees"),
            );
        }
        for (size, entities) in [("large", "1M"), ("huge", "10M")] {
            let file = format!("one-uniform-{size}-rows");
            self.ratio(
                format!("one entity, p50, {entities} entities / 3k"),
                Most(2.0),
                Figure(&file, "cftrag", "p50"),
                Figure("one-uniform-small-rows", "cftrag", "p50"),
            );
        }
        let growth = |line| Figure("insert-growth", line, "longest");
        let what = "longest single insert while the image grows, ms";
        self.longest(what, Most(5.0), growth("cftrag"), growth("no index"), 0.001);
        let copy = |line| Figure("beside-copy", line, "longest call, ms");
        let other = copy("beside COPY into another, without cftrag");
        self.longest("longest call beside a COPY of 1M rows, ms", Most(5.0), copy("beside COPY into it"), other, 1.0);
        let calls = |line| Figure("beside-writer", line, "calls a second");
        self.ratio(
            "two readers beside a writer / alone".into(),
            Least(0.9),
            calls("beside a writer of their table"),
            calls("readers alone"),
        );
        self.ratio(
            "two readers beside a writer of their table / of another table".into(),
            Least(0.9),
            calls("beside a writer of their table"),
            calls("beside a writer of another table, without cftrag"),
        );
    }
}

/// A table of all aims whose figures were measured.
pub fn markdown(tables: &[Table]) -> String {
    let mut targets = Targets { tables, lines: Vec::new() };
    targets.lookups();
    targets.recognition();
    targets.keeping();
    let mut out =
        format!("## Aims\n\n{FLOOR_TOLD}\n\n| what | aim | measured | floor | |\n| --- | --- | --- | --- | --- |\n");
    for Line { what, goal, value, floor } in &targets.lines {
        let Some(value) = *value else { continue };
        let aim = match goal {
            Most(most) => format!("<= {most}"),
            Least(least) => format!(">= {least}"),
        };
        let told = match (goal.is_met(value), floor.is_none_or(|floor| goal.is_met(floor))) {
            (true, _) => "met",
            (false, true) => "not met",
            (false, false) => "not met, nor by the floor",
        };
        let floor = floor.map_or_else(String::new, round);
        let _ = writeln!(out, "| {what} | {aim} | {} | {floor} | {told} |", round(value));
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(file: &str, lines: &[(&str, f64)]) -> Table {
        Table {
            title: String::new(),
            file: file.into(),
            unit: "",
            columns: vec!["p50"],
            lines: lines.iter().map(|(name, figure)| ((*name).to_string(), vec![*figure])).collect(),
            note: String::new(),
        }
    }

    #[test]
    fn a_ratio_is_judged_and_what_was_not_measured_is_left_out() {
        let told = markdown(&[
            table("one-uniform-small-rows", &[("cftrag", 30.0), (NOTHING, 20.0)]),
            table("one-uniform-small-text", &[("cftrag", 30.0), (NOTHING, 20.0)]),
            table("recognise-10k", &[("cftrag", 10.0), ("dict in Python", 150.0)]),
        ]);
        assert!(told.contains("one entity, small, rows / a name lookup | <= 1.6 | 1.50 | 1.00 | met"), "{told}");
        assert!(told.contains("one entity, small, text / a name lookup | <= 1.25 | 1.50 | 1.00 | not met |"), "{told}");
        assert!(told.contains("dict in Python / cftrag | >= 15 | 15.0 |  | met"), "{told}");
        assert_eq!(told.matches("met |").count(), 3);
    }

    #[test]
    fn an_aim_that_the_floor_misses_is_marked() {
        let told = markdown(&[
            table("hundred-uniform-medium-rows", &[(floor::NAME, 20.0), ("cftrag", 25.0), ("CTE, covering", 100.0)]),
            table("hundred-uniform-medium-text", &[(floor::NAME, 2.0), ("cftrag", 25.0), ("CTE, covering", 100.0)]),
            table("one-uniform-medium-rows", &[(NOTHING, 10.0), (floor::NAME, 17.0), ("cftrag", 20.0)]),
            table("recognise-10k", &[("cftrag", 10.0), (recognise::ALONE, 5.0), ("dict in Python", 50.0)]),
        ]);
        let nor = "not met, nor by the floor";
        assert!(told.contains(&format!("rows: CTE, covering / cftrag | >= 10 | 4.00 | 5.00 | {nor} |")), "{told}");
        assert!(told.contains("text: CTE, covering / cftrag | >= 25 | 4.00 | 50.0 | not met |"), "{told}");
        assert!(told.contains(&format!("rows / a name lookup | <= 1.6 | 2.00 | 1.70 | {nor} |")), "{told}");
        assert!(told.contains(&format!("dict in Python / cftrag | >= 15 | 5.00 | 10.0 | {nor} |")), "{told}");
    }
}
