import type { Account } from './account.ts';
import { visitBackend } from './backend-visit.ts';
import { type Finding, isScreen, judgeRefusal, judgeTarget, notTried } from './finding.ts';
import type { Target } from './target.ts';

/** Away to a provider, at once or by an address of the backend's own. */
const isAway = (target: Target) => target.kind !== 'screen';

/** `POST authenticate/checkSsoLogin` and `POST authenticate/performSsoLogin` (specification §7, decisions §6). */
export async function* singleSignOnChecks(base: URL, { ssoEmail }: Account): AsyncGenerator<Finding> {
  const check = 'POST authenticate/checkSsoLogin';
  const checked = await visitBackend(base).send('checkSsoLogin', { form: { redirectURLSSO: base.pathname } });
  const isNext = (target: Target) => isScreen(target, 'singleSignOn') || isAway(target);
  yield { call: check, what: 'a new browser', ...judgeTarget(checked, base, 'singleSignOn, or to a provider', isNext) };

  const call = 'POST authenticate/performSsoLogin';
  const send = (username: string) =>
    visitBackend(base).send('performSsoLogin', { form: { username, redirectURL: base.pathname } });
  const unknown = await send('nobody@unknown.invalid');
  const isFailure = (target: Target) =>
    target.kind === 'screen' && target.screen.name === 'loginFail' && /^(?:oidc|saml)$/.test(target.screen.type);
  yield {
    call,
    what: 'an unknown domain',
    ...judgeTarget(unknown, base, 'loginfail/oidc or loginfail/saml', isFailure),
  };
  yield {
    call,
    what: 'a known domain',
    ...(ssoEmail === null
      ? notTried('needs --sso-email')
      : judgeTarget(await send(ssoEmail), base, 'the provider', isAway)),
  };
  const empty = await visitBackend(base).send('performSsoLogin', { form: {} });
  yield { call, what: 'no fields', ...judgeRefusal(empty, base) };
}
