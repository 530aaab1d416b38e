/** An address of a provider that a visitor may be sent to: by TLS, or on this very machine. Null when it is none. */
export function providerUrl(text: string): URL | null {
  const url = URL.parse(text);
  if (url?.username !== '' || url.password !== '') return null;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)) ? url : null;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
