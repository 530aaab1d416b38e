import { createRequire } from 'node:module';
import { limits } from '../limits.ts';
import { elementsOfSvg, isAllowedValue, maskAttributes, maskElements, nameOfAttribute } from './svg-rules.ts';

/** What we use of a parsed document (DOM Level 2 Core §1.2). */
type XmlNode = { nodeType: number; firstChild: XmlNode | null; nextSibling: XmlNode | null };
type XmlElement = XmlNode & {
  namespaceURI: string | null;
  localName: string;
  attributes: ArrayLike<{ name: string; namespaceURI: string | null; localName: string | null; value: string }>;
};

// Not by `import`: its types would add a browser's whole DOM to the server's.
const { DOMParser } = createRequire(import.meta.url)('@xmldom/xmldom') as {
  DOMParser: new (options: {
    errorHandler: Record<string, (message: string) => never>;
  }) => { parseFromString(text: string, type: 'image/svg+xml'): { documentElement: XmlElement | null } };
};

export type SvgReading =
  | { kind: 'ok'; text: string; width: number; height: number }
  | { kind: 'refused'; problem: string };

const svgNamespace = 'http://www.w3.org/2000/svg';

/**
 * Reads an SVG and writes it anew: only shapes, gradients, masks and their attributes, on the lists of svg-rules.ts, so
 * nothing that a browser would run or load. Anything else is refused by its name, except what editors leave and no
 * browser shows, which is left out.
 */
export function readSvg(source: string): SvgReading {
  if (/<!(?:DOCTYPE|ENTITY)/i.test(source)) return refused('must not have a document type');
  try {
    const root = new DOMParser({ errorHandler: refuse }).parseFromString(source, 'image/svg+xml').documentElement;
    if (root?.namespaceURI !== svgNamespace || root.localName !== 'svg') return refused('is not an SVG');
    const size = sizeOf(root);
    if (!size) return refused('needs a viewBox, such as viewBox="0 0 120 30"');
    const text = written(root, { elements: 0 }, 0, false);
    return { kind: 'ok', text, ...size };
  } catch (error) {
    return refused(error instanceof SvgRefused ? error.message : 'is not well-formed XML');
  }
}

class SvgRefused extends Error {}

/**
 * Masks and clipping paths that refer to further ones are refused like `use`: each step multiplies what a browser draws.
 */
function written(element: XmlElement, count: { elements: number }, depth: number, isWithinMask: boolean): string {
  const name = element.localName;
  if (element.namespaceURI !== svgNamespace) return '';
  count.elements += 1;
  if (count.elements > limits.svgElements || depth > limits.svgDepth)
    throw new SvgRefused(`must have at most ${limits.svgElements} elements, nested ${limits.svgDepth} deep`);
  const kind = elementsOfSvg.get(name);
  if (kind === 'leftOut') return '';
  if (kind === undefined) throw new SvgRefused(`must not have <${shown(name)}>: shapes and gradients only`);
  const isMask = isWithinMask || maskElements.has(name);
  const attributes = attributesOf(element);
  const nested = isMask && [...attributes.keys()].find((one) => maskAttributes.has(one));
  if (nested) throw new SvgRefused(`must not have ${nested} (on <${name}>) within a mask or clipPath`);
  const namespace = depth === 0 ? ` xmlns='${svgNamespace}'` : '';
  let children = '';
  for (let node = element.firstChild; node; node = node.nextSibling)
    if (node.nodeType === 1) children += written(node as XmlElement, count, depth + 1, isMask);
  const start = `<${name}${namespace}${[...attributes].map(writtenAttribute).join('')}`;
  return children === '' ? `${start}/>` : `${start}>${children}</${name}>`;
}

/** The allowed attributes, each once: a plain `href` wins over `xlink:href`, as in browsers (SVG 2 §16.1.3). */
function attributesOf({ localName, attributes }: XmlElement): Map<string, string> {
  const kept = new Map<string, string>();
  for (const attribute of Array.from(attributes)) {
    const { name, value } = attribute;
    if (name === 'xmlns' || name.startsWith('xmlns:')) continue;
    const allowed = nameOfAttribute(attribute);
    if (allowed === 'leftOut') continue;
    if (allowed === null) throw new SvgRefused(`must not have the attribute ${shown(name)} (on <${localName}>)`);
    if (!isAllowedValue(allowed, value))
      throw new SvgRefused(
        `must not have ${shown(name)}="${shown(value)}" (on <${localName}>): nothing from elsewhere`,
      );
    if (name === allowed || !kept.has(allowed)) kept.set(allowed, value);
  }
  return kept;
}

function writtenAttribute([name, value]: [string, string]): string {
  return ` ${name}='${value.replace(/[&<>'"]/g, (character) => `&#${character.charCodeAt(0)};`)}'`;
}

function sizeOf({ attributes }: XmlElement): { width: number; height: number } | null {
  const attributeOf = (name: string) => Array.from(attributes).find((one) => one.name === name)?.value;
  const box = (attributeOf('viewBox') ?? '')
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  const [width = 0, height = 0] =
    box.length === 4 ? box.slice(2) : ['width', 'height'].map((name) => Number.parseFloat(attributeOf(name) ?? ''));
  return width > 0 && height > 0 && Number.isFinite(width * height) ? { width, height } : null;
}

function shown(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

function refused(problem: string): SvgReading {
  return { kind: 'refused', problem };
}

/** The parser continues after any problem it reports, unless this throws. */
const thrower = (message: string): never => {
  throw new Error(message);
};
const refuse = { warning: thrower, error: thrower, fatalError: thrower };
