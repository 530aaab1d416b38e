import {
  accountRefusalReasons,
  auditEvents,
  changeRefusalReasons,
  refusalReasons,
  resetOutcomes,
} from './audit-events.ts';

/** `docs/events.md`, written by `node server/audit/events-page.ts > docs/events.md`. */
export function eventsPage(): string {
  return `# Events and reasons

\`./vestibule audit\` lists events, newest first; \`--json\` adds the steps of the decision. \`./vestibule explain REFERENCE\` shows the
events behind the reference on a failure page. No event contains a secret, nor the name typed for an unknown account, because people type
passwords into the wrong field. What anybody can repeat without end is recorded once a minute.

The reasons of a refused single sign-on are on [its page](single-sign-on.md#troubleshooting), those of a refused passkey on
[the account's](account.md#a-refused-passkey), each with what to do.

## Events

${list(auditEvents)}

## Reasons of a refused sign-in

The visitor sees \`/loginfail/default\`, except for \`network\` (\`/loginfail/ip\`) and \`throttled-address\` (how long to wait).

${list(refusalReasons)}

## Reasons of a refusal on the account page

${list(accountRefusalReasons)}

## What came of a request for a link

The visitor sees the same text in every case.

${list(resetOutcomes)}

## Reasons of a failed password change

The number is in \`/forgottenChangeFailedInfo?reason=N\` (1 shows on the form). The first in this order counts: the link (4, 3), the account
(2, 7, 8, 10), its networks, the entries (6, 5, 9, 1), former passwords (11).

${list(changeRefusalReasons)}
`;
}

function list(meanings: Record<string, string>): string {
  return Object.entries(meanings)
    .map(([name, meaning]) => `- \`${name}\`: ${meaning}`)
    .join('\n');
}

if (import.meta.main) process.stdout.write(eventsPage());
