// Takes a capture of the page, a PNG in base64 from `top` on and scaled by `scale`. Returns the number of pictures that lie
// inside of it, and the names of those without a coloured mark: axes are grey, and a picture that is not drawn is empty.
async (png, top, scale) => {
  const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
  context.drawImage(bitmap, 0, 0);

  /** Returns the number of pixels that are no shade of grey. */
  const coloured = (left, above, width, height) => {
    const { data } = context.getImageData(left, above, width, height);
    let count = 0;
    for (let at = 0; at < data.length; at += 4) {
      const [red, green, blue] = [data[at], data[at + 1], data[at + 2]];
      if (Math.max(red, green, blue) - Math.min(red, green, blue) > 60) count += 1;
    }
    return count;
  };

  let inside = 0;
  const blank = [];
  for (const picture of document.querySelectorAll("[data-picture]")) {
    const { left, top: above, right, bottom } = picture.querySelector(".plot").getBoundingClientRect();
    const pixel = (place) => Math.round(place * scale);
    const [begin, end] = [above, bottom].map((place) => pixel(place + scrollY - top));
    const [first, last] = [Math.max(pixel(left), 0), Math.min(pixel(right), bitmap.width)];
    if (begin < 0 || end > bitmap.height || begin >= end || first >= last) continue;
    inside += 1;
    if (coloured(first, begin, last - first, end - begin) < 30) blank.push(picture.dataset.picture);
  }
  return { inside, blank };
}
