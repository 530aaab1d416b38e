import { type AuditEventRow, listAuditEvents } from '#server/audit/audit-event.ts';
import { reasonInWords } from '#server/audit/audit-events.ts';
import type { Database } from '#server/database/database.ts';
import { type Html, html } from '../html.ts';

/** What support sees: for each reference that a page showed, the chain of decisions behind it, newest first. */
export async function explanations(sql: Database): Promise<Html> {
  const events = (await listAuditEvents(sql, { limit: 200 })).filter(({ reference }) => reference !== null);
  return html`<h1>What support sees</h1>
<p class="lede">Each failure page has a short reference. Whoever helps looks it up, here or by <code>vestibule explain</code>, and reads what the visitor is not told.</p>
${events.length === 0 && html`<p class="empty">No reference yet. Begin with a <a href="/#case-wrong">wrong password</a> or a <a href="/#case-network">wrong network</a>, then press “Contact support” beside the reference.</p>`}
<div class="told">${events.slice(0, 20).map((event, index) => explained(event, index === 0))}</div>`;
}

function explained(
  { at, event, reference, reason, username, address, connection, steps }: AuditEventRow,
  isOpen: boolean,
): Html {
  const facts = Object.entries({ Event: event, User: username, Connection: connection, Address: address });
  return html`<details class="mail" id="${reference ?? ''}"${isOpen && html` open`}><summary><h2>${reference ?? ''}</h2>
<span class="note"><b>${reason ? reasonInWords(event, reason) : event}</b> · <time datetime="${at.toISOString()}">${at.toTimeString().slice(0, 8)}</time></span></summary>
<dl class="known">${facts.filter(([, value]) => value !== null).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
${steps.length > 0 && html`<ol class="decisions">${steps.map(({ step, outcome }) => html`<li><b>${step}</b> ${outcome}</li>`)}</ol>`}</details>`;
}
