// packages.mjs - the packages of this folder, for tests that lie outside of it.
export const load = (name) => import(name);
