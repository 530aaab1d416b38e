/** What the URL parser makes of an address; null where it refuses. Browsers have `URL.parse` too late (docs/browsers.md). */
export function parseUrl(address: string, base?: string): URL | null {
  try {
    return new URL(address, base);
  } catch {
    return null;
  }
}
