import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { type CuttableDatabase, cuttableDatabase } from '#testing/cuttable-database.ts';
import { type DatabaseForTest, databaseForTest } from '#testing/database-for-test.ts';
import { freePort } from '#testing/free-port.ts';
import { type PortalForTest, testPassword } from '#testing/portal-for-test.ts';
import { type PortalProcess, portalProcess } from '#testing/portal-process.ts';
import { type ReceivedSpan, type TraceCollector, traceCollector } from '#testing/trace-collector.ts';

let database: DatabaseForTest;
let wire: CuttableDatabase;
let folder: string;
let collector: TraceCollector;
let running: PortalProcess | undefined;
beforeAll(async () => {
  database = await databaseForTest();
  wire = await cuttableDatabase(database);
  folder = await mkdtemp(join(tmpdir(), 'vestibule-traces-'));
  await writeFile(join(folder, 'config.json'), JSON.stringify({ trustedProxies: ['127.0.0.1', '::1'] }));
  const portal = { sql: database.sql } as PortalForTest;
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'bob' });
});
beforeEach(async () => {
  collector = await traceCollector();
});
afterEach(async () => {
  running?.child.kill('SIGKILL');
  await collector.close();
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await wire.close();
  await database.close();
});

async function start(env: Record<string, string>): Promise<PortalProcess> {
  running = await portalProcess(wire.url, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env } });
  return running;
}

const behindProxy = () => ({ VESTIBULE_CONFIG: join(folder, 'config.json') });
const fromProxy = { 'x-forwarded-for': '203.0.113.77' };
const theirTrace = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = (sent: '00' | '01') => ({ traceparent: `00-${theirTrace}-00f067aa0ba902b7-${sent}` });

async function signIn({ origin }: PortalProcess, headers: Record<string, string> = {}) {
  return await fetch(`${origin}/portal/performlogin?token=CanaryQuery`, {
    method: 'POST',
    headers,
    body: new URLSearchParams({ username: 'bob', password: testPassword }),
    redirect: 'manual',
  });
}

/** Stops the portal, which sends what it has, and returns the spans. */
async function spansAfterStop({ child, exit }: PortalProcess): Promise<ReceivedSpan[]> {
  child.kill('SIGTERM');
  expect(await exit).toEqual({ code: 0, signal: null });
  return collector.spans;
}

const named = (spans: ReceivedSpan[], name: string) => spans.filter((span) => span.name === name);

describe('traces', () => {
  it('show a request by the name of its route, with its statements and hash', async () => {
    const portal = await start({ OTEL_SERVICE_NAME: 'the-door', OTEL_RESOURCE_ATTRIBUTES: 'deployment=blue' });
    expect((await signIn(portal)).status).toBe(303);
    const spans = await spansAfterStop(portal);
    const [request] = named(spans, 'POST performLogin');
    expect(request?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/portal/performlogin',
      'http.response.status_code': 303,
    });
    expect(request?.resource).toMatchObject({ 'service.name': 'the-door', deployment: 'blue' });
    const inside = spans.filter(({ parentSpanId }) => parentSpanId === request?.spanId);
    expect(named(inside, 'password hash')).toHaveLength(1);
    expect(named(inside, 'statement').length).toBeGreaterThanOrEqual(2);
    expect(named(inside, 'statement')[0]?.attributes['db.query.text']).toMatch(/^(?:with|select|insert) /);
    expect(new Set(inside.map(({ traceId }) => traceId))).toEqual(new Set([request?.traceId]));
  });

  it('contain nothing that a visitor sent, and nobody’s address', async () => {
    const portal = await start(behindProxy());
    await signIn(portal, { ...fromProxy, 'user-agent': 'CanaryAgent' });
    await fetch(`${portal.origin}/portal/CanaryPath/x`, { headers: fromProxy });
    await fetch(`${portal.origin}/CanaryPath`, { headers: fromProxy });
    const spans = await spansAfterStop(portal);
    expect(named(spans, 'GET none')).toHaveLength(1);
    expect(collector.text()).not.toMatch(/Canary|203\.0\.113|\bbob\b|Lantern/);
  });

  it('continue the trace of a trusted proxy, and are sent only if it sends its own', async () => {
    const portal = await start(behindProxy());
    await signIn(portal, { ...fromProxy, ...traceparent('01') });
    await fetch(`${portal.origin}/portal/session`, { headers: { ...fromProxy, ...traceparent('00') } });
    const spans = await spansAfterStop(portal);
    expect(named(spans, 'POST performLogin')[0]).toMatchObject({
      traceId: theirTrace,
      parentSpanId: '00f067aa0ba902b7',
    });
    expect(named(spans, 'GET session')).toEqual([]);
  });

  it('ignore the trace that a client names', async () => {
    const portal = await start({});
    await signIn(portal, traceparent('00'));
    const [request] = named(await spansAfterStop(portal), 'POST performLogin');
    expect(request?.parentSpanId).toBe('');
    expect(request?.traceId).not.toBe(theirTrace);
  });

  it.each([
    [{ OTEL_SDK_DISABLED: 'true' }],
    [{ OTEL_TRACES_EXPORTER: 'none' }],
    [{ OTEL_TRACES_SAMPLER: 'always_off' }],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }],
  ])('are not sent with %o', async (env) => {
    const portal = await start(env);
    await signIn(portal);
    expect(await spansAfterStop(portal)).toEqual([]);
  });

  it('are lost, and nothing else, while the collector is away', async () => {
    const port = await freePort();
    const portal = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    });
    expect((await signIn(portal)).status).toBe(303);
    await expect.poll(portal.output, { timeout: 30_000 }).toContain('the trace collector is down');
    expect((await signIn(portal)).status).toBe(303);
    await spansAfterStop(portal);
  });

  it('show a database that is away as a failure, without its words', async () => {
    const portal = await start({});
    wire.cut();
    expect((await signIn(portal)).status).toBe(503);
    wire.mend();
    const spans = await spansAfterStop(portal);
    expect(named(spans, 'POST performLogin')[0]?.status).toBe(2);
    expect(named(spans, 'statement').some(({ status }) => status === 2)).toBe(true);
  });

  it('cost nothing without a collector: the library is not loaded', async () => {
    const preload = `
      import { registerHooks } from 'node:module';
      registerHooks({ resolve: (name, context, next) => {
        if (/sdk-trace|exporter-trace/.test(name)) console.log('loads ' + name);
        return next(name, context);
      } });`;
    const plain = await portalProcess(wire.url, { preload });
    await spansAfterStop(plain);
    expect(plain.output()).not.toContain('loads ');
    const traced = await portalProcess(wire.url, { preload, env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
    await spansAfterStop(traced);
    expect(traced.output()).toContain('loads @opentelemetry/sdk-trace');
  });
});

it.each([
  [{ OTEL_TRACES_SAMPLER: 'sometimes' }, 'OTEL_TRACES_SAMPLER: must be one of'],
  [{ OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1'],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL: only http/protobuf'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT: must be an address'],
])('a portal with %o does not start, and says why', async (env, words) => {
  await expect(start(env)).rejects.toThrow(words);
});
