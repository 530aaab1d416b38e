import { createRequire } from 'node:module';
import { limits, type XmlLimits } from '../../limits.ts';
import { elementsIn, type XmlElement, type XmlNode } from './xml-elements.ts';
import { scanProblem } from './xml-scan.ts';

type Parser = { parseFromString(text: string, type: 'text/xml'): { documentElement: XmlElement | null } };

// Not by `import`: its types would bring those of a browser's whole DOM among the server's.
const { DOMParser } = createRequire(import.meta.url)('@xmldom/xmldom') as {
  DOMParser: new (options: { errorHandler: Record<string, (message: string) => never> }) => Parser;
};

export type XmlReading = { ok: true; root: XmlElement } | { ok: false; problem: string };

/**
 * Reads XML of somebody else: what the scan lets through, by a parser whose every warning counts. Its namespaces mean
 * what they say; XHTML has none here, since the parser reads its scripts by other rules.
 */
export function readXml(
  text: string,
  { comments = false, most = limits.samlAnswer }: { comments?: boolean; most?: XmlLimits } = {},
): XmlReading {
  const problem = scanProblem(text, { comments, most });
  if (problem) return { ok: false, problem };
  try {
    // Without the locator, which counts lines that nobody is told of and takes half of the time (SA-43).
    const root = new DOMParser({ errorHandler: refuse }).parseFromString(text, 'text/xml').documentElement;
    if (!root) return { ok: false, problem: 'it has no root' };
    sources.set(root, text);
    const isHtml = elementsIn(root).some(({ namespaceURI }) => namespaceURI === 'http://www.w3.org/1999/xhtml');
    return isHtml ? { ok: false, problem: 'it holds XHTML' } : { ok: true, root };
  } catch {
    return { ok: false, problem: 'it is not well-formed' };
  }
}

/** The very text that the document of an element was read from; null when `readXml` did not read it. */
export function sourceOf(element: XmlElement): string | null {
  let root: XmlNode = element;
  while (root.parentNode?.nodeType === 1) root = root.parentNode;
  return sources.get(root) ?? null;
}

/** By the roots of documents. */
const sources = new WeakMap<XmlNode, string>();

/** The parser goes on after what it reports, whatever that is, unless this throws out of it. */
const thrower = (message: string): never => {
  throw new Error(message);
};
const refuse = { warning: thrower, error: thrower, fatalError: thrower };
