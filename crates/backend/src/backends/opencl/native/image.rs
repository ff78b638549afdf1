//! Images of an OpenCL device.

#![allow(unsafe_code)]

use crate::backends::opencl::native::binding::{Binding, wait};
use crate::backends::opencl::native::failure::failed;
use crate::backends::{Fault, Pixels};
use opencl3::memory::{
    Buffer, CL_FLOAT, CL_HALF_FLOAT, CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE3D,
    CL_MEM_READ_WRITE, CL_R, CL_RG, CL_RGBA, CL_SIGNED_INT8, CL_SIGNED_INT16, CL_SIGNED_INT32, CL_SNORM_INT8,
    CL_SNORM_INT16, CL_UNORM_INT8, CL_UNORM_INT16, CL_UNSIGNED_INT8, CL_UNSIGNED_INT16, CL_UNSIGNED_INT32, Image,
};
use opencl3::types::{cl_image_desc, cl_image_format};
use std::ptr;
use tunesmith_kernel::ScalarType;

/// The first pixel of an image.
const ORIGIN: [usize; 3] = [0; 3];

impl Binding {
    /// Creates an image. A device that lacks it refuses the configuration.
    pub(super) fn image(&self, pixels: &Pixels) -> Result<Image, Fault> {
        let element = pixels.element;
        let none = || Fault::Refused(format!("OpenCL has no images of {element}"));
        let format = format(pixels).ok_or_else(none)?;
        let kind = match (pixels.height, pixels.depth) {
            (None, _) => CL_MEM_OBJECT_IMAGE1D,
            (Some(_), None) => CL_MEM_OBJECT_IMAGE2D,
            (Some(_), Some(_)) => CL_MEM_OBJECT_IMAGE3D,
        };
        let description = cl_image_desc {
            image_type: kind,
            image_width: pixels.width,
            image_height: pixels.height.unwrap_or(0),
            image_depth: pixels.depth.unwrap_or(0),
            image_array_size: 0,
            image_row_pitch: 0,
            image_slice_pitch: 0,
            num_mip_levels: 0,
            num_samples: 0,
            buffer: ptr::null_mut(),
        };
        // SAFETY: both descriptions live during the call, and no host memory is handed over.
        let image = unsafe { Image::create(&self.context, CL_MEM_READ_WRITE, &format, &description, ptr::null_mut()) };
        let region = pixels.region();
        image.map_err(|error| Fault::Refused(format!("the device has no image of {element} with {region:?}: {error}")))
    }

    /// Copies pixels from a buffer to an image, and waits for the end.
    pub(super) fn fill_image(
        &self,
        from: &Buffer<u8>,
        offset: usize,
        to: &mut Image,
        pixels: &Pixels,
    ) -> Result<(), Fault> {
        let region = pixels.region();
        // SAFETY: origin and region have three elements each, and the driver checks the range.
        let copied = unsafe {
            let (origin, region) = (ORIGIN.as_ptr(), region.as_ptr());
            self.queue.enqueue_copy_buffer_to_image(from, to, offset, origin, region, &[])
        };
        wait(&copied.map_err(|error| failed("an image cannot be written", error))?)
    }

    /// Copies the pixels of an image to a buffer, and waits for the end.
    pub(super) fn read_image(
        &self,
        from: &Image,
        to: &mut Buffer<u8>,
        offset: usize,
        pixels: &Pixels,
    ) -> Result<(), Fault> {
        let region = pixels.region();
        // SAFETY: as above.
        let copied = unsafe {
            let (origin, region) = (ORIGIN.as_ptr(), region.as_ptr());
            self.queue.enqueue_copy_image_to_buffer(from, to, origin, region, offset, &[])
        };
        wait(&copied.map_err(|error| failed("an image cannot be read", error))?)
    }
}

/// Returns OpenCL's name of the pixels' format.
fn format(pixels: &Pixels) -> Option<cl_image_format> {
    let order = match pixels.element.lanes() {
        1 => CL_R,
        2 => CL_RG,
        4 => CL_RGBA,
        _ => return None,
    };
    let channel = match (pixels.element.scalar(), pixels.image.normalized) {
        (ScalarType::I8, false) => CL_SIGNED_INT8,
        (ScalarType::I8, true) => CL_SNORM_INT8,
        (ScalarType::U8, false) => CL_UNSIGNED_INT8,
        (ScalarType::U8, true) => CL_UNORM_INT8,
        (ScalarType::I16, false) => CL_SIGNED_INT16,
        (ScalarType::I16, true) => CL_SNORM_INT16,
        (ScalarType::U16, false) => CL_UNSIGNED_INT16,
        (ScalarType::U16, true) => CL_UNORM_INT16,
        (ScalarType::I32, _) => CL_SIGNED_INT32,
        (ScalarType::U32, _) => CL_UNSIGNED_INT32,
        (ScalarType::F16, _) => CL_HALF_FLOAT,
        (ScalarType::F32, _) => CL_FLOAT,
        (ScalarType::I64 | ScalarType::U64 | ScalarType::F64 | ScalarType::Byte, _) => return None,
    };
    Some(cl_image_format { image_channel_order: order, image_channel_data_type: channel })
}
