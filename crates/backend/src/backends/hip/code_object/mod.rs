//! A kernel's use of its device, read from the code object that the compiler made. No GPU is needed.
//!
//! A code object is an ELF file with a note, whose form LLVM documents (User Guide for AMDGPU Backend,
//! Code Object V3 and later): a MessagePack map with a list of kernels. Whatever is not understood is
//! left out, never guessed.

mod message_pack;

use crate::backends::Resources;
use message_pack::Packed;
use object::elf::EM_AMDGPU;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection};

/// The owner of the note and its kind, `NT_AMDGPU_METADATA`.
const OWNER: &[u8] = b"AMDGPU\0";
const METADATA: u32 = 32;

/// The keys of a kernel's map, and the names of resources. The registers are those of a work-item,
/// accumulation registers included.
const KEYS: [(&str, &str); 6] = [
    (".vgpr_count", "registers"),
    (".sgpr_count", "scalar_registers"),
    (".vgpr_spill_count", "spilled_registers"),
    (".sgpr_spill_count", "spilled_scalar_registers"),
    (".private_segment_fixed_size", "local_bytes"),
    (".group_segment_fixed_size", "shared_bytes"),
];

/// Returns the resources that the kernel `function` of a code object uses, by name. Empty if `image`
/// is no code object.
pub(crate) fn resources(image: &[u8], function: &str) -> Resources {
    metadata(image).and_then(|metadata| of_kernel(&metadata, function)).unwrap_or_default()
}

fn metadata(image: &[u8]) -> Option<Packed> {
    let file = ElfFile64::<Endianness>::parse(image).ok()?;
    if file.elf_header().e_machine.get(file.endian()) != EM_AMDGPU {
        return None;
    }
    let notes = file.sections().filter(|section| section.name().is_ok_and(|name| name.starts_with(".note")));
    notes.filter_map(|section| section.data().ok()).find_map(note).and_then(Packed::read)
}

/// Returns the contents of the note of a section.
fn note(mut section: &[u8]) -> Option<&[u8]> {
    loop {
        let [owner, contents, kind] = [0, 4, 8].map(|at| {
            let bytes = section.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_le_bytes(bytes))
        });
        let (owner, contents) = (owner? as usize, contents? as usize);
        let start = 12_usize.checked_add(owner)?.next_multiple_of(4);
        let end = start.checked_add(contents)?;
        let found = section.get(start..end)?;
        if kind? == METADATA && section.get(12..12 + owner)? == OWNER {
            return Some(found);
        }
        section = section.get(end.next_multiple_of(4)..)?;
    }
}

fn of_kernel(metadata: &Packed, function: &str) -> Option<Resources> {
    let kernels = metadata.get("amdhsa.kernels")?.list()?;
    let kernel = kernels.iter().find(|kernel| kernel.get(".name").and_then(Packed::text) == Some(function))?;
    let number = |(key, name): (&str, &str)| Some((name.to_owned(), kernel.get(key)?.number()?));
    Some(KEYS.into_iter().filter_map(number).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The note of a kernel `k` with 40 registers, 24 scalar ones, 512 bytes of shared memory, and a
    /// number that is not read.
    fn packed() -> Vec<u8> {
        let text = |text: &str| [&[0xa0 | text.len() as u8], text.as_bytes()].concat();
        let mut kernel = vec![0x85];
        for (key, value) in [
            (".name", text("k")),
            (".vgpr_count", vec![40]),
            (".sgpr_count", vec![0xcc, 24]),
            (".wavefront_size", vec![64]),
        ] {
            kernel.extend([text(key), value].concat());
        }
        kernel.extend([vec![0xd9, 25], b".group_segment_fixed_size".to_vec(), vec![0xcd, 2, 0]].concat());
        [vec![0x81], text("amdhsa.kernels"), vec![0x91], kernel].concat()
    }

    /// A code object with this note, as far as it is read here.
    fn code_object() -> Vec<u8> {
        let packed = packed();
        let mut note: Vec<u8> = [7, packed.len() as u32, METADATA].iter().flat_map(|n| n.to_le_bytes()).collect();
        note.extend(OWNER);
        note.push(0);
        note.extend(packed);
        note.resize(note.len().next_multiple_of(8), 0);
        let names = b"\0.note\0.shstrtab\0\0\0\0\0\0\0\0";
        let mut file = b"\x7fELF\x02\x01\x01\x40\x04\0\0\0\0\0\0\0\x03\0\xe0\0\x01\0\0\0".to_vec();
        let place = 64 + note.len() + names.len();
        file.extend([0, 0, place as u64].iter().flat_map(|number| number.to_le_bytes()));
        file.extend([0; 4]);
        file.extend([64_u16, 0, 0, 64, 3, 2].iter().flat_map(|number| number.to_le_bytes()));
        file.extend(&note);
        file.extend(names);
        file.extend([0; 64]);
        for (name, kind, start, size) in [(1_u32, 7_u32, 64, note.len()), (7, 3, 64 + note.len(), names.len())] {
            file.extend([name, kind].iter().flat_map(|number| number.to_le_bytes()));
            file.extend([0, 0, start as u64, size as u64].iter().flat_map(|number| number.to_le_bytes()));
            file.extend([0; 8]);
            file.extend([4, 0].iter().flat_map(|number: &u64| number.to_le_bytes()));
        }
        file
    }

    #[test]
    fn a_code_object_tells_registers_and_memories() {
        let expected = [("registers", 40.0), ("scalar_registers", 24.0), ("shared_bytes", 512.0)];
        let expected: Resources = expected.map(|(name, number)| (name.to_owned(), number)).into();
        assert_eq!(resources(&code_object(), "k"), expected);
    }

    #[test]
    fn every_name_is_known_to_metrics_and_limits() {
        let unknown: Vec<_> =
            KEYS.iter().filter(|(_, name)| !tunesmith_kernel::RESOURCE_NAMES.contains(name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn what_is_no_code_object_or_lacks_the_kernel_tells_nothing() {
        for image in [&b""[..], b"__CLANG_OFFLOAD_BUNDLE__", b"{\"function\": \"k\"}"] {
            assert!(resources(image, "k").is_empty());
        }
        assert!(resources(&code_object(), "other").is_empty());
        let mut of_another_machine = code_object();
        of_another_machine[18] = 62;
        assert!(resources(&of_another_machine, "k").is_empty());
    }

    #[test]
    fn a_code_object_cut_off_anywhere_is_read_without_panic() {
        let whole = code_object();
        for length in 0..whole.len() {
            resources(&whole[..length], "k");
        }
    }

    proptest! {
        #[test]
        fn a_damaged_code_object_is_read_without_panic(
            damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        ) {
            let mut image = code_object();
            for (place, byte) in damage {
                let place = place.index(image.len());
                image[place] = byte;
            }
            resources(&image, "k");
        }
    }
}
