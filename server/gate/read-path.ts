import { isAtOrBelow } from '../config/hub.ts';

/** How a hub may read a path. */
export type HubPath = {
  /** As it was sent, and is passed on. */
  sent: string;
  /** With everything undone that some server undoes: encoding, also twice; parameters; doubled slashes; case. */
  folded: string;
  /** Whether every server reads the path as it was sent, but for its case. */
  isPlain: boolean;
};

/** More than anybody encodes a path. */
const mostEncodings = 8;

/** Reads the path of a request; null if some hub would take it for another place, so that no rule can be sure of it. */
export function readPath(sent: string): HubPath | null {
  if (!sent.startsWith('/') || !isWellEncoded(sent)) return null;
  let text = sent;
  for (let round = 0; isHarmless(text); round += 1) {
    const decoded = bytesOf(text);
    if (decoded === text) {
      const written = inUnicode(text);
      if (written !== null && leadsElsewhere(written)) return null;
      return { sent, folded: fold(written ?? text), isPlain: written === null && !isReadDifferently(sent) };
    }
    if (round === mostEncodings) return null;
    text = decoded;
  }
  return null;
}

/**
 * Whether a path or, as some hub may read it, what it is folded to is a place or lies below it. Some read `/reports.json` as
 * a form of `/reports`, and `/reports::$DATA` as its content.
 */
export function mayBeBelow({ folded }: HubPath, place: string): boolean {
  const below = place.toLowerCase();
  return (
    isAtOrBelow(folded, below) || (below !== '/' && (folded.startsWith(`${below}.`) || folded.startsWith(`${below}:`)))
  );
}

/** A path in the characters that some servers take for those in it, such as `k` for a Kelvin sign; null if there are none. */
function inUnicode(bytes: string): string | null {
  const text = Buffer.from(bytes, 'latin1').toString('utf8');
  const plain = text.normalize('NFKC');
  return plain === text ? null : plain;
}

function isWellEncoded(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** Decodes each encoded byte on its own, so that one bad sequence does not hide the others. */
function bytesOf(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/**
 * Whether nothing in a path, decoded so far, leads elsewhere, nor the bytes 0xC0 and 0xC1, which begin a dot or a slash
 * written with more bytes than it needs, and occur in no UTF-8.
 */
function isHarmless(bytes: string): boolean {
  return !leadsElsewhere(bytes) && !/[\u00c0\u00c1]/.test(bytes);
}

/** Whether a path has segments of dots, with parameters or blanks behind them too, backslashes, control characters or `#`. */
function leadsElsewhere(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused here
  if (/[\\#\u0000-\u001f\u007f]/.test(text)) return true;
  return text.split('/').some((segment) => /^\.[. ]*(?:;|$)/.test(segment));
}

function fold(text: string): string {
  const segments = text.split('/').map((segment) => segment.replace(/;.*$/, '').replace(/[. ]+$/, ''));
  return `/${segments.filter(Boolean).join('/')}`.toLowerCase();
}

/**
 * Whether servers disagree about a path: parameters, empty segments, dots or blanks at the end of one, and encoded
 * characters that need no encoding or that some servers decode before they look for segments.
 */
function isReadDifferently(path: string): boolean {
  return /;|\/\/|(?:\.|%20)(?:\/|$)|%(?:2[def5]|3[0-9b]|4[1-9a-f]|5[0-9acf]|6[1-9a-f]|7[0-9ae])/i.test(path);
}
