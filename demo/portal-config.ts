import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Config, readConfig } from '#server/config/config.ts';

export const hubName = 'Quayside';
export const brand = '#1f5f8b';

const links = {
  support: 'mailto:support@quayside.example',
  imprint: 'https://quayside.example/imprint',
  solutions: 'https://quayside.example/',
};

type Place = { folder: string; port: number; hub: { port: number; secret: string } };

/** The configuration of the demo's portal, written to its folder and read as usual: nothing of it comes from the environment. */
export async function portalConfig({ folder, port, hub }: Place): Promise<Config> {
  const path = join(folder, 'demo.config.json');
  const behind = { url: `http://127.0.0.1:${hub.port}`, paths: ['/hub'] };
  await writeFile(path, JSON.stringify({ name: hubName, accentColour: brand, links, hub: behind }));
  const result = readConfig({
    PORT: String(port),
    PUBLIC_URL: `http://localhost:${port}`,
    VESTIBULE_DATA: join(folder, 'data'),
    VESTIBULE_CONFIG: path,
    VESTIBULE_HUB_SECRET: hub.secret,
  });
  if (result.kind === 'refused') throw new Error(result.problems.join('; '));
  return result.config;
}
