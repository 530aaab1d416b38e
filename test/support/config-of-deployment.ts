import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConfigResult, readConfig } from '#server/config/config.ts';

/** Valid contents of the files that hold secrets, by the last part of their names. */
const secrets: Record<string, string> = {
  'database-url': 'postgres://vestibule:pw@database:5432/vestibule',
  'vestibule-secret': 'x'.repeat(43),
  'smtp-url': 'smtps://smtp.example.com',
  'metrics-token': 't'.repeat(24),
};

/** What the server makes of an environment of deploy/, with the files that it names: secrets by name, and the one given. */
export async function configOfDeployment(
  env: Record<string, string>,
  configFile: string | null,
): Promise<ConfigResult> {
  const folder = await mkdtemp(join(tmpdir(), 'vestibule-deployed-'));
  try {
    const here: Record<string, string> = { ...env };
    for (const [name, path] of Object.entries(env)) {
      if (!path.startsWith('/')) continue;
      const last = path.split('/').at(-1) ?? '';
      const text = name === 'VESTIBULE_CONFIG' ? configFile : secrets[last];
      if (text === undefined || text === null) throw new Error(`nobody makes ${path}`);
      here[name] = join(folder, last);
      await writeFile(here[name], text);
    }
    return readConfig(here);
  } finally {
    await rm(folder, { recursive: true });
  }
}
