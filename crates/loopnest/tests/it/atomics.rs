//! Atomic updates: their form, the transformations that they permit, their code and their counts.

use crate::named;
use crate::program;

use named::{evaluated, tallied};
use program::{Sample, compare, compare_with};
use tunesmith_loopnest::{Data, Dialect, LaneOrder, Lanes, Nest, Schedule, Value, codegen, count, interpret};

/// A nest with these lines.
fn nest(lines: &str) -> Result<Nest, String> {
    let text = format!(
        "sizes n, m\nassume n > 0, m > 0\narray bins[n]: i32\narray h[m + 4*n]: i32\narray f[m + 4*n]: f32\n\
         array d[m + n]: f64\narray l[m + n]: i64\narray a[n]: f32\narray b[n]: u8\narray w[n]: i32\n\
         temporary t: f32\n{{[i]: 0 <= i < n}}\nlookup bin = bins[i]\n{lines}"
    );
    text.parse::<Nest>().map_err(|error| {
        let place = error.place.map_or(String::new(), |place| format!("{place}: "));
        format!("{place}{}", error.message)
    })
}

const GROUPS: &str = "split i 16 -> io, ii\ntag io group.0\ntag ii local.0";

/// Counts of each bin, in memory of the work-group first.
const IN_LOCAL: &str = "
    sizes n
    assume n > 0
    array bins[n]: i32
    array h[16]: i32
    local own[16]: i32
    {[g]: 0 <= g and 64*g < n}
    {[z]: 0 <= z < 16}
    {[l, k]: 0 <= l < 16 and 0 <= k < 4 and 64*g + 16*k + l < n}
    {[y]: 0 <= y < 16}
    lookup bin = bins[64*g + 16*k + l]
    own[z] = 0                        @ g, z
    atomic own[bin] = own[bin] + 1    @ g, l, k
    atomic h[y] = h[y] + own[y]       @ g, y
    tag g group.0
    tag z local.0
    tag l local.0
    tag y local.0";

#[test]
fn an_update_is_read_as_it_is_written() {
    for line in [
        "atomic h[bin] = h[bin] + 1 @ i",
        "atomic h[bin] = w[i]*3 + h[bin] @ i",
        "atomic f[0] = max(f[0], a[i]) @ i",
        "atomic d[i] = min(a[i] + 0.5, d[i]) @ i",
    ] {
        let text = nest(line).unwrap_or_else(|error| panic!("{line}: {error}")).to_string();
        assert!(text.contains(line), "{line}\n{text}");
        assert_eq!(text.parse::<Nest>().unwrap().to_string(), text);
    }
    // The word is a name everywhere else.
    let named = "array atomic[1]: f32\natomic[0] = atomic[0] + 1.0".parse::<Nest>().unwrap();
    assert!(!named.instructions[0].is_atomic);
}

#[test]
fn what_no_device_updates_at_once_is_refused_with_its_place() {
    for (line, message) in [
        ("atomic h[bin] = 1", "an atomic instruction updates `h` by a sum, `min` or `max`"),
        ("atomic h[bin] = h[bin]*2", "an atomic instruction updates `h` by a sum, `min` or `max`"),
        ("atomic h[bin] = h[bin] - 1", "an atomic instruction updates `h` by a sum, `min` or `max`"),
        ("atomic h[bin] = h[0] + 1", "an atomic instruction updates `h` by a sum, `min` or `max`"),
        ("atomic h[bin] = h[bin] + h[0]", "the atomic update also reads other cells of `h`"),
        ("atomic t = t + a[i]", "`t` belongs to one work-item, so nothing interrupts its updates"),
        ("atomic b[i] = b[i] + 1", "devices have no atomic updates of `u8`"),
        ("atomic h[bin] = h[bin] + a[i]", "the update of `h` would be computed in f32, not i32"),
        ("atomic f[bin] = f[bin] + d[i]", "the update of `f` would be computed in f64, not f32"),
    ] {
        assert_eq!(nest(line).expect_err(line), format!("line 14, column 1: {message}"));
    }
}

