//! Compares tiles that are loaded one iteration ahead with tiles that are loaded when they are
//! needed.

use crate::order;
use crate::pipelined_tiles;
use crate::rewritten;

use order::order_of;
use pipelined_tiles::tiled;
use rewritten::check_rewritten;
use std::collections::BTreeMap;
use tunesmith_loopnest::{Nest, count};

#[test]
fn tiles_that_are_loaded_ahead_keep_every_result() {
    let (accepted, refused) = check_rewritten(250, tiled, 0..3, &[[1, 1], [5, 7], [4, 12]]);
    println!("{accepted} accepted, refused: {refused:#?}");
    assert!(accepted > 120, "{accepted} accepted, refused: {refused:#?}");
}

const PRODUCT: &str = include_str!("../../../../examples/nests/matmul.nest");

/// Returns the matrix product of the examples with further lines.
fn product(lines: &str) -> Nest {
    let text = format!("{PRODUCT}\n{lines}");
    text.parse::<Nest>().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn a_tile_is_stored_after_all_have_used_the_one_before() {
    let a = "pipeline a_tile over ko -> a_next\n";
    let both = product(&format!("{a}pipeline b_tile over ko -> b_next"));
    let instructions = both.to_string();
    let load = "a_next[a1o] = a[16*io + a0, 16*a1o + a1i + 16*a_next_ko] @ io, jo, ko, a_next_ko, a0, a1o, a1i\n";
    let store = "a_tile[a0, 16*a1o + a1i] = a_next[a1o] @ io, jo, ko, a_next_ko, a0, a1o, a1i\n";
    assert!(instructions.contains(load) && instructions.contains(store), "{instructions}");
    assert_eq!(
        order_of(&both),
        "0 a_next_first(a_next_a1o(1)) b_next_first(b_next_b0o(2)) \
         ko(a_next_ko(a1o(3)) b_next_ko(b0o(4)) | ki(5) | a_next_ko(a1o(6)) b_next_ko(b0o(7))) 8"
    );
    assert_eq!(
        order_of(&product(a)),
        "0 a_next_first(a_next_a1o(1)) ko(a_next_ko(a1o(2)) b0o(3) | ki(4) | a_next_ko(a1o(5))) 6"
    );
}

#[test]
fn each_cell_is_loaded_as_often_as_before() {
    let both = "pipeline a_tile over ko -> a_next\npipeline b_tile over ko -> b_next";
    let counted = |nest: &Nest, sizes: &[i64]| {
        let counts = count::count(nest).unwrap();
        let values = counts.evaluate(sizes).unwrap();
        counts.properties().iter().map(ToString::to_string).zip(values).collect::<BTreeMap<String, i128>>()
    };
    for sizes in [[64, 48, 80], [50, 35, 70], [1, 1, 1]] {
        let [plain, ahead] = [product(""), product(both)].map(|nest| counted(&nest, &sizes));
        assert_eq!(plain, ahead, "{sizes:?}");
    }
}

#[test]
fn what_cannot_be_loaded_ahead_is_refused_with_place_and_reason() {
    let head = "sizes n\narray a[n, n]: f32\narray b[n, n]: f32\nlocal own[4]: f32\ntemporary s: f32
{[i, k]: 0 <= i < n and 0 <= k < n}\n{[q]: n <= 4*q and q < n}\n{[p]: 0 <= p < 4}\n";
    let product = "s = 0.0 @ i\ns = s + a[i, k] @ i, k\nb[i, 0] = s @ i";
    let tiled = "split k 4 -> ko, ki\nprefetch a sweep ki -> t[u]\n";
    let cases = [
        (product, tiled, "a over ko -> next", "line 14, column 1: `a` does not live in local memory"),
        (product, tiled, "t over kk -> next", "line 14, column 1: there is no loop `kk`"),
        (product, tiled, "t over ki -> next", "line 10, column 1: `t` is not filled within loop `ki`"),
        (product, tiled, "t over ko -> u", "line 14, column 1: the name `u` is taken"),
        (product, tiled, "own over ko -> next", "line 14, column 1: `own` is not filled by exactly one instruction"),
        (
            "own[p] = b[i, 0] @ i, k, p\nb[i, 0] = own[1] @ i, k",
            "",
            "own over k -> next",
            "line 9, column 10: `own` is filled with b[i, 0], which is written in the nest",
        ),
        (
            "own[p] = a[i, k] @ i, k, p\nb[k, i] = own[1] @ i, k\nb[i, 0] = own[2] @ i",
            "",
            "own over k -> next",
            "line 11, column 1: `own` is read before it is filled, or outside of `k`",
        ),
        (
            "own[p] = a[i, k] @ i, k, p\nb[p, i] = own[1] @ i, k, p",
            "",
            "own over k -> next",
            "line 10, column 1: loop `p` fills `own` and runs another instruction",
        ),
        (
            "own[q] = a[i, q] @ i, q\nb[q, i] = own[1] @ i, q",
            "",
            "own over q -> next",
            "line 9, column 1: each iteration of `q` fills other cells of `own`",
        ),
        (
            "own[p] = a[i, q] @ i, q, p\nb[q, i] = own[1] @ i, q",
            "",
            "own over q -> next",
            "line 7, column 3: loop `q` does not begin at one sum",
        ),
    ];
    let looked_up = "array row[n]: i32\nlookup end = row[k]\n{[c]: 0 <= c < end}\nown[p] = a[i, k] @ i, k, c, p\nb[k, i] = own[1] @ i, k";
    let message = "line 11, column 3: the bounds of loop `c` depend on the data in `row`";
    for (lines, steps, step, message) in cases.into_iter().chain([(looked_up, "", "own over k -> next", message)]) {
        let text = format!("{head}{lines}\n{steps}pipeline {step}");
        let error = text.parse::<Nest>().expect_err(&text);
        let place = error.place.map(|place| format!("{place}: ")).unwrap_or_default();
        assert_eq!(format!("{place}{}", error.message), message);
        assert!(error.remedy.is_some() || error.message.contains("no loop"), "{error:?}");
    }
}
