import { Ajv } from 'ajv';

/** It compiles each schema once. */
const ajv = new Ajv({ allErrors: true });

/**
 * A value as far as it fits a schema: what does not fit is left out and added to `problems`, each naming its setting;
 * `whole` names the value itself. Null if nothing is left of it.
 */
export function checkSchema<T extends object>(
  schema: object,
  value: unknown,
  whole: string,
  problems: string[],
): T | null {
  const check = ajv.compile<T>(schema);
  if (check(value)) return value;
  for (const { instancePath, message, params } of check.errors ?? []) {
    const names = instancePath.split('/').slice(1).map(unescaped);
    const unknown: string | undefined = params.additionalProperty;
    if (unknown !== undefined) names.push(unknown);
    const problem = unknown === undefined ? message?.replace('NOT', 'not') : 'is not a known setting';
    problems.push(`${names.join('.') || whole}: ${problem}`);
    remove(value, names);
  }
  // What is left is checked as well, so that every problem is reported at once.
  const left: unknown = JSON.parse(JSON.stringify(value), (_, part) =>
    Array.isArray(part) ? part.filter((entry) => entry !== null) : part,
  );
  return check(left) ? left : null;
}

/** A name within a JSON pointer (RFC 6901 §4). */
function unescaped(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Removes what a path leads to, if there is such a thing; an entry of a list becomes null. */
function remove(value: unknown, [name = '', ...rest]: string[]): void {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return;
  const parts = value as Record<string, unknown>;
  if (rest.length > 0) remove(parts[name], rest);
  else parts[name] = undefined;
}
