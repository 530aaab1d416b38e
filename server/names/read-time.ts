const form = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(?:(Z)|([+-]\d\d)(?::?(\d\d))?)?)?$/i;

/**
 * A day, or a time in ISO 8601 or as databases print it; null for anything else, and for a day that does not exist: Date
 * takes 30 February for 1 March. What names no zone is meant in UTC or, with an empty `zone`, in that of this machine.
 */
export function readTime(text: string, zone: 'Z' | '' = 'Z'): Date | null {
  const [, day = '', time = '00:00', utc = zone, hours, minutes = '00'] = form.exec(text.trim()) ?? [];
  const start = new Date(`${day}T00:00Z`);
  const moment = new Date(`${day}T${time}${hours ? `${hours}:${minutes}` : utc}`);
  if (Number.isNaN(start.getTime()) || Number.isNaN(moment.getTime())) return null;
  return start.toISOString().startsWith(day) ? moment : null;
}
