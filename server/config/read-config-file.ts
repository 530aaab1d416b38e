import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { type ConfigFile, ConfigFile as ConfigFileSchema } from './config-file.ts';

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
