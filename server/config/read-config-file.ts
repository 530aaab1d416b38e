import { existsSync } from 'node:fs';
import { Ajv, type AnySchemaObject, type ErrorObject } from 'ajv';
import schema from '../../vestibule.config.schema.json' with { type: 'json' };
import { readTextFile } from './read-text-file.ts';

/** What a schema admits, told by its members: of a JSON file TypeScript knows no values. */
type Admitted<Schema> = Schema extends { properties: infer Properties }
  ? { [Name in keyof Properties]?: Admitted<Properties[Name]> }
  : Schema extends { additionalProperties: infer Value }
    ? Record<string, Admitted<Value>>
    : Schema extends { items: infer Item }
      ? Admitted<Item>[]
      : Schema extends { minimum: number }
        ? number
        : Schema extends { default: boolean }
          ? boolean
          : string;

/** The settings of the configuration file. */
export type ConfigFile = Admitted<typeof schema>;

export const defaultConfigFile = './vestibule.config.json';

/**
 * Reads the configuration file `named` in the environment, or that of the working directory if there is one. Adds every
 * problem to `problems`, each naming its setting and what is allowed.
 */
export function readConfigFile(named: string | undefined, problems: string[]): ConfigFile {
  const path = named ?? defaultConfigFile;
  if (!named && !existsSync(path)) return {};
  const text = readTextFile(path);
  if (text.kind === 'refused') {
    problems.push(`VESTIBULE_CONFIG: ${text.problem}`);
    return {};
  }
  let value: unknown;
  try {
    value = JSON.parse(text.value);
  } catch (error) {
    problems.push(`the file: is not valid JSON (${(error as Error).message})`);
    return {};
  }
  // Its dialect is for editors: the keywords it uses mean the same in this library's.
  const ajv = new Ajv({ allErrors: true, verbose: true, validateSchema: false });
  const isConfigFile = ajv.compile<ConfigFile>(schema);
  if (isConfigFile(value)) return value;
  problems.push(...(isConfigFile.errors ?? []).map(problemOf));
  return {};
}

function problemOf({ keyword, instancePath, message, params, parentSchema }: ErrorObject): string {
  const path = instancePath.split('/').slice(1);
  const { additionalProperty: unknown } = params as { additionalProperty?: string };
  const { properties = {}, minimum, maximum, examples } = parentSchema as AnySchemaObject;
  if (unknown !== undefined)
    return `${[...path, unknown].join('.')}: is not a known setting${didYouMean(unknown, Object.keys(properties))}`;
  const setting = path.join('.') || 'the file';
  if (minimum !== undefined) return `${setting}: must be a whole number from ${minimum} to ${maximum}`;
  if (keyword === 'pattern' && examples) return `${setting}: must be like ${JSON.stringify(examples[0])}`;
  return `${setting}: ${message?.replace('NOT', 'not')}`;
}

/** The name that is meant, as the end of a sentence; all of them if none is similar, and they are few. */
export function didYouMean(name: string, known: readonly string[]): string {
  const [best = name] = known.toSorted((one, other) => likeness(other, name) - likeness(one, name));
  if (likeness(best, name) >= 0.6) return ` – did you mean ${best}?`;
  return known.length < 20 ? ` – known are ${known.filter((one) => !one.startsWith('$')).join(', ')}` : '';
}

/** How much of two names is the same at their beginning and end: 1 is all. */
function likeness(one: string, other: string): number {
  let [start, end] = [0, 0];
  const shorter = Math.min(one.length, other.length);
  while (start < shorter && one[start] === other[start]) start += 1;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  return (start + end) / Math.max(one.length, other.length);
}

const secretNames = ['DATABASE_URL', 'VESTIBULE_SECRET', 'SMTP_URL', 'METRICS_TOKEN'] as const;

/**
 * The environment as it is meant: values without white space around them, and no empty ones, which is how compose files
 * pass what is not set. Secrets, which containers and systemd keep in files, come from those that `<NAME>_FILE` names.
 */
export function readEnvironment(given: NodeJS.ProcessEnv, problems: string[]): NodeJS.ProcessEnv {
  const trimmed = Object.entries(given).map(([name, value]) => [name, value?.trim()]);
  const env: NodeJS.ProcessEnv = Object.fromEntries(trimmed.filter(([, value]) => value));
  for (const name of secretNames) {
    const path = env[`${name}_FILE`];
    if (!path) continue;
    if (env[name]) problems.push(`${name}_FILE: ${name} is set as well; remove one of them`);
    const text = readTextFile(path);
    if (text.kind === 'refused') problems.push(`${name}_FILE: ${text.problem}`);
    else env[name] = text.value.trim();
    if (env[name] === '') problems.push(`${name}_FILE: ${path} is empty`);
  }
  return env;
}
