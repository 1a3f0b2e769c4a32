//! Draws known pictures, and random forests with several parents and cycles against what any picture must have.

use super::drawing::Format;
use super::picture::{Node, Picture};
use cftrag_core::Interruptible;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

fn node<'a>(
    id: &'a str,
    label: Option<&'a str>,
    height: Option<u32>,
    children: &[usize],
) -> Node<'a> {
    let label = label.map(str::as_bytes);
    Node {
        tree: 0,
        id: id.as_bytes(),
        label,
        height,
        children: children.to_vec(),
        more: 0,
        more_above: 0,
    }
}

fn picture(nodes: Vec<Node<'_>>) -> Picture<'_> {
    Picture { entity: nodes[0].id, trees: vec![None], nodes, more_trees: 0 }
}

fn drawn(picture: &Picture<'_>, format: Format) -> String {
    let mut out = Vec::new();
    let mut add = |bytes: &[u8]| -> Result<(), ()> {
        out.extend_from_slice(bytes);
        Ok(())
    };
    picture.write(format, true, &mut Interruptible::new(&mut || {}), &mut add).unwrap();
    String::from_utf8(out).unwrap()
}

/// Shoes with two above and three below, one of which is below another one as well.
fn shoes<'a>() -> Picture<'a> {
    picture(vec![
        node("3", Some("Shoes"), Some(0), &[4, 3]),
        node("2", Some("Clothes"), Some(1), &[0]),
        node("1", Some("All"), Some(2), &[1]),
        node("5", Some("Boots"), None, &[5]),
        node("4", Some("Trail"), None, &[5]),
        node("6", Some("Laces"), None, &[]),
    ])
}

#[test]
fn a_text_has_a_line_for_each_way_and_says_what_stands_above() {
    let lines = [
        "All",
        "└── Clothes",
        "    └── Shoes (here)",
        "        ├── Trail",
        "        │   └── Laces",
        "        └── Boots",
    ];
    let text = drawn(&shoes(), Format::Text);
    assert_eq!(text, format!("{}\n            └── Laces (above)", lines.join("\n")));
}

#[test]
fn what_is_left_out_is_said_in_each_format() {
    let mut cut = shoes();
    cut.fit(4, &mut Interruptible::new(&mut || {}));
    let text = drawn(&cut, Format::Text);
    let lines = [
        "All",
        "└── Clothes",
        "    └── Shoes (here)",
        "        ├── Boots (1 more)",
        "        └── ... and 1 more",
    ];
    assert_eq!(text, lines.join("\n"));
    assert!(drawn(&cut, Format::Mermaid).contains("n3[\"Shoes<br/>... and 1 more\"]:::here"));
    assert!(
        drawn(&cut, Format::Dot).contains("\"3\" [label=\"Shoes\\n... and 1 more\", style=bold];")
    );
    let json: Value = serde_json::from_str(&drawn(&cut, Format::Json)).unwrap();
    let here = &json["trees"][0]["tops"][0]["children"][0]["children"][0];
    assert_eq!((&here["more"], &here["children"][0]["more"]), (&Value::from(1), &Value::from(1)));
    let mut below = picture(vec![
        node("a", None, Some(0), &[]),
        node("b", None, Some(1), &[0]),
        node("c", None, Some(1), &[0]),
    ]);
    below.fit(2, &mut Interruptible::new(&mut || {}));
    assert_eq!(drawn(&below, Format::Text), "b\n└── a (here) (1 more above)");
}

#[test]
fn entities_that_are_called_alike_have_their_ids_behind() {
    let alike = picture(vec![
        node("1", Some("X"), Some(0), &[1, 2]),
        node("2", Some("X"), None, &[]),
        node("3", Some("X (2)"), None, &[]),
    ]);
    assert_eq!(drawn(&alike, Format::Text), "X (1) (here)\n├── X (2)\n└── X (2) (3)");
    assert!(
        drawn(&alike, Format::Json).contains(r#"{"entity": "2", "label": "X", "children": []}"#)
    );
}

#[test]
fn a_cycle_ends_where_it_comes_back() {
    let cycle = picture(vec![node("a", None, Some(0), &[1]), node("b", None, Some(1), &[0])]);
    assert_eq!(drawn(&cycle, Format::Text), "b\n└── a (here)\n    └── b (above)");
    assert_eq!(drawn(&cycle, Format::Dot).matches("->").count(), 2);
}

#[test]
fn trees_stand_one_after_the_other_and_an_entity_once_in_a_graph() {
    let mut two = picture(vec![
        node("a", None, Some(0), &[]),
        Node { tree: 1, ..node("a", None, Some(0), &[]) },
        node("b", None, Some(1), &[0]),
        Node { tree: 1, ..node("b", None, Some(1), &[1]) },
    ]);
    two.trees = vec![None, Some(b"t\"1")];
    two.more_trees = 2;
    let text = "In the tree without a name:\nb\n└── a (here)\nIn the tree t\"1:\nb\n└── a (here)\n... and 2 more trees";
    assert_eq!(drawn(&two, Format::Text), text);
    let dot = drawn(&two, Format::Dot);
    assert_eq!(
        dot.matches("[label=\"a\"").count() + dot.matches("[label=\"b\"").count(),
        2,
        "{dot}"
    );
    assert!(dot.contains("\"b\" -> \"a\";\n    \"b\" -> \"a\" [label=\"t\\\"1\"];"), "{dot}");
    let json: Value = serde_json::from_str(&drawn(&two, Format::Json)).unwrap();
    assert_eq!((&json["trees"][1]["tree"], &json["more"]), (&Value::from("t\"1"), &Value::from(2)));
}

#[test]
fn names_are_escaped_for_each_format() {
    let odd = "a\"b\\c\n<d>&`1. #é\u{1}\u{202e}";
    let of = picture(vec![node(odd, None, Some(0), &[])]);
    assert_eq!(drawn(&of, Format::Text), "a\"b\\c\\n<d>&`1. #é\\x01\\u202e (here)");
    let dot = r#""a\"b\\c\n<d>&`1. #é\\x01\\u202e" [label="a\"b\\c\n<d>&amp;`1. #é\\x01\\u202e""#;
    assert!(drawn(&of, Format::Dot).contains(dot), "{}", drawn(&of, Format::Dot));
    let mermaid = "[\"a#34;b#92;c<br/>#60;d#62;#38;#96;1#46; #35;é#92;x01#92;u202e\"]:::here";
    assert!(drawn(&of, Format::Mermaid).contains(mermaid), "{}", drawn(&of, Format::Mermaid));
    assert!(
        drawn(&of, Format::Mermaid)
            .contains("\n    na_22b_5cc_0a_3cd_3e_26_601_2e_20_23_c3_a9_01_e2_80_ae[")
    );
    let json: Value = serde_json::from_str(&drawn(&of, Format::Json)).unwrap();
    assert_eq!(json["entity"], odd);
}

/// Names that formats have words or signs for, all different.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("end".to_owned()),
        Just(String::new()),
        "[a-c1 ]{1,2}",
        "[\"\\\\<>&#\n\r\t\u{1}\u{7f}\u{85}\u{2028}é中(){}|;-]{0,6}",
        ".{0,8}"
    ]
}

