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

\`./vestibule explain REFERENCE\` shows the events behind the reference on a failure page. \`./vestibule audit\` lists all, newest first;
\`--json\` adds the steps of the decision, which say more than the reason. No event contains a secret, nor the name typed for an unknown
account, because people type passwords into the wrong field.
The actor is \`os:alice\` for what alice of the operating system did by a command (also by sudo), and the username for what somebody
did on their own account page. What anybody can repeat without end is recorded once a minute.

See also the reasons of a refused [single sign-on](single-sign-on.md#troubleshooting) and of a refused [passkey](account.md#a-refused-passkey).

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

The visitor sees \`/forgottenChangeFailedInfo?reason=N\`, or the form again for 1.

${list(changeRefusalReasons)}
`;
}

function list(meanings: Record<string, string>): string {
  return Object.entries(meanings)
    .map(([name, meaning]) => `- \`${name}\`: ${meaning}`)
    .join('\n');
}

if (import.meta.main) process.stdout.write(eventsPage());
