use tunesmith_choose::Selector;

fn main() {
    // Wisdom of `export`, a model of `train timing`, or both.
    let selector = Selector::open(["filterbank.wisdom", "timing.json"]);
    selector.warnings().iter().for_each(|warning| eprintln!("{warning}"));
    if let Some(choice) = selector.select("filterbank", "AMD EPYC", &[("R", 256.0), ("D", 8.0)]) {
        println!("block_h = {:?}: {}", choice.int("block_h"), choice.source);
    }
}
