import { existsSync } from 'node:fs';
import { Ajv } from 'ajv';
import { type ConfigFile, ConfigFile as ConfigFileSchema } from './config-file.ts';
import { readTextFile } from './read-text-file.ts';

/**
 * Reads the configuration file `named` in the environment, or that of the working directory if there is one. Adds every
 * problem to `problems`, each naming its setting.
 */
export function readConfigFile(named: string | undefined, problems: string[]): ConfigFile {
  const path = named ?? './vestibule.config.json';
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
    problems.push(`${path}: not valid JSON (${(error as Error).message})`);
    return {};
  }
  const isConfigFile = new Ajv({ allErrors: true }).compile<ConfigFile>(ConfigFileSchema);
  if (isConfigFile(value)) return value;
  for (const { instancePath, message, params } of isConfigFile.errors ?? []) {
    const { additionalProperty: unknown } = params as { additionalProperty?: string };
    const names = [...instancePath.split('/').slice(1), ...(unknown === undefined ? [] : [unknown])];
    problems.push(
      `${names.join('.') || 'the file'}: ${unknown === undefined ? message?.replace('NOT', 'not') : 'is not a known setting'}`,
    );
  }
  return {};
}

/** The variables that hold a secret, and may be in a file instead. */
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
