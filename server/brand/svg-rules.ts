/** Elements of SVG 2 that draw something still; those left out hold words for editors and readers. */
export const elementsOfSvg = new Map<string, 'kept' | 'leftOut'>([
  ...[
    'svg',
    'g',
    'defs',
    'path',
    'rect',
    'circle',
    'ellipse',
    'line',
    'polyline',
    'polygon',
    'linearGradient',
    'radialGradient',
    'stop',
    'clipPath',
    'mask',
  ].map((name) => [name, 'kept'] as const),
  ...['title', 'desc', 'metadata'].map((name) => [name, 'leftOut'] as const),
]);

/** What a browser draws anew for each element that refers to it, and the attributes that do. */
export const maskElements: ReadonlySet<string> = new Set(['clipPath', 'mask']);
export const maskAttributes: ReadonlySet<string> = new Set(['clip-path', 'mask']);

/** Geometry and paint. None of these loads or runs anything, provided that `isAllowedValue` holds. */
const attributes = new Set(
  `id viewBox width height x y x1 y1 x2 y2 cx cy r rx ry fx fy fr d points transform pathLength preserveAspectRatio
  fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-miterlimit
  stroke-dasharray stroke-dashoffset opacity color clip-path clip-rule clipPathUnits mask maskUnits maskContentUnits
  mask-type gradientUnits gradientTransform spreadMethod offset stop-color stop-opacity paint-order shape-rendering
  vector-effect visibility display overflow href`.split(/\s+/),
);

/** What editors write and no logo needs. */
const leftOut = /^(?:version|baseProfile|class|role|aria-[a-z]+|data-[A-Za-z0-9-]+|enable-background)$/;

const xlink = 'http://www.w3.org/1999/xlink';
const xml = 'http://www.w3.org/XML/1998/namespace';

type Attribute = { name: string; namespaceURI: string | null; localName: string | null };

/** The name under which an attribute is kept; null if it is not allowed. */
export function nameOfAttribute({ name, namespaceURI, localName }: Attribute): string | 'leftOut' | null {
  if (namespaceURI === xlink) return localName === 'href' ? 'href' : null;
  // Of other vocabularies, such as an editor's: no browser reads them, and they are not written.
  if (namespaceURI === xml || namespaceURI) return 'leftOut';
  if (leftOut.test(name)) return 'leftOut';
  return attributes.has(name) ? name : null;
}

/**
 * Whether a value only refers to the drawing itself: `url(#id)` in paint, `#id` in `href`, and no letter that a style or
 * an address could be hidden behind.
 */
export function isAllowedValue(name: string, value: string): boolean {
  if (/[\\<>]|\p{Cc}(?<![\t\n\r])/u.test(value)) return false;
  if (name === 'href') return /^#[\w.-]+$/.test(value);
  const rest = value.replace(/url\(\s*(['"]?)#[\w.-]+\1\s*\)/gi, '');
  return !/url|:|@|\/\*|expression|import|image|attr\s*\(|var\s*\(/i.test(rest);
}
