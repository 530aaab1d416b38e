/**
 * The form in which usernames and e-mails are compared and stored as login names: without surrounding whitespace, in
 * Unicode NFKC, without regard to case, and with one form for an e-mail's domain. Folding twice changes nothing.
 * Letters that only look or case-fold alike stay apart (ı and i, ß and ss): whoever types one never means the other.
 */
export function foldLoginName(text: string): string {
  // Lower-casing can undo the normal form and the other way round; the second time changes nothing any more.
  const plain = foldOnce(foldOnce(text));
  const at = plain.lastIndexOf('@');
  return at < 0 ? plain : plain.slice(0, at + 1) + canonicalDomain(plain.slice(at + 1));
}

function foldOnce(text: string): string {
  return text.normalize('NFKC').toLowerCase().normalize('NFKC').trim();
}

/**
 * The ASCII form of a lower-case domain without the dot of the root (UTS 46, by the URL parser). What is no name of a
 * host comes back as it is: the parser would also read `%61` as a letter, `1` as an address, and skip soft hyphens.
 */
export function canonicalDomain(domain: string): string {
  const plain = domain.replace(/\.+$/, '');
  if (!/^[\p{L}\p{M}\p{N}._-]+$/u.test(plain) || /(?:^|\.)(?:\d+|0x[\da-f]*)$/.test(plain)) return plain;
  return URL.parse(`http://${plain}/`)?.hostname ?? plain;
}
