// @ts-check
/**
 * What can be asked for, out of the API's own description: a kind that is new there needs nothing
 * new here.
 */

/** The forms that an input may have. @typedef {"text" | "texts" | "ref" | "refs"} Form */
/** One member that is asked for; `schema` is its own, references and null taken off.
 * @typedef {{name: string, pointer: string, schema: any}} Field */
/** @typedef {{name: string, about: string, forms: Form[], fields: Field[]}} Kind */
/** `common`: the members that all kinds have; `mostTexts`, `mostRefs`: how many an input may hold.
 * @typedef {{kinds: Kind[], common: Field[], mostTexts: number, mostRefs: number, mostPairs: number}} Offer */

/** Members of every submission that have a place of their own in the form. */
const PLACED = new Set(["kind", "input", "params", "metadata"]);

/** @param {any} description  the answer of /openapi.json @returns {Offer} */
export function readOffer(description) {
  const find = (/** @type {any} */ schema) => plain(description, schema);
  const parts = find({ $ref: "#/components/schemas/Submission" }).allOf.map(find);
  const envelope = parts.find((/** @type {any} */ part) => part.properties)?.properties ?? {};
  const kinds = parts.find((/** @type {any} */ part) => part.oneOf)?.oneOf ?? [];
  const input = find(envelope.input).properties ?? {};
  return {
    kinds: kinds.map((/** @type {any} */ kind) => readKind(find(kind), find)),
    common: fieldsOf(envelope, "", find).filter(({ name }) => !PLACED.has(name)),
    mostTexts: find(input.texts).maxItems ?? Infinity,
    mostRefs: find(input.refs).maxItems ?? Infinity,
    mostPairs: find(envelope.metadata).maxProperties ?? Infinity,
  };
}

/** @param {any} schema @param {(schema: any) => any} find @returns {Kind} */
function readKind(schema, find) {
  const { kind, params, input } = schema.properties;
  const takes = find(params);
  const forms = find(input).oneOf.flatMap((/** @type {any} */ form) => form.required);
  return {
    name: kind.const,
    about: takes.description ?? "",
    forms,
    fields: fieldsOf(takes.properties ?? {}, "/params", find),
  };
}

/** @param {Record<string, any>} properties @param {string} base @param {(schema: any) => any} find @returns {Field[]} */
function fieldsOf(properties, base, find) {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    pointer: `${base}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`,
    schema: find(schema),
  }));
}

/** A schema without references and without its being nullable. @param {any} description @param {any} schema @returns {any} */
function plain(description, schema) {
  if (!schema) return {};
  const { $ref, anyOf, ...rest } = schema;
  if ($ref) return plain(description, { ...description.components.schemas[$ref.split("/").at(-1)], ...rest });
  const real = anyOf?.filter((/** @type {any} */ one) => one.type !== "null");
  return real?.length === 1 ? plain(description, { ...real[0], ...rest }) : schema;
}

/**
 * What was typed, as the schema has it. What cannot be read so is sent as it is: the API says what is
 * wrong with it, in its own words.
 * @param {any} schema @param {string} text @returns {unknown}
 */
export function valueOf(schema, text) {
  if (schema.enum) return schema.enum.find((/** @type {unknown} */ one) => String(one) === text) ?? text;
  if (schema.type === "integer" || schema.type === "number") return numberIn(text);
  if (schema.type === "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** @param {string} text */
const numberIn = (text) => (/^-?\d{1,15}(\.\d+)?$/.test(text.trim()) ? Number(text) : text);
