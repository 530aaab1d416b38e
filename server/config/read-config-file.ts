import { readFileSync } from 'node:fs';
import { checkSchema } from './check-schema.ts';
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
