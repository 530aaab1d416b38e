import type { XmlLimits } from '../../limits.ts';

/** Whatever the prefix: a forger can use any number of them. */
const signaturePart = /(?:^|:)(Signature|SignedInfo|Reference|Transforms?|X509Certificate|InclusiveNamespaces)$/;
const attribute = /[\t\n\r ]([^\t\n\r =]+)[\t\n\r ]*=[\t\n\r ]*(?:"([^"]*)"|'([^']*)')/g;

/**
 * Counts what a document contains, tag by tag, before anything is built from it: parsers, canonicalizers and searches
 * take time for each element, attribute and namespace, and the longest answer has room for tens of thousands.
 */
export function xmlCounter(most: XmlLimits) {
  let elements = 0;
  let attributes = 0;
  const namespaces = new Set<string>();
  const parts: Record<string, number> = {};
  return {
    /** What is too much once this start tag is counted, or null. */
    excess(name: string, tag: string): string | null {
      elements += 1;
      if (elements > most.elements) return 'it has too many elements';
      if (tag.length > most.tag) return 'it has a tag that is too long';
      if (name.length > most.name) return 'it has a name that is too long';
      const part = signaturePart.exec(name)?.[1];
      if (part) parts[part] = (parts[part] ?? 0) + 1;
      if (part && (parts[part] ?? 0) > most.signatureParts) return 'it has too many parts of signatures';
      for (const [, key = '', double, single] of tag.matchAll(attribute)) {
        const value = double ?? single ?? '';
        attributes += 1;
        if (attributes > most.attributes) return 'it has too many attributes';
        if (key.length > most.name) return 'it has a name that is too long';
        if (value.length > most.value) return 'it has a value that is too long';
        if (key === 'xmlns' || key.startsWith('xmlns:')) namespaces.add(`${key}=${value}`);
        if (namespaces.size > most.namespaces) return 'it has too many namespaces';
      }
      return null;
    },
  };
}
