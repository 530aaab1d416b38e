/** A query's parameter, or null. */
export function parameterOf(search: string, name: string): string | null {
  return new URLSearchParams(search).get(name);
}

/** The query without the named parameters, else left letter for letter (`?3` stays `?3`). */
export function withoutParameters(search: string, names: readonly string[]): string {
  const kept = entriesOf(search).filter((entry) => !names.includes(nameOf(entry)));
  return kept.length === entriesOf(search).length ? search : joined(kept);
}

/** The query with the named parameters of another one, where it does not have them itself. */
export function withParametersOf(search: string, other: string, names: readonly string[]): string {
  const missing = entriesOf(other).filter((entry) => {
    const name = nameOf(entry);
    return names.includes(name) && parameterOf(search, name) === null;
  });
  return missing.length === 0 ? search : joined([...entriesOf(search), ...missing]);
}

/** The query with one parameter set. */
export function withParameter(search: string, name: string, value: string): string {
  return joined([...entriesOf(withoutParameters(search, [name])), `${name}=${encodeURIComponent(value)}`]);
}

function entriesOf(search: string): string[] {
  return search.replace(/^\?/, '').split('&').filter(Boolean);
}

function nameOf(entry: string): string {
  return new URLSearchParams(entry).keys().next().value ?? '';
}

function joined(entries: readonly string[]): string {
  return entries.length === 0 ? '' : `?${entries.join('&')}`;
}

/** The route inside a fragment: `#/login?x=1` → `/login`. */
export function pathOfHash(hash: string): string {
  return hash.slice(1).split('?', 1)[0] ?? '';
}

/** The query inside a fragment: `#/login?x=1` → `?x=1`. */
export function searchOfHash(hash: string): string {
  const start = hash.indexOf('?');
  return start < 0 ? '' : hash.slice(start);
}
