//! Arguments that are images, in problem files.

use tunesmith_kernel::{Address, ArgumentKind, Filter, Image, Language, Memory, Sampler};
use tunesmith_problem::{Diagnostic, Problem};

/// Returns the memory of an argument with the lines `keys`, or the messages with their remedies.
fn memory(keys: &str) -> Result<Memory, String> {
    let text = format!(
        "[problem]\nname = \"blur\"\nsizes = {{ N = 16 }}\n[kernel]\nfile = \"blur.cl\"\nfunction = \"blur\"\n\
         global = [\"N\"]\n[parameters]\nA = [1, 2]\n[[arguments]]\nname = \"from\"\n{keys}\n"
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("blur.cl"), "").unwrap();
    let line = |message: &Diagnostic| format!("{}; {}\n", message.text, message.remedy.clone().unwrap_or_default());
    let problem = Problem::parse(&text, folder.path());
    let problem = problem.map_err(|error| error.messages.iter().map(line).collect::<String>())?;
    let spec = problem.kernel_spec(Language::OpenCl).unwrap();
    let ArgumentKind::Buffer { memory, .. } = spec.arguments[0].kind else { panic!("no buffer") };
    Ok(memory)
}

#[test]
fn an_image_has_a_format_and_a_way_to_be_read() {
    let plain = memory("type = \"f32\"\nshape = [\"N\", \"N\"]\nmemory = \"image\"");
    assert_eq!(plain, Ok(Memory::Image(Image::default())));
    let all = "type = \"u8x4\"\nshape = [\"N\", \"N\"]\nmemory = \"image\"\nnormalized = true\nfilter = \"linear\"\n\
               address = \"wrap\"\ncoordinates = \"normalized\"";
    let sampler = Sampler { filter: Filter::Linear, address: Address::Wrap, normalized_coordinates: true };
    assert_eq!(memory(all), Ok(Memory::Image(Image { normalized: true, sampler })));
}

#[test]
fn images_that_no_device_has_and_keys_without_an_image_are_refused_with_a_remedy() {
    let refused = |keys: &str, words: &str| {
        let message = memory(keys).unwrap_err();
        assert!(message.contains(words), "`{words}` is not in: {message}");
    };
    let image = "shape = [\"N\", \"N\"]\nmemory = \"image\"";
    refused(&format!("type = \"f64\"\n{image}"), "the pixels of an image cannot be f64; a pixel has one, two or four");
    refused(&format!("type = \"u8\"\n{image}\nfilter = \"linear\""), "integers are not interpolated");
    refused(&format!("type = \"f32\"\n{image}\naddress = \"clam\""), "did you mean `clamp`?");
    refused(&format!("type = \"f32\"\n{image}\naddress = \"wrap\""), "coordinates = \"normalized\"");
    refused("type = \"f32\"\nshape = [\"N\"]\nfilter = \"linear\"", "only images have `arguments.filter`");
    refused("type = \"f32\"\nshape = [1, 1, 1, \"N\"]\nmemory = \"image\"", "cannot have 4 dimensions");
}
