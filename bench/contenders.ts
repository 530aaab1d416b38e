import type { Request } from 'autocannon';
import type { Place } from '#server/database/database.ts';
import { formHeaders, formOf, password, userCount } from './people.ts';
import { type RunningServer, startScript } from './servers.ts';

/** Ours, a floor or a peer: somebody who signs people in and says who is there. */
export type Contender = {
  is: string;
  origin: string;
  /** The request that signs a user in, and the status of its good answer. */
  signIn: (username: string) => Request;
  signedIn: number;
  sessionPath: string;
  /** The sign-in page; Better Auth leaves it to the application. */
  page?: string;
};

export function ours({ origin }: RunningServer): Contender {
  return {
    is: 'ours',
    origin,
    signIn: (username) => ({
      method: 'POST',
      path: '/portal/performlogin',
      headers: formHeaders,
      body: formOf(username),
    }),
    signedIn: 303,
    sessionPath: '/portal/session',
    page: '/portal/login',
  };
}

export function floor({ origin }: RunningServer): Contender {
  return {
    is: 'bare route',
    origin,
    signIn: (username) => ({ method: 'POST', path: '/login', headers: formHeaders, body: formOf(username) }),
    signedIn: 303,
    sessionPath: '/session',
    page: '/page',
  };
}

const script = 'bench/peers/serve.ts';

export async function startBetterAuth(place: Place): Promise<Contender & RunningServer> {
  const server = await startScript([script, 'better-auth', password, String(userCount)], place);
  const headers = { 'content-type': 'application/json', origin: server.origin };
  return {
    ...server,
    is: 'Better Auth',
    signIn: (username) => ({
      method: 'POST',
      path: '/api/auth/sign-in/email',
      headers,
      body: JSON.stringify({ email: `${username}@acme.test`, password }),
    }),
    signedIn: 200,
    sessionPath: '/api/auth/get-session',
  };
}

export async function startAuthJs(place: Place): Promise<Contender & RunningServer> {
  const server = await startScript([script, 'auth-js', password, String(userCount)], place);
  // Every form shows the token of its browser; here one will do for all.
  const answer = await fetch(`${server.origin}/auth/csrf`);
  const { csrfToken } = (await answer.json()) as { csrfToken: string };
  const headers = { ...formHeaders, cookie: cookiesOf(answer) };
  return {
    ...server,
    is: 'Auth.js',
    signIn: (username) => ({
      method: 'POST',
      path: '/auth/callback/credentials',
      headers,
      body: `${formOf(username)}&csrfToken=${csrfToken}`,
    }),
    signedIn: 302,
    sessionPath: '/auth/session',
    page: '/auth/signin',
  };
}

/** Signs every user in once, and returns the Cookie header of each; throws unless it is theirs. */
export async function sessionsOf({ is, origin, signIn, sessionPath }: Contender): Promise<string[]> {
  const cookies: string[] = [];
  for (let index = 0; index < userCount; index += 1) {
    const username = `user-${index}`;
    const { path, ...request } = signIn(username);
    const answer = await fetch(origin + path, { ...request, redirect: 'manual' } as RequestInit);
    await answer.arrayBuffer();
    const cookie = cookiesOf(answer);
    const checked = await (await fetch(origin + sessionPath, { headers: { cookie } })).text();
    if (!checked.includes(`"${username}"`)) throw new Error(`${is} did not sign ${username} in: ${checked}`);
    cookies.push(cookie);
  }
  return cookies;
}

export function cookiesOf({ headers }: Response): string {
  return headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ');
}
