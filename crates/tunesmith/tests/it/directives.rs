//! Kernel sources with ATF's directives are problems.

use tunesmith::space::Value;
use tunesmith::{Problem, problem::ProblemError};

/// The paper's Listing 3, shortened, with directives in comments.
const LISTING_3: &str = r#"
// #atf::var::M  $1  // first command line argument
// #atf::var::N  $2
// #atf::var<size_t> HALF = M / 2

// #atf::tp name "VWM"  // vector width
//   range       {1, 2, 4, 8}

// #atf::tp name "MDIMC" // local size
//   range       interval<size_t>( 1,M )
//   constraint  less_than_or_eq( atf::ocl::max_wi_size_0 )

/* #atf::tp name "MWG" // tile size
     range       interval<size_t>( 1,M )
     constraint  multiple_of( MDIMC*VWM ) &&
                 (divides(N / 2) || [](auto i){ return i == HALF; }) */

// #atf::tp name SCALE type double range interval<double>(0.5, 1.5, 0.5)
// #atf::tp name KWID range interval<int>(0, 4, [](auto i){ return 1 << i; }) constraint KWID <= MWG ? true : VWM > 4
// #atf::tp name PAD range interval<bool>(false, true)

// #atf::search_technique simulated_annealing
// #atf::abort_condition  evaluations( 10000 ) || duration<std::chrono::minutes>(5)

__kernel void XgemmDirectTN(int M) { int range = M; }
"#;

fn load(text: &str, given: &[(&str, i64)]) -> Result<Problem, ProblemError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gemm.cl");
    std::fs::write(&path, text).unwrap();
    let given: Vec<(String, Value)> = given.iter().map(|(name, value)| ((*name).into(), Value::Int(*value))).collect();
    Problem::load(&path, &given)
}

fn messages(text: &str, given: &[(&str, i64)]) -> Vec<String> {
    let told = |messages: Vec<tunesmith::Diagnostic>| {
        let one = |message: tunesmith::Diagnostic| {
            format!("{}: {}; {}", message.line, message.text, message.remedy.unwrap_or_default())
        };
        messages.into_iter().map(one).collect()
    };
    match load(text, given) {
        Ok(problem) => told(problem.warnings().to_vec()),
        Err(error) => told(error.messages),
    }
}

/// Returns the number of valid configurations of the listing, counted by loops.
fn count(m: i64, n: i64, largest: i64) -> u32 {
    let mut count = 0;
    for vwm in [1, 2, 4, 8] {
        for mdimc in 1..=m.min(largest) {
            for mwg in 1..=m {
                let tile = mwg % (mdimc * vwm) == 0 && ((n / 2) % mwg == 0 || mwg == m / 2);
                let widths = (0..=4).filter(|i| (1 << i) <= mwg || vwm > 4).count() as u32;
                count += u32::from(tile) * widths * 3 * 2;
            }
        }
    }
    count
}

#[test]
fn the_listing_of_the_paper_is_a_problem() {
    let problem = load(LISTING_3, &[("1", 24), ("N", 36)]).unwrap();
    assert_eq!(problem.warnings(), []);
    let space = problem.space(&[("max_work_item_size_0".to_string(), Value::Int(5))]).unwrap().space;
    let names: Vec<&str> = space.parameters().iter().map(|parameter| parameter.name()).collect();
    assert_eq!(names, ["VWM", "MDIMC", "MWG", "SCALE", "KWID", "PAD"]);
    assert_eq!(space.size(), count(24, 36, 5).into());
    assert_eq!(space.parameters()[3].values(), [Value::Float(0.5), Value::Float(1.0), Value::Float(1.5)]);
    assert_eq!(space.parameters()[5].values(), [Value::Bool(false), Value::Bool(true)]);
    assert_eq!(problem.spec().tuning().strategy, Some("annealing".parse().unwrap()));
    assert_eq!(problem.spec().tuning().stop, Some("evaluations 10000 or time 5min".parse().unwrap()));
}

#[test]
fn a_limit_of_a_device_that_is_not_known_is_left_out_with_a_warning() {
    let problem = load(LISTING_3, &[("M", 24), ("2", 36)]).unwrap();
    let built = problem.space(&[]).unwrap();
    assert_eq!(built.space.size(), count(24, 36, 24).into());
    assert!(built.warnings[0].text.contains("`device.max_work_item_size_0` is not known here"), "{:?}", built.warnings);
    assert_eq!(built.warnings[0].line, 11);
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_remedy() {
    let tp = "// #atf::tp name \"A\" range {1, 2}\n";
    assert_eq!(
        messages(&format!("// #atf::var::M $1\n{tp}"), &[]),
        ["1: `M` is value 1 of the command line, but that value is not given; add --size M=VALUE"]
    );
    assert_eq!(
        messages(&format!("{tp}// #atf::serch_technique x\n"), &[]),
        ["2: `#atf::serch_technique` is not a directive; did you mean `search_technique`?"]
    );
    assert_eq!(
        messages("// #atf::tp name \"A\" range 5\n", &[])[0],
        "1: `5` is no range; ranges are {1, 2, 4} and interval<T>(first, last, step or generator)"
    );
    assert!(
        messages(&format!("{tp}// #atf::search_technique auc_bandits\n"), &[])[0].contains("did you mean `auc_bandit`")
    );
    assert_eq!(
        messages(&format!("{tp}// #atf::ocl::kernel_nam f\n"), &[]),
        ["2: `#atf::ocl::kernel_nam` is not a directive; did you mean `ocl::kernel_name`?"]
    );
    assert!(messages(&format!("{tp}// #atf::ocl::ndrange 8 1 1\n"), &[])[0].contains("#atf::ocl::global_size"));
    assert!(messages("#atf::tp name \"A\" range {1, 2}\n", &[]).is_empty());
    assert_eq!(
        messages(&format!("// #atf::var::SIZE 5\n{tp}"), &[("SIZES", 4)]),
        ["1: the kernel has no variable `SIZES`; did you mean `SIZE`?"]
    );
    assert!(messages("// #atf::tp name \"A\" range {1, 2\n", &[])[0].contains("`{` is not closed"));
}
