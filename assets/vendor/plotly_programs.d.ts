// Compiled WebGL programs by the hash of their source; generated, so the type checker does not look inside.
export const programs: Record<string, (...values: unknown[]) => unknown>;
