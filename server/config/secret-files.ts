import { readFileSync } from 'node:fs';

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
