/** More than anybody encodes a path. */
const mostEncodings = 8;

/**
 * A path as servers may read it, with everything undone that some of them undo: encoding, also twice; parameters; doubled
 * slashes; case. Null if one of them would take it for another place, so that no prefix of it says where it leads.
 */
export function readPath(sent: string): string | null {
  if (!sent.startsWith('/') || !isWellEncoded(sent)) return null;
  let text = sent;
  for (let round = 0; round <= mostEncodings; round += 1) {
    if (leadsElsewhere(text) || holdsOverlong(text)) return null;
    const decoded = bytesOf(text);
    if (decoded === text) {
      // Some servers take other characters for these, such as a full-width dot.
      const written = Buffer.from(text, 'latin1').toString('utf8').normalize('NFKC');
      return leadsElsewhere(written) ? null : fold(written);
    }
    text = decoded;
  }
  return null;
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

/** Whether bytes have 0xC0 or 0xC1, which begin a dot or a slash of more bytes than it needs, and occur in no UTF-8. */
function holdsOverlong(bytes: string): boolean {
  return /[\u00c0\u00c1]/.test(bytes);
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
