// What ours is measured against, each in a process of its own that prints the port it listens on: the least that does the same.
// Usage: node bench/floors.ts server PASSWORD-HASH PORTAL-ORIGIN HUB-ORIGIN | hub
import { randomBytes } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';
import { verify } from '@node-rs/argon2';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import pg from 'pg';
import { userCount } from './people.ts';

const [what, ...words] = process.argv.slice(2) as [string, ...string[]];
process.on('SIGTERM', () => process.exit(0));
const app = what === 'hub' ? bareHub() : await bareServer(...(words as [string, string, string]));
const address = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ port: Number(new URL(address).port) })}\n`);

/** Sign-ins, session checks, a page and a proxy, each with the fewest steps, on the database that the environment names. */
async function bareServer(passwordHash: string, portal: string, hub: string): Promise<FastifyInstance> {
  const pool = new pg.Pool({ max: 10, pipeline: true, options: '-c plan_cache_mode=force_generic_plan' });
  await pool.query(`
    create table floor_user (name text primary key, password_hash text not null);
    create table floor_session (token bytea primary key, name text not null, made_at timestamptz not null)`);
  await pool.query(`insert into floor_user select 'user-' || n, $1 from generate_series(0, $2::int - 1) n`, [
    passwordHash,
    userCount,
  ]);
  const headers = { 'accept-encoding': 'br', accept: 'text/html', 'accept-language': 'en' };
  const page = await rawAnswer(`${portal}/portal/login`, headers);

  const app = Fastify();
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
    done(null, Object.fromEntries(new URLSearchParams(body as string)));
  });
  app.post('/login', async (request, reply) => {
    const { username, password } = request.body as { username: string; password: string };
    const text = 'select password_hash from floor_user where name = $1';
    const [user] = (await pool.query({ name: 'user', text, values: [username] })).rows;
    if (!user || !(await verify(user.password_hash, password))) return reply.code(401).send();
    const token = randomBytes(32);
    const insert = 'insert into floor_session values ($1, $2, $3)';
    await pool.query({ name: 'insert', text: insert, values: [token, username, new Date()] });
    return reply.header('set-cookie', `session=${token.toString('base64url')}; HttpOnly`).redirect('/', 303);
  });
  app.get('/session', async (request, reply) => (await sessionOf(request)) ?? reply.code(401).send());
  app.get('/page', async (_request, reply) =>
    reply.header('content-type', 'text/html; charset=utf-8').header('content-encoding', 'br').send(page),
  );
  const agent = new Agent({ keepAlive: true });
  app.all('/app/*', async (request, reply) => {
    if (!(await sessionOf(request))) return reply.code(401).send();
    const { method, url, headers } = request.raw;
    reply.hijack();
    const outgoing = httpRequest(hub + url, { method, headers, agent }, (answer) => {
      reply.raw.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(reply.raw);
    });
    outgoing.on('error', () => reply.raw.destroy()).end();
    return reply;
  });
  return app;

  async function sessionOf({ headers }: FastifyRequest): Promise<object | undefined> {
    const [, token = ''] = /^session=([\w-]+)/.exec(headers.cookie ?? '') ?? [];
    const text = 'select name, made_at from floor_session where token = $1';
    return (await pool.query({ name: 'session', text, values: [Buffer.from(token, 'base64url')] })).rows[0];
  }
}

/** An answer's body as it was sent; fetch would decode it. */
async function rawAnswer(url: string, headers: Record<string, string>): Promise<Buffer> {
  return await new Promise((resolve, reject) => {
    const asked = httpRequest(url, { headers }, async (answer) => resolve(Buffer.concat(await answer.toArray())));
    asked.on('error', reject).end();
  });
}

/** Behind the gate and behind the bare proxy: a small page. */
function bareHub(): FastifyInstance {
  const page = Buffer.alloc(2048, 'a page of the hub ');
  const app = Fastify();
  app.all('/*', (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, { 'content-type': 'text/html', 'content-length': page.length }).end(page);
  });
  return app;
}