prop_compose! {
    /// The surroundings of the first node, with edges in all directions; the others each have an edge to one before
    /// them.
    fn forests()(
        names in prop::collection::btree_set(name(), 1..12),
    )(
        labels in prop::collection::vec(prop::option::of(name()), names.len()),
        tied in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), names.len()),
        more in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..12),
        names in Just(names),
    ) -> (Vec<(String, Option<String>)>, BTreeSet<(usize, usize)>) {
        let tie = |(n, (to, is_up)): (usize, &(prop::sample::Index, bool))| {
            let to = to.index(n.max(1));
            (n > 0).then_some(if *is_up { (n, to) } else { (to, n) })
        };
        let mut edges: BTreeSet<(usize, usize)> = tied.iter().enumerate().filter_map(tie).collect();
        let n = names.len();
        edges.extend(more.iter().map(|(a, b)| (a.index(n), b.index(n))).filter(|(a, b)| a != b));
        (names.into_iter().zip(labels).collect(), edges)
    }
}

fn forest<'a>(
    names: &'a [(String, Option<String>)],
    edges: &BTreeSet<(usize, usize)>,
) -> Picture<'a> {
    // Those from which the first can be reached are above it.
    let mut heights = BTreeMap::from([(0, 0)]);
    for _ in names {
        for (parent, child) in edges {
            if let Some(height) = heights.get(child).map(|height| height + 1) {
                heights.entry(*parent).or_insert(height);
            }
        }
    }
    let nodes = names.iter().enumerate().map(|(n, (id, label))| {
        let children: Vec<usize> =
            edges.iter().filter(|edge| edge.0 == n).map(|edge| edge.1).collect();
        node(id, label.as_deref(), heights.get(&n).copied(), &children)
    });
    picture(nodes.collect())
}

