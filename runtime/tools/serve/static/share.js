// Both texts in the fragment of a link: browsers do not send it to any server. Nothing in it is run.

const LONGEST = 1 << 20;

async function through(stream, bytes, longest) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > longest) {
      await reader.cancel();
      throw new Error("the link holds more than the playground takes");
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function base64(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function bytesOf(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
}

export async function fragmentOf(texts) {
  const bytes = new TextEncoder().encode(JSON.stringify(texts));
  return `#v1=${base64(await through(new CompressionStream("deflate-raw"), bytes, LONGEST))}`;
}

// {epl, script, start} of a fragment; null where it holds none. Throws where it is damaged.
export async function textsOf(fragment) {
  const match = /^#v1=([\w-]+)$/.exec(fragment);
  if (match === null) return null;
  const bytes = await through(new DecompressionStream("deflate-raw"), bytesOf(match[1]), LONGEST);
  const texts = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  if (texts === null || typeof texts !== "object") throw new Error("the link holds no texts");
  const text = (name) => (typeof texts[name] === "string" ? texts[name] : "");
  return { epl: text("epl"), script: text("script"), start: text("start") };
}
