// changes.tsx - what an entry of the audit log says: fields from and to, or whatever else is noted.
const show = (v: unknown): string => (v === null || v === undefined ? "nothing" : typeof v === "string" ? v : JSON.stringify(v));
const isChange = (v: unknown): v is { from?: unknown; to?: unknown } => typeof v === "object" && v !== null && ("from" in v || "to" in v);

export function Changes({ meta }: { meta: Record<string, unknown> }) {
  const inner = (meta["changes"] ?? meta) as Record<string, unknown>;
  const rows = Object.entries(inner);
  if (!rows.length) return null;
  return (
    <dl class="diff">
      {rows.map(([name, value]) => (
        <div key={name}><dt>{name}</dt>{isChange(value) ? <><dd><del><span class="hidden">from </span>{show(value.from)}</del></dd><dd><ins><span class="hidden">to </span>{show(value.to)}</ins></dd></> : <dd>{show(value)}</dd>}</div>
      ))}
    </dl>
  );
}
