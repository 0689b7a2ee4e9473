// slug.ts - a name as it stands in addresses.
export const slugOf = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 64).replace(/^-+|-+$/g, "");
