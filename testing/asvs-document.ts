import { readFileSync, writeFileSync } from 'node:fs';

/** A requirement of OWASP ASVS 5.0, and what shows that it is met, or why it is not. */
export type Requirement = {
  id: string;
  level: 1 | 2 | 3;
  requirement: string;
  state: 'met' | 'not applicable' | 'not met';
  /** Files and headings of documents, or tests by a part of their title. */
  evidence: (string | { file: string; says: string })[];
  why?: string;
};

const chapters: Record<string, string> = {
  V1: 'Encoding and sanitization',
  V2: 'Validation and business logic',
  V3: 'Web frontend',
  V4: 'API and web service',
  V5: 'File handling',
  V6: 'Authentication',
  V7: 'Session management',
  V8: 'Authorization',
  V9: 'Self-contained tokens',
  V10: 'OAuth and OpenID Connect',
  V11: 'Cryptography',
  V12: 'Secure communication',
  V13: 'Configuration',
  V14: 'Data protection',
  V15: 'Secure coding and architecture',
  V16: 'Security logging and error handling',
};

const source = new URL('../docs/asvs.json', import.meta.url);
export const asvsDocument = new URL('../docs/asvs.md', import.meta.url);

export const requirements = JSON.parse(readFileSync(source, 'utf8')) as Requirement[];

/** The document that is made from the list. */
export function printRequirements(): string {
  const count = (state: Requirement['state']) => requirements.filter((row) => row.state === state).length;
  return `# ASVS 5.0

The requirements of the OWASP Application Security Verification Standard 5.0 that concern a sign-in portal, in short words,
each with its evidence: ${count('met')} met, ${count('not applicable')} not applicable, ${count('not met')} not met.
Requirements about what the portal does not do (uploads, WebRTC, GraphQL, an authorization server) are left out.

The table is made from [asvs.json](asvs.json) by \`node testing/asvs-document.ts\`. A test fails when a named test, file or
heading no longer exists.

## Not met

${table(requirements.filter(({ state }) => state === 'not met'))}
${Object.entries(chapters)
  .map(([chapter, title]) => {
    const rows = requirements.filter(({ id, state }) => id.startsWith(`${chapter}.`) && state !== 'not met');
    return `## ${chapter} ${title}\n\n${table(rows)}`;
  })
  .join('\n')}`;
}

function table(rows: Requirement[]): string {
  const lines = rows.map(({ id, level, requirement, state, evidence, why }) => {
    const what = [state === 'not applicable' && 'Not applicable.', why].filter(Boolean).join(' ');
    return `| ${id} | ${level} | ${requirement} | ${[...evidence.map(written), what].filter(Boolean).join('<br>')} |\n`;
  });
  return `| | level | requirement | evidence |\n|---|---|---|---|\n${lines.join('')}`;
}

function written(evidence: Requirement['evidence'][number]): string {
  if (typeof evidence !== 'string') return `\`${evidence.file}\`: ${evidence.says}`;
  const [, inDocs] = /^docs\/(.+)$/.exec(evidence) ?? [];
  return inDocs ? `[${inDocs}](${inDocs})` : `\`${evidence}\``;
}

if (import.meta.main) writeFileSync(asvsDocument, printRequirements());
