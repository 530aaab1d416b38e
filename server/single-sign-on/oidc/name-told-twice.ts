/** The tokens of JSON that matter for names: strings, and the delimiters of objects and lists. */
const pieces = /"(?:[^"\\]|\\.)*"|[{}[\],:]/gs;

/**
 * A name that occurs twice in an object of a JSON text, or null. Readers differ in which of the two counts (RFC 8259
 * §4), so the text is ambiguous. It must be valid JSON.
 */
export function nameToldTwice(json: string): string | null {
  // The names of each object that is open; null for a list.
  const open: (Set<string> | null)[] = [];
  let text = '';
  for (const [piece] of json.matchAll(pieces)) {
    if (piece === '{' || piece === '[') open.push(piece === '{' ? new Set() : null);
    else if (piece === '}' || piece === ']') open.pop();
    else if (piece === ':') {
      const names = open.at(-1);
      const name = JSON.parse(text) as string;
      if (names?.has(name)) return name;
      names?.add(name);
    } else if (piece !== ',') text = piece;
  }
  return null;
}
