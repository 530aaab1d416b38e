/** Headers for one connection only (RFC 9110 §7.6.1), in lower case. */
export const hopByHop: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** The names in a list such as that of `Connection`, in lower case. */
export function tokens(list: string | undefined): string[] {
  return (list ?? '')
    .split(',')
    .map((token) => token.trim().toLowerCase())
    .filter(Boolean);
}
