// Serves sign-ins and session checks by a peer, as its own documentation has it, on the PostgreSQL that the environment
// names and with our argon2id parameters; prints its port. Usage: node bench/peers/serve.ts better-auth|auth-js PASSWORD COUNT
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Auth, type AuthConfig } from '@auth/core';
import Credentials from '@auth/core/providers/credentials';
import { hash, verify } from '@node-rs/argon2';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { toNodeHandler } from 'better-auth/node';
import pg from 'pg';

const [peer, password = '', count = '0'] = process.argv.slice(2);
const secret = 'a secret of the bench, of 32 characters at least';
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const pool = new pg.Pool({ max: 10, options: '-c search_path=peer' });
await pool.query('create schema if not exists peer');

const server = createServer();
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
const handler = await (peer === 'better-auth' ? byBetterAuth : byAuthJs)();
server.on('request', handler);
process.on('SIGTERM', () => process.exit(0));
process.stdout.write(`${JSON.stringify({ port })}\n`);

async function byBetterAuth(): Promise<RequestListener> {
  const auth = betterAuth({
    baseURL: `http://localhost:${port}`,
    secret,
    database: pool,
    emailAndPassword: {
      enabled: true,
      password: {
        hash: (password) => hash(password, parameters),
        verify: ({ hash, password }) => verify(hash, password),
      },
    },
    // It would count the bench, which has one address, as an attack.
    rateLimit: { enabled: false },
    logger: { disabled: true },
  });
  await (await getMigrations(auth.options)).runMigrations();
  for (const name of names()) await auth.api.signUpEmail({ body: { name, email: `${name}@acme.test`, password } });
  return toNodeHandler(auth);
}

/** Its users are stored by the application, and its sessions in the cookie: it offers nothing else for passwords. */
async function byAuthJs(): Promise<RequestListener> {
  await pool.query(
    'create table auth_js_user (name text primary key, email text not null, password_hash text not null)',
  );
  const passwordHash = await hash(password, parameters);
  for (const name of names())
    await pool.query('insert into auth_js_user values ($1, $2, $3)', [name, `${name}@acme.test`, passwordHash]);
  const config: AuthConfig = {
    basePath: '/auth',
    secret,
    trustHost: true,
    session: { strategy: 'jwt' },
    providers: [
      Credentials({
        credentials: { username: {}, password: { type: 'password' } },
        authorize: async ({ username, password }) => {
          const { rows } = await pool.query('select name, email, password_hash from auth_js_user where name = $1', [
            username,
          ]);
          const [user] = rows;
          if (!user || !(await verify(user.password_hash, String(password)))) return null;
          return { id: user.name, name: user.name, email: user.email };
        },
      }),
    ],
  };
  return toNodeHandler((request: Request) => Auth(request, config));
}

function names(): string[] {
  return Array.from({ length: Number(count) }, (_, index) => `user-${index}`);
}