#[test]
fn atomic_updates_of_one_cell_run_side_by_side_and_others_do_not() {
    let accepted = |lines: &str| {
        let scheduled = Schedule::new(&nest(lines)?).map_err(|error| error.message);
        scheduled.map(|_| ())
    };
    let sum = "f[0] = f[0] + a[i]";
    for tags in [GROUPS, "tag i parallel", "split i 8 -> io, ii\ntag ii local.0", "split i 8 -> io, ii\ntag io group.0"]
    {
        for update in [sum, "h[bin] = h[bin] + 1", "h[bin] = max(w[i], h[bin])"] {
            assert_eq!(accepted(&format!("atomic {update} @ i\n{tags}")), Ok(()), "{update}\n{tags}");
            let refused = accepted(&format!("{update} @ i\n{tags}")).unwrap_err();
            assert!(refused.contains("may touch the same cell"), "{refused}");
        }
    }
    let refused = [
        // Vectors do not see each other's updates.
        format!("atomic {sum}\nsplit i 4 -> io, ii\ntag ii vector"),
        // Another operation, a load and a store do not commute with a sum.
        format!("atomic {sum}\natomic f[0] = max(f[0], a[i])\n{GROUPS}"),
        format!("atomic {sum}\nd[i] = f[0]\n{GROUPS}"),
        format!("f[0] = 0.0 @ i\natomic {sum}\n{GROUPS}"),
        // Every work-item and every work-group would repeat the update.
        format!("atomic f[0] = f[0] + 1.0 @\na[i] = 0.5\n{GROUPS}"),
        "atomic f[0] = f[0] + 1.0 @\na[i] = 0.5\nsplit i 8 -> io, ii\ntag io group.0".to_string(),
        "atomic f[0] = f[0] + 1.0 @\na[i] = 0.5\nsplit i 8 -> io, ii\ntag ii local.0".to_string(),
    ];
    for lines in refused {
        assert!(accepted(&lines).is_err(), "{lines}");
    }
}

/// Returns a kernel whose looked-up bins are below `bins`.
fn sample(nest: &Nest, sizes: &[i64], bins: i64) -> Sample {
    let mut data = Data::filled(nest, sizes, 3).unwrap();
    let place = nest.arrays.iter().position(|array| array.name == "bins").unwrap();
    for (cell, number) in data.cells[place].iter_mut().zip(0..) {
        *cell = Value::Integer(number * 7919 % bins);
    }
    Sample { nest: nest.clone(), sizes: sizes.to_vec(), data }
}

fn samples() -> Vec<Sample> {
    let updates = [
        "h[bin] = h[bin] + 1",
        "h[bin] = h[bin] + w[i]*b[i]",
        "h[0] = min(h[0], w[i] - 50)",
        "f[bin] = f[bin] + 0.5*a[i]",
        "f[3*i + 1] = max(a[i] + 0.25, f[3*i + 1])",
        "f[0] = min(f[0], a[i])",
        "d[bin] = d[bin] + a[i]",
        "d[1] = max(d[1], a[i])",
        "l[bin] = l[bin] + w[i]",
        "l[0] = max(l[0], w[i])",
    ];
    let mut all = Vec::new();
    for (tags, update) in ["", GROUPS].into_iter().flat_map(|tags| updates.map(|update| (tags, update))) {
        let nest = nest(&format!("atomic {update} @ i\n{tags}")).unwrap();
        all.extend([1, 16, 100].map(|n| sample(&nest, &[n, 7], 7)));
    }
    let nest = IN_LOCAL.parse().unwrap();
    all.extend([1, 64, 1000].map(|n| sample(&nest, &[n], 16)));
    all
}

#[test]
fn updates_are_in_c_what_the_interpreter_says_in_one_thread_and_in_several() {
    let all = samples();
    compare(&all);
    compare_with(&["-fopenmp", "-O2"], str::to_string, &all);
}

