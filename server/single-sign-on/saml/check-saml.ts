import { type Conversation, isProviderAddress } from '../../http/provider-fetch.ts';
import type { CheckStep } from '../oidc/check-oidc.ts';
import { said } from '../provider-answer.ts';
import type { SamlConnection, SamlSettings } from '../sso-connection.ts';
import { certificateState, publishedDifferences } from './provider-metadata.ts';

/** Checks a connection as far as possible without a sign-in. */
export async function checkSaml(
  { settings }: SamlConnection,
  { now, conversation }: { now: Date; conversation: Conversation },
): Promise<CheckStep[]> {
  const states = settings.certificates.map((pem) => certificateState(pem, now));
  return [
    ...states.map(({ ok, words }, index) => ({ step: `certificate ${index + 1}`, ok, words })),
    ...(states.some(({ counts }) => counts)
      ? []
      : [{ step: 'certificates', ok: false, words: 'none is valid now: nobody can sign in' }]),
    await signOnCheck(settings, conversation),
    logoutCheck(settings),
    ...(settings.metadataUrl === null ? [] : await metadataChecks(settings, now, conversation)),
  ];
}

/** Checks only that it answers: the page for a visit without a request says nothing about one with a request. */
async function signOnCheck({ signOnUrl }: SamlSettings, { look }: Conversation): Promise<CheckStep> {
  const step = 'sign-on address';
  if (!isProviderAddress(signOnUrl)) return { step, ok: false, words: `${said(signOnUrl)} is not https` };
  try {
    const { status } = await look(signOnUrl);
    return { step, ok: status < 500, words: `it answers with status ${status}` };
  } catch (error) {
    return { step, ok: false, words: `${said(signOnUrl)}: ${wordsOf(error)}` };
  }
}

/** Reported, not visited: visits without a request end sessions at some providers. */
function logoutCheck({ logout }: SamlSettings): CheckStep {
  const words = logout
    ? `${said(logout.url)} by ${logout.binding}`
    : 'the provider offers none that we support: people who sign out here stay signed in there';
  return { step: 'single logout', ok: true, words };
}

async function metadataChecks(settings: SamlSettings, now: Date, { read }: Conversation): Promise<CheckStep[]> {
  const step = 'metadata';
  const found = await publishedDifferences(settings, read, now);
  if (found.kind === 'refused') return [{ step, ok: false, words: found.problem }];
  if (found.differences.length === 0) return [{ step, ok: true, words: 'they match the settings' }];
  return found.differences.map((words) => ({ step, ok: false, words }));
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? said(error.message) : 'it cannot be read';
}
