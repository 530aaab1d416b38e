/** What of a failure decides what an operator can do about it. */
export type FailureKind = 'silent' | 'certificate' | 'tls' | 'other';

/** A provider did not answer, or answered wrongly: in words for the operator. */
export class ProviderFailure extends Error {
  readonly kind: FailureKind;
  constructor(words: string, kind: FailureKind = 'other') {
    super(words);
    this.kind = kind;
  }
}

/** The connection must be changed: its provider is elsewhere, or is not as the operator configured it. */
export class ConnectionBroken extends ProviderFailure {}

/** A provider, or an address it names, is in a network not listed for the connection. */
export class NetworkNotListed extends ConnectionBroken {
  readonly addresses: readonly string[];
  constructor(host: string, addresses: readonly string[]) {
    const at = addresses.length === 1 && addresses[0] === host ? '' : ` (${addresses.join(', ')})`;
    super(
      `${host}${at} is neither in a public network nor in one of the connection's: add it with "vestibule connection set --provider-network <cidr>" if the provider belongs there`,
    );
    this.addresses = addresses;
  }
}

/** The failure of a request without an answer. Rethrows errors that are not the network's. */
export function failureOfRequest(error: unknown, url: URL): ProviderFailure {
  if (error instanceof ProviderFailure) return error;
  if (error instanceof TypeError && error.cause instanceof ProviderFailure) return error.cause;
  const code = codeOf(error);
  if (isOutOfTime(error)) return new ProviderFailure(`${placeOf(url)} did not answer in time`, 'silent');
  if (code === null) throw error;
  const [words, kind] = whatHappened(code);
  return new ProviderFailure(`${placeOf(url)} ${words} (${code})`, kind);
}

/** Where a request went, without its parameters. */
export function placeOf({ origin, pathname }: URL): string {
  return origin + pathname;
}

function isOutOfTime(error: unknown): boolean {
  return error instanceof DOMException && (error.name === 'TimeoutError' || error.name === 'AbortError');
}

/** `fetch` throws a TypeError whose cause is an error of the system, of OpenSSL, of zlib or of the HTTP client. */
function codeOf(error: unknown): string | null {
  const cause = error instanceof TypeError ? error.cause : null;
  if (!(cause instanceof Error)) return null;
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
}

function whatHappened(code: string): [words: string, kind?: FailureKind] {
  if (/^(?:ENOTFOUND|EAI_)/.test(code)) return ['has a name that cannot be resolved'];
  if (/CERT|ISSUER|SIGNATURE|ALTNAME/.test(code)) return ['has a certificate that is not trusted here', 'certificate'];
  if (/^(?:EPROTO|ERR_SSL|ERR_TLS)/.test(code)) return ['failed the TLS handshake', 'tls'];
  if (/^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT|bad port)/.test(code))
    return ['cannot be reached'];
  if (/^(?:Z_|ERR_BROTLI|ZSTD)/.test(code)) return ['sent data that cannot be decompressed'];
  return ['broke the connection'];
}