#[test]
fn updates_count_as_the_interpreter_counts_them() {
    for Sample { nest, sizes, data } in samples() {
        let counts = count::count(&nest).unwrap_or_else(|error| panic!("{error}\n{nest}"));
        for order in [LaneOrder::Ascending, LaneOrder::Descending] {
            let tally = interpret::run(&nest, &sizes, &mut data.clone(), order).unwrap();
            assert_eq!(evaluated(&counts, &sizes), tallied(&nest, &tally), "{sizes:?}\n{nest}");
        }
    }
}

#[test]
fn the_distance_of_lanes_tells_how_updates_meet() {
    let counted = |nest: &Nest, lanes: Option<Lanes>| {
        let counts = lanes.map_or_else(|| count::count(nest), |lanes| count::count_lanes(nest, lanes)).unwrap();
        let values = counts.evaluate(&[100, 7]).unwrap();
        let all = counts.properties().iter().map(ToString::to_string).zip(values);
        all.filter(|(name, count)| name.contains(":i32:") && name.starts_with("atomic") && *count > 0)
            .collect::<Vec<_>>()
    };
    let of = |line: &str, lanes| counted(&nest(&format!("atomic {line} @ i\n{GROUPS}")).unwrap(), lanes);
    for (line, name) in [
        ("h[0] = h[0] + 1", "atomic:i32:add:g:s0"),
        ("h[i] = h[i] + 1", "atomic:i32:add:g:s1"),
        ("h[n - i] = h[n - i] + 1", "atomic:i32:add:g:s1"),
        ("h[4*i] = max(h[4*i], 1)", "atomic:i32:max:g:4/>4"),
        ("h[bin] = min(h[bin], 1)", "atomic:i32:min:g:data"),
    ] {
        assert_eq!(of(line, None), [(name.to_string(), 100)]);
        // The last of 4 sub-groups of 32 has 4 work-items; rows of 16 have vectors of 8.
        assert_eq!(of(line, Some(Lanes::InRows(8))), [(name.to_string(), 104)], "{line}");
        assert_eq!(of(line, Some(Lanes::Numbered(16))), [(name.to_string(), 112)], "{line}");
    }
    let local: Nest = IN_LOCAL.parse().unwrap();
    let counts = count::count(&local).unwrap();
    let names: Vec<String> = counts.properties().iter().map(ToString::to_string).collect();
    for name in ["atomic:i32:add:l:data", "atomic:i32:add:g:s1", "l:32:load"] {
        assert!(names.iter().any(|own| own == name), "{names:?}");
    }
}

#[test]
fn nothing_waits_for_an_update_and_no_work_is_certain() {
    let nest =
        nest(&format!("atomic f[0] = f[0] + a[i]*0.5 @ i\n{GROUPS}").replace("lookup bin = bins[i]", "")).unwrap();
    let mut unlooked = nest;
    unlooked.lookups.clear();
    let chain = count::count_chain(&unlooked).unwrap().evaluate(&[100, 7]).unwrap();
    assert_eq!(chain, [1]);
    let least = count::count_least(&unlooked).unwrap().at(&[100, 7]).unwrap();
    assert!(least.iter().all(|(operation, ..)| operation.to_string() == "mul"), "{least:?}");
}

#[test]
fn each_language_has_its_updates() {
    let lines = "atomic h[bin] = h[bin] + 1 @ i\natomic l[i] = max(l[i], w[i]) @ i\natomic f[bin] = f[bin] + a[i] @ i\n\
                 atomic d[0] = min(d[0], a[i]) @ i";
    let groups = nest(&format!("{lines}\n{GROUPS}")).unwrap();
    for (name, nest) in [("groups", groups), ("local", IN_LOCAL.parse().unwrap())] {
        for dialect in [Dialect::OpenCl, Dialect::Cuda, Dialect::C] {
            let text = codegen::source(&nest, dialect).unwrap().text;
            insta::assert_snapshot!(format!("atomic_{name}_{dialect:?}"), text);
        }
    }
}
