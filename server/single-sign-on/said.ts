const longest = 120;

/** What somebody else said, for an operator to read: on one line, in quotes, and cut; `nothing` when it said nothing. */
export function said(text: string | null | undefined): string {
  if (text === null || text === undefined) return 'nothing';
  return JSON.stringify(text.length > longest ? `${text.slice(0, longest)}…` : text);
}
