import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { ConfigFile } from './config-file.ts';

/**
 * Reads the configuration file `named` in the environment, or that of the working directory if there is one. Adds every
 * problem to `problems`, each naming its setting.
 */
export function readConfigFile(named: string | undefined, problems: string[]): ConfigFile {
  const path = named || './vestibule.config.json';
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (!named && (error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    problems.push(`VESTIBULE_CONFIG: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
    return {};
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    problems.push(`${path}: not valid JSON (${(error as Error).message})`);
    return {};
  }
  return checkSchema<ConfigFile>(ConfigFile, value, 'the file', problems) ?? {};
}

/** It compiles each schema once. */
const ajv = new Ajv({ allErrors: true });

/**
 * A value as far as it fits a schema: what does not fit is left out and added to `problems`, each naming its setting;
 * `whole` names the value itself. Null if nothing is left of it.
 */
function checkSchema<T extends object>(schema: object, value: unknown, whole: string, problems: string[]): T | null {
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

/** The variables that hold a secret, and may be in a file instead. */
const secretNames = ['DATABASE_URL', 'VESTIBULE_SECRET', 'SMTP_URL', 'METRICS_TOKEN'] as const;

/**
 * The environment with the contents of the files that `<NAME>_FILE` names, for secrets that containers and systemd keep in
 * files. White space around the contents does not count.
 */
export function withSecretFiles(env: NodeJS.ProcessEnv, problems: string[]): NodeJS.ProcessEnv {
  const read: NodeJS.ProcessEnv = {};
  for (const name of secretNames) {
    const path = env[`${name}_FILE`];
    if (!path) continue;
    if (env[name]) problems.push(`${name}_FILE: ${name} is set as well; remove one of them`);
    try {
      read[name] = readFileSync(path, 'utf8').trim();
    } catch (error) {
      problems.push(`${name}_FILE: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
      continue;
    }
    if (!read[name]) problems.push(`${name}_FILE: ${path} is empty`);
  }
  return { ...env, ...read };
}
