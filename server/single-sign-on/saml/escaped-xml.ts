const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text escaped for XML, between tags or in double quotes; white space is preserved (XML §3.3.3). */
export function escapedXml(text: string): string {
  return text.replace(/[&<>"\t\n\r]/g, (character) => entities[character] ?? `&#${character.charCodeAt(0)};`);
}
