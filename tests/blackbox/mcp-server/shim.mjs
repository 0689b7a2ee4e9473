// shim.mjs - has the conformance suite start on Node.js 20, which does not have the one function of the file system that
// it uses for its own sources.
import { register } from "node:module";

const fs = "data:text/javascript," + encodeURIComponent('export * from "node:fs"; export { default } from "node:fs"; export const globSync = () => [];');
register("data:text/javascript," + encodeURIComponent(`export const resolve = (name, context, next) => name === "fs" ? { url: ${JSON.stringify(fs)}, shortCircuit: true } : next(name, context);`));
