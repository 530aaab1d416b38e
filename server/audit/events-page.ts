import {
  accountRefusalReasons,
  auditEvents,
  changeRefusalReasons,
  passkeyRefusalReasons,
  refusalReasons,
  resetOutcomes,
  ssoRefusalReasons,
} from './audit-events.ts';

/** `docs/events.md`, written by `node server/audit/events-page.ts > docs/events.md`. */
export function eventsPage(): string {
  return `# Events and reasons

\`./vestibule audit\` lists events, newest first; \`--json\` adds the steps of the decision. \`./vestibule explain REFERENCE\` shows the
events behind the reference on a failure page. No event contains a password, code, token or secret, nor the name typed for an
unknown account, because people type passwords into the wrong field. Of what anybody can repeat without end (refused requests,
throttled tries) one event a minute is kept.

## Events

${table('event', auditEvents)}

## Reasons of a refused sign-in

The visitor sees \`/loginfail/default\` for all of them, except for \`network\` (\`/loginfail/ip\`, after the correct password) and
\`throttled-address\` (a page that says how long to wait).

${table('reason', refusalReasons)}

## Reasons of a refused passkey

The visitor sees \`/loginfail/passkey\` with a reference, or one notice on the page where the passkey was asked for. [The account page](account.md#a-refused-passkey)
says what to do about each.

${table('reason', passkeyRefusalReasons)}

## Reasons of a refusal on the account page

A proof by passkey has one of the [reasons of a refused passkey](#reasons-of-a-refused-passkey) instead.

${table('reason', accountRefusalReasons)}

## Reasons of a refused single sign-on

The visitor sees \`/loginfail/oidc\` or \`/loginfail/saml\` with a reference, or \`/loginfail/ip\` for \`network\`. The provider's own message is in
the steps and nowhere else.

${table('reason', ssoRefusalReasons)}

## What came of a request for a link

The visitor sees the same text in every case.

${table('reason', resetOutcomes)}

## Reasons of a failed password change

The number is in \`/forgottenChangeFailedInfo?reason=N\` (1 shows on the form itself). If several apply, the first in this order counts:
the link (4, 3), the account (2, 7, 8, 10), its networks, the entries (6, 5, 9, 1), former passwords (11). Without an open link nothing
about the account is revealed.

${table('number', changeRefusalReasons)}
`;
}

function table(what: string, meanings: Record<string, string>): string {
  const rows = Object.entries(meanings).map(([name, meaning]) => `| \`${name}\` | ${meaning} |`);
  return [`| ${what} | meaning |`, '|---|---|', ...rows].join('\n');
}

if (import.meta.main) process.stdout.write(eventsPage());
