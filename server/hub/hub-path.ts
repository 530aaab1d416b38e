import { isWellEncoded } from '../http/request-url.ts';

/** More than anybody encodes a path. */
const mostEncodings = 8;

/** `isPlain`: all servers end the path at the same place, and take its bytes for the same characters. */
type Read = { path: string; isPlain: boolean };

/**
 * A path as servers may read it, with everything undone that some of them undo: encoding, also twice; parameters; doubled
 * slashes; case; what follows an encoded `?` or `#`. Null if one of them would take it for another place, so that no prefix of
 * it says where it leads.
 */
export function readPath(sent: string): Read | null {
  if (!sent.startsWith('/')) return null;
  let text = sent;
  for (let round = 0; round <= mostEncodings; round += 1) {
    if (leadsElsewhere(text) || holdsOverlong(text)) return null;
    const decoded = bytesOf(text);
    if (decoded === text) {
      // Some servers take other characters for these, such as a full-width dot; what is not UTF-8 becomes U+FFFD.
      const written = Buffer.from(text, 'latin1').toString('utf8').normalize('NFKC');
      if (leadsElsewhere(written)) return null;
      return { path: fold(written), isPlain: isWellEncoded(sent) && !/[?#\ufffd]/.test(written) };
    }
    text = decoded;
  }
  return null;
}

/** Decodes each encoded byte on its own, so that one bad sequence does not hide the others. */
function bytesOf(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Whether bytes write a dot or a slash with more of them than it needs; 0xC0 and 0xC1 occur in no UTF-8. */
function holdsOverlong(bytes: string): boolean {
  return /[\u00c0\u00c1]|\u00e0[\u0080-\u009f]|\u00f0[\u0080-\u008f]/.test(bytes);
}

/** Whether a path has segments of dots, with parameters, blanks, `?` or `#` behind them too, backslashes or control characters. */
function leadsElsewhere(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused here
  if (/[\\\u0000-\u001f\u007f]/.test(text)) return true;
  return text.split('/').some((segment) => /^\.[. ]*(?:[;?#]|$)/.test(segment));
}

function fold(text: string): string {
  const segments = text
    .replace(/[?#].*$/, '')
    .split('/')
    .map((segment) => segment.replace(/;.*$/, '').replace(/(?<![. ])[. ]+$/, ''));
  return `/${segments.filter(Boolean).join('/')}`.toLowerCase();
}
