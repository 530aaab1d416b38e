/**
 * The form in which usernames and e-mails are compared and stored as login names: without surrounding whitespace, in
 * Unicode NFKC, without regard to case, and with one form for an e-mail's domain. Folding twice changes nothing.
 * Letters that only look or case-fold alike stay apart (ı and i, ß and ss): whoever types one never means the other.
 */
export function foldLoginName(text: string): string {
  const plain = foldOnce(foldOnce(text));
  const at = plain.lastIndexOf('@');
  return at < 0 ? plain : plain.slice(0, at + 1) + canonicalDomain(plain.slice(at + 1));
}

function foldOnce(text: string): string {
  return text.trim().normalize('NFKC').toLowerCase().normalize('NFKC').trim();
}

/** The ASCII form of a domain without the dot of the root (UTS 46, by the URL parser); a text that is no domain as it is. */
export function canonicalDomain(domain: string): string {
  const host = URL.parse(`http://${domain.replace(/\.$/, '')}/`);
  if (!host || host.username || host.port || host.pathname !== '/' || host.search || host.hash) return domain;
  return host.hostname;
}
