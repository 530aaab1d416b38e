import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Config, readConfig } from '#server/config/config.ts';
import { loopbackNames } from '#server/config/public-url.ts';

export const hubName = 'Quayside';
export const brand = '#1f5f8b';

const links = {
  imprint: 'https://quayside.example/imprint',
  solutions: 'https://quayside.example/',
};

type Placed = {
  folder: string;
  /** The port that the portal itself listens on, by http. */
  port: number;
  /** The address that browsers know it by. */
  publicUrl: string;
  hub: { port: number; secret: string };
  /** Where "Contact support" leads. */
  support: string;
};

/** The configuration of the demo's portal, written to its folder and read as usual: nothing of it comes from the environment. */
export async function portalConfig({ folder, port, publicUrl, hub, support }: Placed): Promise<Config> {
  const path = join(folder, 'demo.config.json');
  const behind = {
    url: `http://127.0.0.1:${hub.port}`,
    paths: ['/hub'],
    audience: 'quayside',
    audiences: [{ name: 'quayside' }],
  };
  await writeFile(path, JSON.stringify({ name: hubName, accentColour: brand, links, hub: behind }));
  const result = readConfig({
    PORT: String(port),
    PUBLIC_URL: publicUrl,
    VESTIBULE_DATA: join(folder, 'data'),
    VESTIBULE_CONFIG: path,
    VESTIBULE_HUB_SECRET: hub.secret,
  });
  if (result.kind === 'refused') throw new Error(result.problems.join('; '));
  // Not a link that a real portal may have, since it is no https on this machine.
  result.config.brand.branding.links.support = support;
  return result.config;
}

/** What the demo makes for itself, and only a real portal is given. */
const ofRealPortals = {
  DATABASE_URL: 'the demo makes a database of its own',
  VESTIBULE_SECRET: 'the demo makes a secret of its own',
  VESTIBULE_HUB_SECRET: 'the demo makes a secret of its own',
  SMTP_URL: 'the demo sends no emails and shows them on a page',
  METRICS_TOKEN: 'the demo has no metrics',
  VESTIBULE_CONFIG: 'the demo writes a configuration of its own',
  VESTIBULE_DATA: 'the demo makes a folder of its own and deletes it',
};

/** Why the demo must not run here: each setting of a real portal, with what to know of it. Empty if there is none. */
export function productionSettings(env: NodeJS.ProcessEnv, workingFolder: string): string[] {
  const problems = Object.entries(ofRealPortals).flatMap(([name, why]) =>
    env[name] ? [`${name} is set: ${why}`] : [],
  );
  if (env.PUBLIC_URL && !loopbackNames.includes(URL.parse(env.PUBLIC_URL)?.hostname ?? ''))
    problems.push(`PUBLIC_URL is ${env.PUBLIC_URL}: the demo is for this machine alone, at localhost`);
  if (env.HOST && !['127.0.0.1', 'localhost'].includes(env.HOST))
    problems.push(`HOST is ${env.HOST}: the demo listens on 127.0.0.1 alone`);
  if (env.NODE_ENV === 'production') problems.push('NODE_ENV is production: the demo is not');
  if (existsSync(join(workingFolder, 'vestibule.config.json')))
    problems.push('vestibule.config.json is in this folder: a portal is operated from here');
  return problems;
}
