//! Measures how many of the relations that a human reader finds in sentences are found by the rules, and how many of
//! the rules' relations are right. tests/extract/sentences.txt has the sentences; its labels were written before the
//! rules.

use cftrag_core::Interruptible;
use cftrag_methods::extract;

/// A sentence and its relations.
type Labelled = (String, Vec<(String, String)>);

fn labelled(text: &str) -> Vec<Labelled> {
    let mut all: Vec<Labelled> = Vec::new();
    for line in text.lines() {
        if let Some(relation) = line.strip_prefix("> ") {
            let (parent, child) = relation.split_once(" | ").expect("parent | child");
            all.last_mut().expect("a sentence before").1.push((parent.into(), child.into()));
        } else if !line.starts_with('#') && !line.is_empty() {
            all.push((line.into(), Vec::new()));
        }
    }
    all
}

fn extracted(text: &str, check_interrupts: &mut dyn FnMut()) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let Ok(()) = extract(text, false, &mut Interruptible::new(check_interrupts), |r| {
        found.push((r.parent, r.child));
        Ok::<(), std::convert::Infallible>(())
    });
    found
}

/// Prints wrong and missed relations; returns the number of sentences, and precision and recall in thousandths.
fn measure(name: &str, text: &str) -> (usize, usize, usize) {
    let (mut right, mut wrong, mut missed, mut exact) = (0, 0, 0, 0);
    let labelled = labelled(text);
    for (sentence, wanted) in &labelled {
        let found = extracted(sentence, &mut || ());
        let hits = found.iter().filter(|relation| wanted.contains(relation)).count();
        let (false_here, missed_here) = (found.len() - hits, wanted.len() - hits);
        for (what, these, others) in [("wrong", &found, wanted), ("missed", wanted, &found)] {
            for (parent, child) in these.iter().filter(|relation| !others.contains(relation)) {
                println!("{what}: {parent} > {child}   ({sentence})");
            }
        }
        (right, wrong, missed) = (right + hits, wrong + false_here, missed + missed_here);
        exact += usize::from(false_here + missed_here == 0);
    }
    let (precision, recall) = (1000 * right / (right + wrong), 1000 * right / (right + missed));
    println!(
        "{name}: {} sentences, {exact} all right; {right} relations right, {wrong} wrong, \
         {missed} missed: precision 0.{precision:03}, recall 0.{recall:03}",
        labelled.len()
    );
    (labelled.len(), precision, recall)
}

#[test]
fn precision_and_recall_on_sentences_labelled_before_the_rules() {
    let (sentences, precision, recall) =
        measure("sentences.txt", include_str!("../../../tests/extract/sentences.txt"));
    assert!(sentences >= 100 && precision >= 950 && recall >= 850);
}

#[test]
fn precision_and_recall_on_sentences_that_the_rules_were_not_made_with() {
    let (sentences, precision, recall) =
        measure("held_out.txt", include_str!("../../../tests/extract/held_out.txt"));
    assert!(sentences >= 40 && precision >= 900 && recall >= 900);
}

#[test]
fn a_text_without_an_end_can_be_stopped_and_the_first_error_ends_it() {
    let mut checks = 0;
    let text = "The heart contains valves and ".repeat(100_000);
    assert!(extracted(&text, &mut || checks += 1).is_empty());
    assert!(checks > 10, "{checks} checks");
    let (text, mut taken) = ("The heart contains valves. ".repeat(10), 0);
    let ended = extract(&text, false, &mut Interruptible::new(&mut || ()), |_| {
        taken += 1;
        if taken < 3 { Ok(()) } else { Err("enough") }
    });
    assert_eq!((ended, taken), (Err("enough"), 3));
}
