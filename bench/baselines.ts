// What ours is measured against, each in a process of its own that prints the port it listens on.
// Usage: node bench/baselines.ts server PLACE PASSWORD PORTAL-ORIGIN | hub | proxy HUB-ORIGIN | mailer PORT COUNT | sink PAUSE
import { randomBytes } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';
import { createInterface } from 'node:readline';
import { hash, verify } from '@node-rs/argon2';
import Fastify, { type FastifyInstance } from 'fastify';
import { createTransport } from 'nodemailer';
import { SMTPServer } from 'smtp-server';
import { readConfig } from '#server/config/config.ts';
import { connect } from '#server/database/connect.ts';
import { composeMail } from '#server/mail/compose-mail.ts';
import { mailsAtOnce } from '#server/mail/smtp-transport.ts';
import { mailOfBench } from './mails.ts';
import { encodedBytes } from './pages.ts';

const [what, ...words] = process.argv.slice(2) as [string, ...string[]];
process.on('SIGTERM', () => process.exit(0));
switch (what) {
  case 'server':
    await listen(await bareServer(...(words as [string, string, string])));
    break;
  case 'hub':
    await listen(bareHub());
    break;
  case 'proxy':
    await listen(bareProxy(...(words as [string])));
    break;
  case 'mailer':
    await sendMails(...(words as [string, string]));
    break;
  case 'sink':
    countMails(Number(words[0]));
    break;
}

async function listen(app: FastifyInstance): Promise<void> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  const address = app.server.address();
  process.stdout.write(`${JSON.stringify({ port: typeof address === 'object' ? address?.port : null })}\n`);
}

/** For the portal: minimal sign-in and session check routes, and the portal's own page. */
async function bareServer(place: string, password: string, portal: string): Promise<FastifyInstance> {
  const sql = connect(JSON.parse(place), { name: 'bare server' });
  await sql`create table if not exists bare_user (name text primary key, password_hash text not null)`;
  await sql`create table if not exists bare_session (token bytea primary key, name text not null, made_at timestamptz not null)`;
  const passwordHash = await hash(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  await sql`
    insert into bare_user select 'user-' || n, ${passwordHash} from generate_series(0, 99) n
    on conflict (name) do update set password_hash = excluded.password_hash`;
  const token = randomBytes(32);
  await sql`insert into bare_session values (${token}, 'user-0', ${new Date()})`;
  const page = await encodedBytes(`${portal}/portal/login`);

  const app = Fastify();
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
    done(null, Object.fromEntries(new URLSearchParams(body as string)));
  });
  app.post('/login', async (request, reply) => {
    const { username, password } = request.body as { username: string; password: string };
    const [user] = await sql`select password_hash from bare_user where name = ${username}`;
    if (!user || !(await verify(user.password_hash, password))) return reply.code(401).send();
    await sql`insert into bare_session values (${randomBytes(32)}, ${username}, ${new Date()})`;
    return reply.redirect('/', 303);
  });
  app.get('/session', async () => {
    const [session] = await sql`select name, made_at from bare_session where token = ${token}`;
    return session;
  });
  app.get('/page', async (_request, reply) =>
    reply.header('content-type', 'text/html; charset=utf-8').header('content-encoding', 'br').send(page),
  );
  app.get('/empty', async () => 'true');
  return app;
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

/** For the gate: passes everything on by Node's own client. */
function bareProxy(hub: string): FastifyInstance {
  const agent = new Agent({ keepAlive: true });
  const app = Fastify();
  app.all('/*', ({ raw: { method, url, headers } }, reply) => {
    reply.hijack();
    const outgoing = httpRequest(hub + url, { method, headers, agent }, (answer) => {
      reply.raw.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(reply.raw);
    });
    outgoing.on('error', () => reply.raw.destroy()).end();
  });
  return app;
}

/** The upper bound for mails: sends a number of them from memory, over as many connections as the portal. */
async function sendMails(port: string, count: string): Promise<void> {
  const result = readConfig({});
  if (result.kind === 'refused') throw new Error(result.problems.join('; '));
  const transport = createTransport({
    host: '127.0.0.1',
    port: Number(port),
    pool: true,
    maxConnections: mailsAtOnce,
    maxMessages: Number.POSITIVE_INFINITY,
    ignoreTLS: true,
  });
  const { subject, text, html } = composeMail(mailOfBench(), result.config);
  let left = Number(count);
  const sendOn = async () => {
    while (left > 0) {
      left -= 1;
      const { id, recipient } = mailOfBench();
      const messageId = `<${id}@localhost>`;
      await transport.sendMail({ from: 'no-reply@localhost', to: recipient, messageId, subject, text, html });
    }
  };
  await Promise.all(Array.from({ length: mailsAtOnce }, sendOn));
  transport.close();
}

/**
 * A mail server that accepts everything, after `pause` milliseconds, like one that writes to disk. Answers each input line with
 * what it received since the last one, as JSON.
 */
function countMails(pause: number): void {
  let ids: string[] = [];
  let first = 0;
  let last = 0;

  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, _session, done) {
      let head = '';
      stream.on('data', (chunk: Buffer) => {
        if (head.length < 4096) head += chunk.toString('latin1');
      });
      stream.on('end', () => {
        ids.push(/^Message-ID: (.*)\r$/im.exec(head)?.[1] ?? '');
        last = performance.now();
        first ||= last;
        if (pause === 0) done();
        else setTimeout(done, pause);
      });
    },
  });

  server.listen(0, '127.0.0.1', () => {
    const address = server.server.address();
    console.log(JSON.stringify({ port: typeof address === 'object' && address ? address.port : 0 }));
  });

  createInterface({ input: process.stdin }).on('line', (line) => {
    if (line === 'count') console.log(JSON.stringify({ count: ids.length }));
    else {
      console.log(JSON.stringify({ count: ids.length, distinct: new Set(ids).size, ms: last - first }));
      [ids, first, last] = [[], 0, 0];
    }
  });
}
