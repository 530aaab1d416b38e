/** The contrast of two colours, `#rgb` or `#rrggbb`: 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrastOf(one: string, other: string): number {
  const [light = 0, dark = 0] = [one, other].map(luminanceOf).sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

/** Relative luminance, 0 to 1 (WCAG 2.2). */
function luminanceOf(hex: string): number {
  const digits = hex.length === 4 ? hex.replace(/\w/g, '$&$&') : hex;
  const [r = 0, g = 0, b = 0] = (digits.match(/\w\w/g) ?? []).map((pair) => {
    const part = Number.parseInt(pair, 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
