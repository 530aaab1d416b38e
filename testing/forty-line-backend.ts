import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { generateSync } from 'otplib';
import { brokenPasswordRules, defaultPasswordPolicy } from '#contract/password-rules.ts';

/** `secret`: of the app that the account has. `links`: reset links that are open, by their hashes. */
export type BackendUser = { password: string; secret?: string; mustRegister?: true; usedCode?: string };
export type BackendData = { users: Record<string, BackendUser>; links: Map<string, string> };

export const newSecret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const qrCode = 'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/%3E';

/** The calls of specification §7 in forty lines: a backend that is not ours, behind the pages and for `conformance`. */
export function fortyLineBackend({ users, links }: BackendData): Server {
  const sessions = new Map<string, BackendUser>();
  return createServer(async (request, answer) => {
    const { headers, method, url = '' } = request;
    const call = `${method} ${new URL(url, 'http://backend').pathname.slice('/portal/'.length)}`;
    const [body, id = ''] = [await text(request), headers.cookie?.match(/sid=([\w-]+)/)?.[1]];
    const [form, session] = [new URLSearchParams(body), sessions.get(id)];
    const field = (name: string) => form.get(name) ?? '';
    const send = (status: number, value: unknown) =>
      answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const goTo = (path: string, more = {}) => answer.writeHead(303, { location: `/portal/${path}`, ...more }).end();
    const isForeign = !['same-origin', 'none', undefined].includes(headers['sec-fetch-site'] as string);
    if (isForeign && /^POST|logout$/.test(call)) return send(403, 'from another site');
    switch (call) {
      case 'POST performlogin': {
        const user = users[field('username')];
        if (!user || user.password !== field('password')) return goTo('loginfail/default');
        const sid = randomUUID();
        sessions.set(sid, user);
        const destination = /^\/portal\/(.*)/.exec(field('redirectURL'))?.[1] ?? 'portal.html';
        const screen = user.secret ? 'twoFactor' : user.mustRegister && 'twoFactorRegistration';
        const next = screen ? `${screen}?redirectURL=${encodeURIComponent(`/portal/${destination}`)}` : destination;
        return goTo(next, { 'set-cookie': `sid=${sid}; Path=/; HttpOnly; SameSite=Lax` });
      }
      case 'POST authenticate/checkSsoLogin':
        return goTo('singleSignOn');
      case 'POST authenticate/performSsoLogin':
        return field('username').endsWith('@sso.test') ? goTo('authenticate/out') : goTo('loginfail/oidc');
      case 'POST password/forgotten':
        return field('username') ? goTo('emailInfo') : send(400, 'no username');
      case 'POST password/change': {
        const user = users[links.get(field('hash')) ?? ''];
        const [broken] = brokenPasswordRules(field('password'), field('password'), defaultPasswordPolicy);
        const reason = field('password') !== field('repeat') ? 5 : broken === 'weak' ? 1 : broken ? 9 : 0;
        if (!user || reason) return goTo(`forgottenChangeFailedInfo?reason=${user ? reason : 4}`);
        links.delete(field('hash'));
        user.password = field('password');
        return goTo('forgottenChangedInfo');
      }
      case 'GET two-factor-authentication/registration':
        return session?.mustRegister ? send(200, { url: qrCode, totpSecret: newSecret }) : send(401, 'no session');
      case 'POST two-factor-authentication/verify': {
        if (!session) return send(401, 'no session');
        const isRight =
          body === `"${generateSync({ secret: session.secret ?? newSecret })}"` && body !== session.usedCode;
        if (isRight) session.usedCode = body;
        return send(200, isRight);
      }
      case 'GET logout':
        sessions.delete(id);
        return goTo('login');
      case 'GET portal.html':
        return answer.end('<!doctype html><title>The hub</title><h1>The hub</h1>');
      default:
        return send(404, 'no such call');
    }
  });
}
