//! The published spaces have exactly their published sizes and groups.

use crate::common;

use std::collections::BTreeSet;

#[test]
fn every_published_space_has_its_size_and_groups() {
    let mut built = 0;
    for name in common::names() {
        let (space, meta) = (common::space(&name), common::meta(&name));
        assert_eq!(space.size().to_string(), common::true_size(&name), "{name}");
        if let Some(groups) = meta["group_members"].as_array() {
            let expected = groups.iter().map(|group| {
                group.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_string()).collect::<BTreeSet<_>>()
            });
            let named = |group: Vec<usize>| {
                group.into_iter().map(|index| space.parameters()[index].name().to_string()).collect::<BTreeSet<_>>()
            };
            let found: BTreeSet<_> = space.groups().into_iter().map(named).collect();
            assert_eq!(found, expected.collect::<BTreeSet<_>>(), "{name}");
        }
        built += 1;
    }
    if common::shared().is_some() {
        assert!(built >= 46, "only {built} spaces were built");
    }
}

#[test]
fn ranks_of_published_spaces_are_ranks_of_their_configurations() {
    use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
    for name in ["hub_gemm", "atf_ccsdt", "atf_gemm_10x500x64"].iter().filter(|_| common::shared().is_some()) {
        let space = common::space(name);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..200 {
            let id = space.sample(&mut rng);
            let configuration = space.unrank(id);
            assert_eq!(space.rank(&configuration), Some(id), "{name}");
            assert!(space.violated(&configuration).is_empty(), "{name}");
            for neighbour in space.hamming_neighbours(id) {
                let neighbour = space.unrank(neighbour);
                let pairs = configuration.indices().iter().zip(neighbour.indices());
                assert_eq!(pairs.filter(|(a, b)| a != b).count(), 1, "{name}");
            }
        }
    }
}

/// Returns the space of a T1 document with parameters and constraints in the opposite order.
fn reversed(name: &str) -> tunesmith_space::Space {
    let mut document = common::document(name);
    let space = &mut document["ConfigurationSpace"];
    for list in ["TuningParameters", "Conditions"] {
        space[list].as_array_mut().into_iter().for_each(|list| list.reverse());
    }
    common::from_t1(&document).build().unwrap()
}

#[test]
fn diagrams_do_not_depend_on_the_order_of_declaration() {
    let names = ["hub_gemm", "hub_hotspot", "hub_convolution", "atf_conv_4092_devlimit", "atf_ccsdt", "synth_tile_4d"];
    for name in names.iter().filter(|_| common::shared().is_some()) {
        let (space, reversed) = (common::space(name), reversed(name));
        assert_eq!(space.size(), reversed.size(), "{name}");
        assert_eq!((space.nodes(), space.arcs()), (reversed.nodes(), reversed.arcs()), "{name}");
    }
}
