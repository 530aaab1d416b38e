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
  const checkFile = new Ajv({ allErrors: true }).compile<ConfigFile>(ConfigFile);
  if (checkFile(value)) return value;
  for (const { instancePath, message, params } of checkFile.errors ?? []) {
    const names = instancePath.split('/').slice(1);
    const unknown: string | undefined = params.additionalProperty;
    if (unknown !== undefined) names.push(unknown);
    const problem = unknown === undefined ? message?.replace('NOT', 'not') : 'is not a known setting';
    problems.push(`${names.join('.') || 'the file'}: ${problem}`);
    remove(value, names);
  }
  // What is left is checked as well, so that every problem is reported at once.
  const left: unknown = JSON.parse(JSON.stringify(value), (_, part) =>
    Array.isArray(part) ? part.filter((entry) => entry !== null) : part,
  );
  return checkFile(left) ? left : {};
}

/** Removes what a path leads to, if there is such a thing; an entry of a list becomes null. */
function remove(value: unknown, [name = '', ...rest]: string[]): void {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return;
  const parts = value as Record<string, unknown>;
  if (rest.length > 0) remove(parts[name], rest);
  else parts[name] = undefined;
}
