/** The parsed URL, or null if it is invalid. `URL.parse` is too new for some browsers (docs/browsers.md). */
export function parseUrl(address: string, base?: string): URL | null {
  try {
    return new URL(address, base);
  } catch {
    return null;
  }
}