/// The entities of JSON, with the edges between them; each has its children once.
fn entities(of: &Value, ids: &mut Vec<String>, edges: &mut Vec<(String, String)>) {
    let id = of["entity"].as_str().unwrap();
    if of.get("above").is_none() {
        ids.push(id.to_owned());
    }
    for child in of["children"].as_array().into_iter().flatten() {
        edges.push((id.to_owned(), child["entity"].as_str().unwrap().to_owned()));
        entities(child, ids, edges);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if std::env::var_os("CFTRAG_QUICK").is_some() { 100 } else { 2000 }))]

    #[test]
    fn each_entity_and_edge_is_drawn_once((names, edges) in forests()) {
        let of = forest(&names, &edges);
        let json: Value = serde_json::from_str(&drawn(&of, Format::Json)).unwrap();
        let (mut ids, mut shown) = (Vec::new(), Vec::new());
        json["trees"][0]["tops"].as_array().unwrap().iter().for_each(|top| entities(top, &mut ids, &mut shown));
        ids.sort();
        let mut all: Vec<String> = names.iter().map(|name| name.0.clone()).collect();
        all.sort();
        prop_assert_eq!(&ids, &all);
        shown.sort();
        let mut all: Vec<_> = edges.iter().map(|(a, b)| (names[*a].0.clone(), names[*b].0.clone())).collect();
        all.sort();
        prop_assert_eq!(&shown, &all);
        // Escaped names have no such signs.
        let of_dot = (Format::Dot, "\" [label=\"", "\" -> \"", 3);
        for (format, entity, edge, around) in [of_dot, (Format::Mermaid, "[\"", " --> ", 2)] {
            let drawn = drawn(&of, format);
            prop_assert_eq!(drawn.matches(entity).count(), names.len(), "{}", drawn);
            prop_assert_eq!(drawn.matches(edge).count(), edges.len(), "{}", drawn);
            prop_assert_eq!(drawn.lines().count(), names.len() + edges.len() + around, "{}", drawn);
        }
    }

    #[test]
    fn a_text_has_as_many_lines_as_it_may((names, edges) in forests(), most in 1_usize..15) {
        let mut of = forest(&names, &edges);
        of.fit(most, &mut Interruptible::new(&mut || {}));
        let text = drawn(&of, Format::Text);
        // split, since names have other characters that end a line.
        let is_entity = |line: &&str| !line.contains("── ... and ");
        prop_assert!(text.split('\n').filter(is_entity).count() <= most, "{}", text);
        prop_assert_eq!(text.matches(" (here)").count().min(1), 1);
        let shown: usize = of.nodes.iter().map(|node| node.children.len()).sum();
        let more: usize = of.nodes.iter().map(|node| node.more + node.more_above).sum();
        prop_assert!(shown + more <= edges.len());
        prop_assert_eq!(of.nodes.len() == names.len(), shown + more == edges.len() && more == 0);
        serde_json::from_str::<Value>(&drawn(&of, Format::Json)).unwrap();
    }
}
