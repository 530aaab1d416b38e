import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { generateSync } from 'otplib';
import { brokenPasswordRules, defaultPasswordPolicy } from '#contract/password-rules.ts';

/** `secret`: of the app that the account has. `links`: reset links that are open, by their hashes. */
type BackendUser = { password: string; secret?: string; mustRegister?: true; usedCode?: string };
export type BackendData = { users: Record<string, BackendUser>; links: Map<string, string> };

export const newSecret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const qrCode = 'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/%3E';

/** The calls of specification §7 in forty lines: a backend that is not ours, behind the pages. */
export function fortyLineBackend({ users, links }: BackendData): Server {
  const sessions = new Map<string, BackendUser>();
  return createServer(async (request, reply) => {
    const call = `${request.method} ${request.url?.replace(/^\/portal\/|\?.*/g, '')}`;
    const body = await text(request);
    const field = (name: string) => new URLSearchParams(body).get(name) ?? '';
    const [, id = ''] = /sid=([\w-]+)/.exec(request.headers.cookie ?? '') ?? [];
    const session = sessions.get(id);
    const send = (status: number, value: unknown) =>
      reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const go = (to = '', add = {}) => reply.writeHead(303, { location: to.replace(/^\b/, '/portal/'), ...add }).end();
    if (request.headers['sec-fetch-site'] === 'cross-site' && /^POST|logout$/.test(call)) return send(403, 'not you');
    if (call === 'POST performlogin') {
      const user = users[field('username')];
      if (!user || user.password !== field('password')) return go('loginfail/default');
      const destination = /^\/(?![/\\]).*/.exec(field('redirectURL'))?.[0] ?? '/portal/portal.html';
      const screen = user.secret ? 'twoFactor' : user.mustRegister && 'twoFactorRegistration';
      const next = screen ? `${screen}?redirectURL=${encodeURIComponent(destination)}` : destination;
      const sid = randomUUID();
      sessions.set(sid, user);
      return go(next, { 'set-cookie': `sid=${sid}; Path=/; HttpOnly; SameSite=Lax` });
    }
    if (call === 'POST authenticate/checkSsoLogin') return go('singleSignOn');
    if (call === 'POST authenticate/performSsoLogin')
      return go(field('username').endsWith('@sso.test') ? 'authenticate/out' : 'loginfail/oidc');
    if (call === 'POST password/forgotten') return field('username') ? go('emailInfo') : send(400, 'no username');
    if (call === 'POST password/change') {
      const user = users[links.get(field('hash')) ?? ''];
      const [broken] = brokenPasswordRules(field('password'), field('password'), defaultPasswordPolicy);
      const reason = !user ? 4 : field('password') !== field('repeat') ? 5 : broken && (broken === 'weak' ? 1 : 9);
      if (!user || reason) return go(`forgottenChangeFailedInfo?reason=${reason}`);
      user.password = field('password');
      links.delete(field('hash'));
      return go('forgottenChangedInfo');
    }
    if (call === 'GET logout') sessions.delete(id);
    if (call === 'GET logout') return go('login', { 'clear-site-data': '"storage"' });
    if (call === 'GET portal.html') return session ? reply.end('<h1>The hub</h1>') : go('login');
    if (!session) return send(401, 'no session');
    if (call.endsWith('registration')) return send(200, { url: qrCode, totpSecret: newSecret });
    const at = (ago: number) => ({ secret: session.secret ?? newSecret, epoch: Math.floor(Date.now() / 1000) - ago });
    const isRight = [0, 30].some((ago) => body === `"${generateSync(at(ago))}"`) && session.usedCode !== body;
    if (isRight) session.usedCode = body;
    return send(200, isRight);
  });
}
