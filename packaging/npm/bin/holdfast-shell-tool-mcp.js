#!/usr/bin/env node
// Starts `holdfast mcp-server` from the programs of this package, with the patched shell that suits the machine if the
// package has one. Arguments are passed on; signals are too, and the launcher ends as the server ends.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const TRIPLES = { "linux-x64": "x86_64-unknown-linux-gnu" };
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

function parseOsRelease(text) {
  const fields = {};
  for (const line of text.split("\n")) {
    const match = /^([A-Z_]+)=(.*)$/.exec(line.trim());
    if (match) fields[match[1]] = match[2].replace(/^(["'])(.*)\1$/, "$2");
  }
  const ids = [fields.ID || "", ...(fields.ID_LIKE || "").split(/\s+/)].filter(Boolean);
  return { ids: ids.map((id) => id.toLowerCase()), version: fields.VERSION_ID || "" };
}

function readOsRelease() {
  try {
    return parseOsRelease(fs.readFileSync("/etc/os-release", "utf8"));
  } catch {
    return { ids: [], version: "" };
  }
}

// Variants are named ID-VERSION. One for the machine's own distribution and version comes first, then one for a
// distribution that the machine's is like, then another version of the same, and at last any.
function pickVariant(variants, os) {
  const sorted = [...variants].sort();
  const isVersion = (wanted) => os.version === wanted || os.version.startsWith(`${wanted}.`);
  const of = (id) => sorted.filter((variant) => variant.startsWith(`${id}-`));
  const exact = os.ids.flatMap((id) => of(id).filter((variant) => isVersion(variant.slice(id.length + 1))));
  return exact[0] || os.ids.flatMap(of)[0] || sorted[0];
}

function listVariants(directory) {
  try {
    return fs.readdirSync(directory).filter((name) => fs.existsSync(path.join(directory, name, "bash")));
  } catch {
    return [];
  }
}

function serverArguments(vendor, os) {
  const words = ["mcp-server", "--execve", path.join(vendor, "bin", "holdfast-execve-wrapper")];
  const shells = path.join(vendor, "bash");
  const variant = pickVariant(listVariants(shells), os);
  if (variant) words.push("--bash", path.join(shells, variant, "bash"));
  return words;
}

function fail(message) {
  process.stderr.write(`holdfast-shell-tool-mcp: ${message}\n`);
  process.exit(1);
}

function main() {
  const triple = TRIPLES[`${process.platform}-${process.arch}`];
  if (!triple) fail(`there are no programs for ${process.platform} on ${process.arch}`);
  const vendor = path.join(__dirname, "..", "vendor", triple);
  const words = process.argv.slice(2);
  const own = words.length === 1 && words[0] === "--version" ? [] : serverArguments(vendor, readOsRelease());
  const child = spawn(path.join(vendor, "bin", "holdfast"), [...own, ...words], { stdio: "inherit" });
  child.on("error", (error) => fail(error.message));
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

if (require.main === module) main();
module.exports = { parseOsRelease, pickVariant };
