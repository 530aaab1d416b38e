/** When a session ends at the latest: after its lifetime, and no later than the provider that it came from says. */
export function sessionEnd(now: Date, lifetime: number, providerEndsAt: Date | null): Date {
  const end = now.getTime() + lifetime;
  return new Date(providerEndsAt ? Math.min(end, providerEndsAt.getTime()) : end);
}
