import type { AccountSection } from '#contract/account.ts';
import { languageOfTag } from '#contract/languages.ts';
import type { Section } from './section.ts';

/** Who is signed in, and what there is to look after. */
export const overview: Section = {
  name: 'overview',
  kept: [],
  actions: {},
  view: async (_deps, { session, account }) => ({
    name: 'overview',
    email: session.email,
    customers: account.customers.map(({ name }) => name),
    provider: account.provider,
    language: languageOfTag(session.language ?? ''),
    sections: account.isPart ? partOfSections : sections,
    appSince: account.appSince?.toISOString() ?? null,
    recoveryCodesLeft: account.recoveryCodesLeft,
    devices: account.rememberedDevices,
    sessions: account.sessions,
  }),
};

type Listed = Exclude<AccountSection, 'overview'>;

const sections: Listed[] = ['password', 'passkeys'];

/** What a session shows that speaks for a part of the account only (docs/decisions/0019). */
const partOfSections: Listed[] = [];
