//! The published spaces have exactly their published sizes.

mod common;

#[test]
fn every_published_space_has_its_size() {
    for name in common::names() {
        if name.contains("devlimit") || name.starts_with("synth_") {
            continue;
        }
        let t = std::time::SystemTime::now();
        let space = common::space(&name);
        println!("{name} {} {} {:?}", space.nodes(), space.arcs(), t.elapsed());
        assert_eq!(space.size().to_string(), common::meta(&name)["true_size"].to_string(), "{name}");
    }
}
