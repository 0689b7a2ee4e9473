// nested.tsx - a field of a form that is an object of its own, with a table of its own: <ContractForm custom={{ guardrails: nested(IntegrationGuardrails) }}>.
import type { ComponentChildren } from "preact";
import { type Form, FieldRow, typedOf, valueOf } from "./form";

type Typed = string | boolean | string[];

function objectOf(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text || "{}") as Record<string, unknown> | null) ?? {};
  } catch {
    return {};
  }
}

function Nested({ form, text, set, without }: { form: Form; text: string; set: (text: string) => void; without: string[] }) {
  const now = objectOf(text);
  return (
    <div class="nested">
      {form.filter((f) => !f.unused && !without.includes(f.name)).map((f) => (
        <FieldRow key={f.name} field={f} value={typedOf(f, now[f.name])} set={(typed) => {
          const next = { ...now };
          const value = typed === "" ? null : valueOf(f, typed);
          if (value === undefined || value === null || (Array.isArray(value) && !value.length)) delete next[f.name];
          else next[f.name] = value;
          set(Object.keys(next).length ? JSON.stringify(next) : "");
        }} />
      ))}
    </div>
  );
}

/** The control for it; what is empty is left out, and so has its default. */
export const nested = (form: Form, without: string[] = []) => (value: Typed, set: (value: Typed) => void): ComponentChildren =>
  <Nested form={form} text={String(value)} set={set} without={without} />;
