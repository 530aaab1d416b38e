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

/**
 * What another site's form posts is refused, sign-in included (decisions §6). A browser posts JSON for another site only
 * after the backend has agreed to it.
 */
export async function* crossSiteChecks(base: URL): AsyncGenerator<Finding> {
  for (const [call, form] of forms) {
    const answer = await visitBackend(base).send(call, { form, by: 'otherSite' });
    const isRefused = answer.status >= 400 && answer.status < 500;
    yield {
      call: `POST ${calls[call].path.slice(1)}`,
      what: 'posted by another site',
      ...judge(isRefused, '403', answer, base),
    };
  }
}
