//! The report: one Markdown file, and a bar chart for each table.

use std::fmt::Write as _;
use std::path::Path;

use plotters::prelude::*;

/// One table: its title, the contenders with their figures, and a note.
pub struct Table {
    pub title: String,
    pub file: String,
    pub unit: &'static str,
    pub columns: Vec<&'static str>,
    /// Each contender with its figures; ratios compare the first figure.
    pub lines: Vec<(String, Vec<f64>)>,
    pub note: String,
}

impl Table {
    fn markdown(&self) -> String {
        let mut out = format!("### {}\n\n| | {} | ratio to cftrag |\n| --- |", self.title, self.columns.join(" | "));
        out += &" --- |".repeat(self.columns.len() + 1);
        out.push('\n');
        let ours = self.lines.iter().find(|(name, _)| name.starts_with("cftrag")).and_then(|(_, f)| f.first()).copied();
        for (name, figures) in &self.lines {
            let _ = write!(out, "| {name} |");
            for figure in figures {
                let _ = write!(out, " {} |", round(*figure));
            }
            let ratio = ours
                .zip(figures.first().filter(|f| f.is_finite()))
                .map_or(String::new(), |(ours, theirs)| format!("{:.2}", theirs / ours));
            let _ = writeln!(out, " {ratio} |");
        }
        if !self.note.is_empty() {
            let _ = writeln!(out, "\n{}", self.note);
        }
        out + "\n"
    }

    fn plot(&self, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
        let bars: Vec<(&str, f64)> = self
            .lines
            .iter()
            .filter_map(|(name, f)| Some((name.as_str(), *f.first()?)))
            .filter(|(_, v)| *v > 0.0)
            .collect();
        let most = bars.iter().map(|(_, v)| *v).fold(f64::MIN_POSITIVE, f64::max);
        let height = 70 + 30 * bars.len() as u32;
        let area = SVGBackend::new(path, (900, height)).into_drawing_area();
        area.fill(&WHITE)?;
        let font = ("sans-serif", 15).into_font();
        area.draw(&Text::new(
            format!("{} ({}, linear)", self.title, self.unit),
            (10, 12),
            ("sans-serif", 17).into_font(),
        ))?;
        for (i, (name, value)) in bars.iter().enumerate() {
            let y = 45 + 30 * i as i32;
            let end = 220 + (value / most * 560.0) as i32;
            let colour = if name.starts_with("cftrag") { RGBColor(31, 119, 180) } else { RGBColor(180, 180, 180) };
            area.draw(&Text::new((*name).to_string(), (10, y + 2), font.clone()))?;
            area.draw(&Rectangle::new([(220, y), (end.max(221), y + 18)], colour.filled()))?;
            area.draw(&Text::new(round(*value), (end + 6, y + 2), font.clone()))?;
        }
        area.present()?;
        Ok(())
    }
}

/// Rounds to about three significant digits.
pub fn round(x: f64) -> String {
    match x.abs() {
        _ if x.is_nan() => "-".into(),
        a if a >= 100.0 => format!("{x:.0}"),
        a if a >= 10.0 => format!("{x:.1}"),
        _ => format!("{x:.2}"),
    }
}

/// Writes <dir>/<name>.md and a plot for each table beside it.
pub fn write(dir: &Path, name: &str, head: &str, tables: &[Table]) -> Result<(), Box<dyn std::error::Error>> {
    std::fs::create_dir_all(dir)?;
    let mut out = head.to_string();
    for table in tables {
        out += &table.markdown();
        let plot = format!("{name}-{}.svg", table.file);
        table.plot(&dir.join(&plot))?;
        let _ = writeln!(out, "![{}]({plot})\n", table.title);
    }
    std::fs::write(dir.join(format!("{name}.md")), out)?;
    Ok(())
}
