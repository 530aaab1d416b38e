import type { XmlLimits } from '../../limits.ts';
import { xmlCounter } from './xml-counter.ts';

/** XML 1.0 §2.2: characters that no document may contain, including lone surrogates. */
const noCharacter = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;
const declaration = /^<\?xml version=(["'])1\.0\1(?: encoding=(["'])utf-8\2)?(?: standalone=(["'])(?:yes|no)\3)? ?\?>/i;
/** The five entities that need no declaration, and numbers; the parser reads an upper-case X differently. */
const reference = /&(?:amp|lt|gt|quot|apos|#(\d{1,7})|#x([0-9a-fA-F]{1,6}));/y;
const tagName = /[a-z_][\w.-]*(?::[a-z_][\w.-]*)?(?=[\t\n\r />])/iy;

/**
 * Why we refuse to read a text as XML, before any parser sees it; null if we don't. It has one root and nothing beside
 * it, no DOCTYPE, only the five entities, no processing instruction, no CDATA, and no comment unless allowed. One pass
 * over the text, so that a hostile one costs no more than its length; later steps cost no more than the counts allow.
 */
export function scanProblem(text: string, { comments, most }: { comments: boolean; most: XmlLimits }): string | null {
  if (noCharacter.test(text)) return 'it holds characters that XML does not allow';
  return tagProblem(text, comments, most) ?? referenceProblem(text, most);
}

function referenceProblem(text: string, most: XmlLimits): string | null {
  let references = 0;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    references += 1;
    if (references > most.references) return 'it has too many entities';
    reference.lastIndex = at;
    const found = reference.exec(text);
    if (!found) return 'it holds an entity';
    const number = found[1] ? Number.parseInt(found[1], 10) : found[2] ? Number.parseInt(found[2], 16) : 32;
    if (number > 0x10ffff || noCharacter.test(String.fromCodePoint(number)))
      return 'it has a reference to an invalid character';
  }
  return null;
}

function tagProblem(text: string, comments: boolean, most: XmlLimits): string | null {
  const counter = xmlCounter(most);
  const open: string[] = [];
  let elements = 0;
  let end = declaration.exec(text)?.[0].length ?? 0;
  for (let at = text.indexOf('<', end); at >= 0; at = text.indexOf('<', end)) {
    if (open.length === 0 && isMoreThanSpace(text.slice(end, at))) return 'it has text outside its root';
    if (text.startsWith('<!--', at)) {
      const closing = text.indexOf('--', at + 4);
      if (!comments || !text.startsWith('-->', closing)) return 'it holds a comment';
      end = closing + 3;
      continue;
    }
    if (text[at + 1] === '!') return 'it holds a DOCTYPE or CDATA';
    if (text[at + 1] === '?') return 'it holds a processing instruction, or is not declared as UTF-8';
    const isEnd = text[at + 1] === '/';
    tagName.lastIndex = isEnd ? at + 2 : at + 1;
    const name = tagName.exec(text)?.[0];
    const last = name === undefined ? -1 : tagEnd(text, tagName.lastIndex, most.attributesOfElement);
    if (name === undefined || last < 0) return 'it has a malformed tag';
    end = last + 1;
    if (isEnd) {
      if (open.pop() !== name) return 'its tags do not match';
      continue;
    }
    elements += 1;
    if (open.length === 0 && elements > 1) return 'it has more than one root';
    const excess = counter.excess(name, text.slice(at, end));
    if (excess) return excess;
    if (text[last - 1] !== '/') open.push(name);
    if (open.length > most.depth) return 'it is nested too deeply';
  }
  if (elements === 0) return 'it has no root';
  if (open.length > 0) return 'its tags do not match';
  return isMoreThanSpace(text.slice(end)) ? 'it has text outside its root' : null;
}

/** White space as in XML (XML 1.0 §2.3), which excludes a byte order mark. */
function isMoreThanSpace(text: string): boolean {
  return /[^\t\n\r ]/.test(text);
}

/** Where a tag ends whose name ends at `from`; quoted values may contain its end sign. -1 if it does not end. */
function tagEnd(text: string, from: number, attributes: number): number {
  const sign = /["'<>]/g;
  sign.lastIndex = from;
  for (let values = 0; values <= attributes; values += 1) {
    const found = sign.exec(text);
    if (!found || found[0] === '<') return -1;
    if (found[0] === '>') return found.index;
    const closing = text.indexOf(found[0], found.index + 1);
    if (closing < 0) return -1;
    sign.lastIndex = closing + 1;
  }
  return -1;
}
