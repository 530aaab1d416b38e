const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** A text as it is written in XML, between tags or in double quotes; white space stays what it is (XML §3.3.3). */
export function escapedXml(text: string): string {
  return text.replace(/[&<>"\t\n\r]/g, (character) => entities[character] ?? `&#${character.charCodeAt(0)};`);
}
