import { type Call, calls } from '#contract/calls.ts';
import { visitBackend } from './backend-visit.ts';
import { type Finding, judge } from './finding.ts';

const forms: [Call, Record<string, string>][] = [
  ['performLogin', { username: 'nobody', password: 'nothing', redirectURL: '' }],
  ['checkSsoLogin', { redirectURLSSO: '' }],
  ['performSsoLogin', { username: 'nobody@unknown.invalid', redirectURL: '' }],
  ['passwordForgotten', { username: 'nobody@unknown.invalid' }],
  ['passwordChange', { password: 'x', repeat: 'x', hash: 'x' }],
];

/** What another site's page has a browser post is refused, sign-in included (decisions §6). */
export async function* crossSiteChecks(base: URL): AsyncGenerator<Finding> {
  const posts = forms.map(([call, form]) => [call, { form }] as const);
  for (const [call, body] of [...posts, ['twoFactorVerify', { json: '123456' }] as const]) {
    const answer = await visitBackend(base).send(call, { ...body, by: 'otherSite' });
    const isRefused = answer.status >= 400 && answer.status < 500;
    yield {
      call: `POST ${calls[call].path.slice(1)}`,
      what: 'posted by another site',
      ...judge(isRefused, '403', answer, base),
    };
  }
}
