/** What a text in JSON is made of, as far as names go: strings, and what begins and ends objects and lists. */
const pieces = /"(?:[^"\\]|\\.)*"|[{}[\],:]/gs;

/**
 * A name that an object in a JSON text has twice, or null. Readers differ in which of the two counts (RFC 8259 §4), so
 * such a text says one thing to one and another to the next. The text has been found to be JSON before.
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
