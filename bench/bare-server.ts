// The baseline for the portal: a bare Fastify with minimal sign-in and session check routes, and the portal's own page.
// Usage: node bench/bare-server.ts PLACE PASSWORD PORTAL-ORIGIN
import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import Fastify from 'fastify';
import { connect } from '#server/database/connect.ts';
import { encodedBytes } from './encoded-bytes.ts';

const sql = connect(JSON.parse(process.argv[2] ?? '{}'), { name: 'bare server' });
const app = Fastify();

await sql`create table if not exists bare_user (name text primary key, password_hash text not null)`;
await sql`create table if not exists bare_session (token bytea primary key, name text not null, made_at timestamptz not null)`;
const passwordHash = await hash(process.argv[3] ?? '', { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
await sql`
  insert into bare_user select 'user-' || n, ${passwordHash} from generate_series(0, 99) n
  on conflict (name) do update set password_hash = excluded.password_hash`;
const token = randomBytes(32);
await sql`insert into bare_session values (${token}, 'user-0', ${new Date()})`;

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
const page = await encodedBytes(`${process.argv[4]}/portal/login`);
app.get('/page', async (_request, reply) =>
  reply.header('content-type', 'text/html; charset=utf-8').header('content-encoding', 'br').send(page),
);
app.get('/empty', async () => 'true');
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
process.stdout.write(`${JSON.stringify({ port: typeof address === 'object' ? address?.port : null })}\n`);
process.on('SIGTERM', () => process.exit(0));
