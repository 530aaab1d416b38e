/**
 * The form in which usernames and emails are compared and stored as login names: without surrounding whitespace, in
 * Unicode NFKC, case-insensitive, and with one form for an email's domain. Folding twice changes nothing. Letters that
 * only look or case-fold alike stay distinct (ı and i, ß and ss): people who type one never mean the other.
 */
export function foldLoginName(text: string): string {
  // Lower-casing can undo normalization and vice versa; a third pass would change nothing.
  const plain = foldOnce(foldOnce(text));
  const at = plain.lastIndexOf('@');
  return at < 0 ? plain : plain.slice(0, at + 1) + canonicalDomain(plain.slice(at + 1));
}

function foldOnce(text: string): string {
  return text.normalize('NFKC').toLowerCase().normalize('NFKC').trim();
}

/**
 * The ASCII form of a lower-case domain without the root's dot (UTS 46, by the URL parser). Anything but a host name is
 * returned unchanged: the parser would also read `%61` as a letter, `1` as an address, and skip soft hyphens.
 */
export function canonicalDomain(domain: string): string {
  const plain = domain.replace(/\.+$/, '');
  if (!/^[\p{L}\p{M}\p{N}._-]+$/u.test(plain) || /(?:^|\.)(?:\d+|0x[\da-f]*)$/.test(plain)) return plain;
  return URL.parse(`http://${plain}/`)?.hostname ?? plain;
}
