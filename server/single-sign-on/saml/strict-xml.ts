import { createRequire } from 'node:module';
import { limits, type XmlLimits } from '../../limits.ts';
import { elementsIn, type XmlElement, type XmlNode } from './xml-elements.ts';
import { scanProblem } from './xml-scan.ts';

type Parser = { parseFromString(text: string, type: 'text/xml'): { documentElement: XmlElement | null } };

// Not by `import`: its types would add a browser's whole DOM to the server's.
const { DOMParser } = createRequire(import.meta.url)('@xmldom/xmldom') as {
  DOMParser: new (options: { errorHandler: Record<string, (message: string) => never> }) => Parser;
};

export type XmlReading = { kind: 'ok'; root: XmlElement } | { kind: 'refused'; problem: string };

/**
 * Reads foreign XML: what passes the scan, by a parser whose every warning is an error. Namespaces have their exact
 * meaning; XHTML is refused, since the parser reads its scripts by other rules.
 */
export function readXml(
  text: string,
  { comments = false, most = limits.samlAnswer }: { comments?: boolean; most?: XmlLimits } = {},
): XmlReading {
  const problem = scanProblem(text, { comments, most });
  if (problem) return { kind: 'refused', problem };
  try {
    // Without the locator, which counts lines that nobody sees and takes half of the time (SA-43).
    const root = new DOMParser({ errorHandler: refuse }).parseFromString(text, 'text/xml').documentElement;
    if (!root) return { kind: 'refused', problem: 'it has no root' };
    sources.set(root, text);
    const isHtml = elementsIn(root).some(({ namespaceURI }) => namespaceURI === 'http://www.w3.org/1999/xhtml');
    return isHtml ? { kind: 'refused', problem: 'it holds XHTML' } : { kind: 'ok', root };
  } catch {
    return { kind: 'refused', problem: 'it is not well-formed' };
  }
}

/** The exact text an element's document was read from; null if not by `readXml`. */
export function sourceOf(element: XmlElement): string | null {
  let root: XmlNode = element;
  while (root.parentNode?.nodeType === 1) root = root.parentNode;
  return sources.get(root) ?? null;
}

/** By the roots of documents. */
const sources = new WeakMap<XmlNode, string>();

/** The parser continues after any problem it reports, unless this throws. */
const thrower = (message: string): never => {
  throw new Error(message);
};
const refuse = { warning: thrower, error: thrower, fatalError: thrower };
